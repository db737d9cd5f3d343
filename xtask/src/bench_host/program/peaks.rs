//! What this core can do at most: multiply-accumulates in a nanosecond, of int8 and of float32, by a loop
//! that does nothing else.
//!
//! Its operands stay in registers. There are enough sums that none waits for the one before.
#![allow(unused_unsafe)]

use std::time::{Duration, Instant};

/// `peaks`, and each way that this core has: `KIND:INSTRUCTIONS:MACS_PER_NS`.
pub fn measured() -> String {
    let mut answer = String::from("peaks");
    for way in ways() {
        answer += &format!("\t{}:{}:{:.3}", way.kind, way.instructions, rate(&way));
    }
    answer
}

/// A way to multiply and add.
struct Way {
    /// `int8` or `float32`.
    kind: &'static str,
    instructions: &'static str,
    /// Multiply-accumulates of one turn of the loop.
    macs: u64,
    /// Takes so many turns.
    turns: fn(u64),
}

/// Multiply-accumulates in a nanosecond, the most of several attempts.
fn rate(way: &Way) -> f64 {
    const TURNS: u64 = 100_000;
    let started = Instant::now();
    let mut best = 0.0f64;
    while started.elapsed() < Duration::from_millis(100) {
        let attempt = Instant::now();
        (way.turns)(TURNS);
        let took = attempt.elapsed().as_nanos().max(1);
        best = best.max((way.macs * TURNS) as f64 / took as f64);
    }
    best
}

#[cfg(not(target_arch = "x86_64"))]
fn ways() -> Vec<Way> {
    Vec::new()
}

#[cfg(target_arch = "x86_64")]
use x86::ways;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Way;
    use crate::level::includes;
    use std::arch::x86_64::*;
    use std::hint::black_box;

    /// Sums side by side: each waits four or five cycles for its own last value, and two instructions begin
    /// in a cycle.
    const SUMS: usize = 12;

    /// A loop of one step on each of the sums, for a processor with those features.
    macro_rules! turns {
        ($name:ident, $features:literal, $zero:expr, |$sum:ident, $by:ident| $step:expr) => {
            fn $name(turns: u64) {
                #[target_feature(enable = $features)]
                unsafe fn run(turns: u64) {
                    // SAFETY: the function's own features are all that these instructions need.
                    unsafe {
                        let mut sums = [$zero; SUMS];
                        let $by = black_box($zero);
                        for _ in 0..turns {
                            for $sum in &mut sums {
                                *$sum = $step;
                            }
                        }
                        black_box(sums);
                    }
                }
                // SAFETY: `ways` lists the loop only where the processor has the features.
                unsafe { run(turns) }
            }
        };
    }

    turns!(fma_256, "avx,fma", _mm256_setzero_ps(), |s, by| _mm256_fmadd_ps(by, by, *s));
    // What is multiplied is the sum itself: otherwise the product would be computed once, before the loop.
    turns!(madd_256, "avx2", _mm256_setzero_si256(), |s, by| {
        _mm256_add_epi32(*s, _mm256_madd_epi16(*s, by))
    });
    turns!(maddubs_256, "avx2", _mm256_setzero_si256(), |s, by| {
        _mm256_add_epi32(*s, _mm256_madd_epi16(_mm256_maddubs_epi16(*s, by), by))
    });
    #[cfg(feature = "avx512")]
    turns!(dpbusd_256, "avxvnni", _mm256_setzero_si256(), |s, by| _mm256_dpbusd_avx_epi32(*s, by, by));
    #[cfg(feature = "avx512")]
    turns!(dpbusd_512, "avx512f,avx512vnni", _mm512_setzero_si512(), |s, by| _mm512_dpbusd_epi32(*s, by, by));
    #[cfg(feature = "avx512")]
    turns!(madd_512, "avx512f,avx512bw", _mm512_setzero_si512(), |s, by| {
        _mm512_add_epi32(*s, _mm512_madd_epi16(*s, by))
    });
    #[cfg(feature = "avx512")]
    turns!(fma_512, "avx512f", _mm512_setzero_ps(), |s, by| _mm512_fmadd_ps(by, by, *s));

    /// What this processor has, as far as it is asked for. `macs` counts products of elements, wherever they are added.
    pub(super) fn ways() -> Vec<Way> {
        let sums = SUMS as u64;
        let mut ways = Vec::new();
        let mut add = |level, has: bool, kind, instructions, lanes: u64, turns| {
            if has && includes(level) {
                ways.push(Way { kind, instructions, macs: lanes * sums, turns });
            }
        };
        let (avx2, fma) = (is_x86_feature_detected!("avx2"), is_x86_feature_detected!("fma"));
        add("avx2", avx2, "int8", "vpmaddwd ymm", 16, madd_256);
        add("avx2", avx2, "int8", "vpmaddubsw ymm", 32, maddubs_256);
        add("avx2", fma, "float32", "fma ymm", 8, fma_256);
        #[cfg(feature = "avx512")]
        {
            let avx512 = is_x86_feature_detected!("avx512f");
            add("avx-vnni", is_x86_feature_detected!("avxvnni"), "int8", "vpdpbusd ymm", 32, dpbusd_256);
            add("avx512", is_x86_feature_detected!("avx512bw"), "int8", "vpmaddwd zmm", 32, madd_512);
            add("avx512", is_x86_feature_detected!("avx512vnni"), "int8", "vpdpbusd zmm", 64, dpbusd_512);
            add("avx512", avx512, "float32", "fma zmm", 16, fma_512);
        }
        ways
    }
}
