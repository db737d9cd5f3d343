//! What a bare-metal program needs besides `main`: answers to panics, faults and unexpected interrupts, so that a run under an
//! emulator ends with a message and never hangs.
use crate::platform;
use cortex_m_rt::{exception, ExceptionFrame};

/// Second-stage boot loader, which the RP2040's ROM copies to RAM and runs.
#[cfg(feature = "boot2-w25q080")]
#[link_section = ".boot2"]
#[used]
static BOOT2: [u8; 256] = rp2040_boot2::BOOT_LOADER_W25Q080;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    platform::print(c"kiln-harness: panicked");
    platform::exit(101)
}

#[exception]
unsafe fn HardFault(_: &ExceptionFrame) -> ! {
    platform::print(c"kiln-harness: hard fault");
    platform::exit(102)
}

#[exception]
unsafe fn DefaultHandler(_: i16) -> ! {
    platform::print(c"kiln-harness: unexpected exception");
    platform::exit(103)
}
