//! The exports of the module. JavaScript writes what it says into a room of atomics, so that no exclusive borrow is ever open to it, and reads the answer from where it lies.

use crate::answer::Studio;
use std::sync::atomic::AtomicU8;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where JavaScript writes.
static ROOM: Mutex<Vec<AtomicU8>> = Mutex::new(Vec::new());
/// What questions are about.
static STUDIO: Mutex<Studio> = Mutex::new(Studio::new());
/// The answer to the last question.
static SAID: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Makes room for so many bytes, and returns where they are written.
#[no_mangle]
pub extern "C" fn studio_room(bytes: usize) -> *const AtomicU8 {
    let mut room = held(&ROOM);
    *room = (0..bytes).map(|_| AtomicU8::new(0)).collect();
    room.as_ptr()
}

/// Takes what was written as the model.
#[no_mangle]
pub extern "C" fn studio_model() {
    held(&STUDIO).model = written();
}

/// Takes what was written as a file with inputs; nothing stands for noise.
#[no_mangle]
pub extern "C" fn studio_inputs() {
    held(&STUDIO).inputs = written();
}

/// Takes what was written as a question, and returns how many bytes the answer has.
#[no_mangle]
pub extern "C" fn studio_ask() -> usize {
    let question = written();
    let said = held(&STUDIO).answer(&String::from_utf8_lossy(&question));
    let bytes = said.len();
    *held(&SAID) = said;
    bytes
}

/// Where the answer lies.
#[no_mangle]
pub extern "C" fn studio_said() -> *const u8 {
    held(&SAID).as_ptr()
}

/// What was written; the room is empty then.
fn written() -> Vec<u8> {
    std::mem::take(&mut *held(&ROOM)).into_iter().map(AtomicU8::into_inner).collect()
}

/// There is one thread, and what panicked will not be asked again.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
