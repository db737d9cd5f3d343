//! The second core of a chip, which helps with models that were compiled with `cores = 2`.
use kiln::{Crew, Model};

#[cfg(target_arch = "riscv32")]
#[path = "second_core_clint.rs"]
mod chip;
#[cfg(target_arch = "arm")]
#[path = "second_core_sse200.rs"]
mod chip;

static CREW: Crew = chip::crew();

/// Starts the second core, and waits until it is there.
pub(crate) fn prepare() {
    // SAFETY: `main` calls this once, before it does anything else.
    unsafe { chip::start() };
    while CREW.helpers() == 0 {
        core::hint::spin_loop();
    }
}

/// Runs the model with the help of the second core.
pub(crate) fn invoke<M: Model>(model: &mut M) -> bool {
    model.invoke_on(&CREW)
}

/// The second core's stack. Only that core uses it.
#[repr(C, align(16))]
struct Stack([u32; 2048]);

static mut STACK: Stack = Stack([0; 2048]);

/// What the second core does.
extern "C" fn help() -> ! {
    loop {
        CREW.help(|| true);
    }
}
