//! What a bare-metal program needs besides `main`, on any processor: an answer to panics, so that a run under an emulator ends with a message
//! and never hangs, and what boot ROMs look for.
use crate::platform;

/// Image definition of RP2350 boards (datasheet, section 5.9.1): a block with one item, an executable for the processor that this is
/// compiled for, in secure state on Arm.
#[cfg(feature = "image-def-rp235x")]
#[cfg_attr(target_arch = "arm", link_section = ".start_block")]
// Right behind the first instructions, at which the boot ROM starts the image: the linker script of riscv-rt puts this section there.
#[cfg_attr(target_arch = "riscv32", link_section = ".trap.vector")]
#[used]
static IMAGE_DEF: [u32; 5] = {
    const START: u32 = 0xffff_ded3;
    const EXECUTABLE: u32 = if cfg!(target_arch = "arm") { 0x1021_0142 } else { 0x1101_0142 };
    const LAST_ITEM_OF_ONE_WORD: u32 = 0x0000_01ff;
    const NO_OTHER_BLOCK: u32 = 0;
    const END: u32 = 0xab12_3579;
    [START, EXECUTABLE, LAST_ITEM_OF_ONE_WORD, NO_OTHER_BLOCK, END]
};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    platform::print(c"kiln-harness: panicked");
    platform::exit(101)
}
