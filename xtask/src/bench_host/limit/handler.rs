//! Answers for a processor with AVX2 and FMA but nothing newer, where a library of the same process asks with an instruction that
//! no processor has: `limit/mod.rs` puts it in the place of each `cpuid`. For Linux on x86-64; `peers.py` loads it.
use std::arch::x86_64::{__cpuid_count, CpuidResult};
use std::ffi::{c_int, c_void};
use std::{mem, ptr};

/// `ud2`, as long as `cpuid`.
const UNDEFINED: [u8; 2] = [0x0f, 0x0b];

/// Installs the handler. Returns 0 where that worked.
#[no_mangle]
pub extern "C" fn kiln_answer_as_avx2() -> c_int {
    // SAFETY: a handler that needs nothing but what it is given; all zero is an action to begin with.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = answer as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as usize;
        action.sa_flags = libc::SA_SIGINFO;
        libc::sigaction(libc::SIGILL, &action, ptr::null_mut())
    }
}

extern "C" fn answer(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system gives a context, whose instruction pointer is that of an instruction.
    unsafe {
        let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        if *(registers[libc::REG_RIP as usize] as *const [u8; 2]) != UNDEFINED {
            libc::abort();
        }
        let (leaf, part) =
            (registers[libc::REG_RAX as usize] as u32, registers[libc::REG_RCX as usize] as u32);
        let said = limited(leaf, part, __cpuid_count(leaf, part));
        registers[libc::REG_RAX as usize] = said.eax.into();
        registers[libc::REG_RBX as usize] = said.ebx.into();
        registers[libc::REG_RCX as usize] = said.ecx.into();
        registers[libc::REG_RDX as usize] = said.edx.into();
        registers[libc::REG_RIP as usize] += UNDEFINED.len() as i64;
    }
}

/// An answer without what came after AVX2 and FMA.
fn limited(leaf: u32, part: u32, mut said: CpuidResult) -> CpuidResult {
    let without = |bits: &[u32]| bits.iter().fold(u32::MAX, |mask, bit| mask & !(1 << bit));
    match (leaf, part) {
        (7, 0) => {
            // AVX-512: F, DQ, IFMA, PF, ER, CD, BW, VL.
            said.ebx &= without(&[16, 17, 21, 26, 27, 28, 30, 31]);
            // VBMI, VBMI2, GFNI, VNNI, BITALG, VPOPCNTDQ.
            said.ecx &= without(&[1, 6, 8, 11, 12, 14]);
            // 4VNNIW, 4FMAPS, VP2INTERSECT, AMX-BF16, FP16, AMX-TILE, AMX-INT8.
            said.edx &= without(&[2, 3, 8, 22, 23, 24, 25]);
        }
        (7, 1) => {
            // AVX-VNNI, BF16, AMX-FP16, AVX-IFMA.
            said.eax &= without(&[4, 5, 21, 23]);
            // AVX-VNNI-INT8, AVX-NE-CONVERT, AVX-VNNI-INT16, AVX10.
            said.edx &= without(&[4, 5, 10, 19]);
        }
        _ => {}
    }
    said
}
