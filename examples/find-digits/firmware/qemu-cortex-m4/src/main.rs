//! The find-digits example on an emulated Cortex-M4: it looks at the held-out scenes, line by line as a camera gives them, and prints the boxes it finds.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use cortex_m_semihosting::{debug, hprintln};
use find_digits::scenes::{agrees, frame, scenes, Tally};
use find_digits::{Finder, Found, LEAST_SCORE, SIZE};
use panic_semihosting as _;
use static_cell::ConstStaticCell;

// Const-initialised: it never stands on the stack.
static FINDER: ConstStaticCell<Finder> = ConstStaticCell::new(Finder::new());

#[entry]
fn main() -> ! {
    let finder = FINDER.take();
    let mut tally = Tally::default();
    let mut same = true;

    for (index, scene) in scenes().enumerate() {
        let picture = scene.draw();
        let mut lines = frame(&picture).filter_map(|line| finder.push_line(&line, LEAST_SCORE));
        let found = lines.next().unwrap_or_else(Found::new);
        // What is left of the frame.
        lines.for_each(drop);
        tally.count(scene, &found);
        same &= agrees(index, &found);
        if index < 4 {
            hprintln!("scene {}", index);
            for digit in &found {
                let pixels = |part: f32| part * SIZE as f32;
                let rect = digit.rect.clipped();
                hprintln!(
                    "  {} ({:.2}): {:4.1} to {:4.1}, {:4.1} to {:4.1}",
                    digit.class,
                    digit.score,
                    pixels(rect.left),
                    pixels(rect.right),
                    pixels(rect.top),
                    pixels(rect.bottom)
                );
            }
        }
    }

    hprintln!(
        "{} of {} digits found, {} boxes are wrong",
        tally.right,
        tally.digits,
        tally.found - tally.right
    );
    hprintln!("TensorFlow Lite Micro's outputs give {} boxes", if same { "the same" } else { "OTHER" });
    debug::exit(if same && tally.is_good() { debug::EXIT_SUCCESS } else { debug::EXIT_FAILURE });
    loop {
        cortex_m::asm::wfi();
    }
}
