//! How far the SIMD kernels of the runtime may go: `KILN_LEVEL`, where it is set. Nothing else in this
//! program knows of levels.

/// The level that is asked for.
pub fn asked_for() -> Option<String> {
    std::env::var("KILN_LEVEL").ok()
}

/// Limits the runtime to that level, before any model runs.
pub fn limit() -> Result<(), String> {
    match asked_for() {
        None => Ok(()),
        Some(name) => {
            let level = kiln::Level::of_name(&name).ok_or(format!("there is no instruction set {name}"))?;
            match kiln::limit_level(level) == level {
                true => Ok(()),
                false => Err(format!("this processor has not the instruction set {name}")),
            }
        }
    }
}

/// Levels of x86-64, in ascending order.
const LEVELS: [&str; 4] = ["portable", "avx2", "avx-vnni", "avx512"];

/// Whether instructions of a level may be used: without a limit, all that the processor has.
pub fn includes(level: &str) -> bool {
    let place = |name: &str| LEVELS.iter().position(|known| *known == name);
    asked_for().is_none_or(|most| place(level) <= place(&most))
}
