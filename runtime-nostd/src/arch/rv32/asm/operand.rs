//! Operands of windows, in assembly.

use core::cell::Cell;

/// The words of each two of two or four pixels: `a + 2¹⁶·b`, for `count` elements.
#[inline(always)]
pub(crate) fn interleave<const PIXELS: usize>(
    pixels: &[&[Cell<i8>]; PIXELS],
    count: usize,
    words: &[Cell<i32>],
) {
    let each = PIXELS / 2;
    if each == 0 || words.len() / each < count || pixels.iter().any(|pixel| pixel.len() < count) {
        return;
    }
    let to = words.as_ptr().cast_mut().cast();
    // SAFETY: there are `count` elements of each pixel, and as many words for each two of them: both have been compared.
    unsafe {
        match pixels.as_slice() {
            [a, b] => of_two(a.as_ptr().cast(), b.as_ptr().cast(), count, to),
            [a, b, c, d] => {
                of_four(
                    a.as_ptr().cast(),
                    b.as_ptr().cast(),
                    c.as_ptr().cast(),
                    d.as_ptr().cast(),
                    count,
                    to,
                );
            }
            _ => {}
        }
    }
}

/// The words of two pixels.
///
/// # Safety
/// There are `count` elements of each, and as many words.
#[inline(never)]
unsafe fn of_two(a: *const i8, b: *const i8, count: usize, to: *mut i32) {
    let (fours, end) = (a.wrapping_add(count & !3), a.wrapping_add(count));
    // SAFETY: as the caller says.
    unsafe {
        core::arch::asm!(
            "
            beq {a}, {fours}, 2f
            1:
            .irp at, 0, 1, 2, 3
            lb {t}, \\at({b})
            lb {u}, \\at({a})
            slli {t}, {t}, 16
            add {t}, {t}, {u}
            sw {t}, 4*\\at({to})
            .endr
            addi {a}, {a}, 4
            addi {b}, {b}, 4
            addi {to}, {to}, 16
            bne {a}, {fours}, 1b
            2:
            beq {a}, {end}, 4f
            3:
            lb {t}, 0({b})
            lb {u}, 0({a})
            slli {t}, {t}, 16
            add {t}, {t}, {u}
            sw {t}, 0({to})
            addi {a}, {a}, 1
            addi {b}, {b}, 1
            addi {to}, {to}, 4
            bne {a}, {end}, 3b
            4:
            ",
            a = inout(reg) a => _, b = inout(reg) b => _, to = inout(reg) to => _, fours = in(reg) fours, end = in(reg) end,
            t = out(reg) _, u = out(reg) _,
            options(nostack),
        );
    }
}

/// The words of four pixels.
///
/// # Safety
/// There are `count` elements of each, and twice as many words.
#[inline(never)]
unsafe fn of_four(a: *const i8, b: *const i8, c: *const i8, d: *const i8, count: usize, to: *mut i32) {
    let (fours, end) = (a.wrapping_add(count & !3), a.wrapping_add(count));
    // SAFETY: as the caller says.
    unsafe {
        core::arch::asm!(
            "
            beq {a}, {fours}, 2f
            1:
            .irp at, 0, 1, 2, 3
            lb {t}, \\at({b})
            lb {u}, \\at({a})
            lb {v}, \\at({d})
            lb {z}, \\at({c})
            slli {t}, {t}, 16
            slli {v}, {v}, 16
            add {t}, {t}, {u}
            add {v}, {v}, {z}
            sw {t}, 8*\\at({to})
            sw {v}, 4+8*\\at({to})
            .endr
            addi {a}, {a}, 4
            addi {b}, {b}, 4
            addi {c}, {c}, 4
            addi {d}, {d}, 4
            addi {to}, {to}, 32
            bne {a}, {fours}, 1b
            2:
            beq {a}, {end}, 4f
            3:
            lb {t}, 0({b})
            lb {u}, 0({a})
            lb {v}, 0({d})
            lb {z}, 0({c})
            slli {t}, {t}, 16
            slli {v}, {v}, 16
            add {t}, {t}, {u}
            add {v}, {v}, {z}
            sw {t}, 0({to})
            sw {v}, 4({to})
            addi {a}, {a}, 1
            addi {b}, {b}, 1
            addi {c}, {c}, 1
            addi {d}, {d}, 1
            addi {to}, {to}, 8
            bne {a}, {end}, 3b
            4:
            ",
            a = inout(reg) a => _, b = inout(reg) b => _, c = inout(reg) c => _, d = inout(reg) d => _,
            to = inout(reg) to => _, fours = in(reg) fours, end = in(reg) end,
            t = out(reg) _, u = out(reg) _, v = out(reg) _, z = out(reg) _,
            options(nostack),
        );
    }
}
