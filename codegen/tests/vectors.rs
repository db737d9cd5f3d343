//! Which kernels the layers of real models get on processors with vectors. `KILN_CORPUS` names the models.
#![allow(clippy::unwrap_used)]

use kiln_codegen::select::Call;
use kiln_codegen::{compile, Options, Target};
use kiln_kernel_table::{Format, Isa, KernelId, Op};
use std::path::PathBuf;

/// Each with the fewest calls of kernels in vectors that its convolutions and products of matrices become.
const MLPERF: [(&str, usize); 5] = [
    ("mlperf_ad_int8", 10),
    ("mlperf_ic_int8", 10),
    ("mlperf_kws_int8", 10),
    ("mlperf_strww_int8", 9),
    ("mlperf_vww_int8", 28),
];

/// Whether it is a kernel of a layer of integers.
fn is_layer(kernel: &KernelId) -> bool {
    let layer = matches!(kernel.op(), Op::Conv | Op::Depthwise | Op::Dense);
    layer && kernel.formats().operands[0] == Format::I8
}

#[test]
fn layers_of_integers_are_computed_in_vectors() {
    let Some(corpus) = std::env::var_os("KILN_CORPUS").map(PathBuf::from) else {
        eprintln!("KILN_CORPUS is not set: no kernels were selected for real models");
        return;
    };
    for (name, least) in MLPERF {
        let bytes = std::fs::read(corpus.join("tflite").join(name).with_extension("tflite")).unwrap();
        let options = Options { target: Some(Target::Vectors), ..Options::default() };
        let compiled = compile(&bytes, name, &options).unwrap();
        let kernels: Vec<KernelId> = compiled.program.calls.iter().filter_map(Call::kernel).collect();
        let layers = kernels.iter().copied().filter(is_layer);
        let (vectors, others): (Vec<_>, Vec<_>) = layers.partition(|kernel| kernel.isa() == Isa::Simd);
        println!("{name}: {} of {} calls are layers in vectors", vectors.len(), kernels.len());
        assert!(others.is_empty(), "{name} calls {others:?}");
        assert!(vectors.len() >= least, "{name} calls {kernels:?}");
    }
}
