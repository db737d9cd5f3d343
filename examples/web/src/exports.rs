//! The exports of the module. All that JavaScript reads and writes is in statics of atomics, so that no exclusive borrow is ever open to it.

use crate::{classify, ink_of, Seen, PIXELS, SIDE};
use core::sync::atomic::{AtomicI8, AtomicU32, AtomicU8, Ordering::Relaxed};

static DRAWING: [AtomicU8; SIDE * SIDE] = [const { AtomicU8::new(0) }; SIDE * SIDE];
static INK: [AtomicU8; PIXELS] = [const { AtomicU8::new(0) }; PIXELS];
static STORED: [AtomicI8; 10] = [const { AtomicI8::new(0) }; 10];
static PROBABILITIES: [AtomicU32; 10] = [const { AtomicU32::new(0) }; 10];

/// Width and height of a drawing.
#[no_mangle]
pub extern "C" fn digits_side() -> usize {
    SIDE
}

/// Where a drawing is written: the opacity of each point, a byte each, row by row.
#[no_mangle]
pub extern "C" fn digits_drawing() -> *const AtomicU8 {
    DRAWING.as_ptr()
}

/// Where an image is written, and where that of a drawing is read: the ink of each pixel, 0 to 16, a byte each.
#[no_mangle]
pub extern "C" fn digits_ink() -> *const AtomicU8 {
    INK.as_ptr()
}

/// Where the network's outputs are read: a signed byte for each digit.
#[no_mangle]
pub extern "C" fn digits_stored() -> *const AtomicI8 {
    STORED.as_ptr()
}

/// Where probabilities are read: a float for each digit.
#[no_mangle]
pub extern "C" fn digits_probabilities() -> *const AtomicU32 {
    PROBABILITIES.as_ptr()
}

/// Classifies the image: the digit that it is most likely.
#[no_mangle]
pub extern "C" fn digits_classify() -> i32 {
    tell(classify(&core::array::from_fn(|i| INK[i].load(Relaxed))))
}

/// Makes the image of the drawing, and classifies it; -1 where nothing is drawn.
#[no_mangle]
pub extern "C" fn digits_see() -> i32 {
    let Some(ink) = ink_of(&core::array::from_fn(|i| DRAWING[i].load(Relaxed))) else { return -1 };
    for (to, ink) in INK.iter().zip(ink) {
        to.store(ink, Relaxed);
    }
    tell(classify(&ink))
}

/// Writes to where they are read what the network says.
fn tell(seen: Seen) -> i32 {
    for (to, stored) in STORED.iter().zip(seen.stored) {
        to.store(stored, Relaxed);
    }
    for (to, probability) in PROBABILITIES.iter().zip(seen.probabilities()) {
        to.store(probability.to_bits(), Relaxed);
    }
    // There are ten.
    seen.digit as i32
}
