//! What `select::CODE_BYTES` says of the kernels that `optimize = "size"` shares among layers is what they take in firmware for Cortex-M4.

use cargo_kiln::place::{build_firmware, for_board};
use kiln_boards::firmware::Mode;
use kiln_boards::image::Image;
use kiln_boards::Board;
use kiln_codegen::ir::Graph;
use kiln_codegen::select::CODE_BYTES;
use kiln_codegen::{compile_graph, Optimize, Options};
use kiln_kernel_table::KernelId;
use std::collections::BTreeMap;

/// The modules whose functions are a kernel's: of the runtime, all in `compact` of `arch::dsp` and of its blocks.
const MODULES: [(KernelId, &[&str]); 5] = [
    (KernelId::Conv2dI8DspCompact, &["conv"]),
    (KernelId::DenseI8DspCompact, &["dense"]),
    (KernelId::Depthwise2dI8DspCompact, &["depthwise"]),
    (KernelId::MeanPool2dI8DspCompact, &["pool"]),
    (KernelId::AddI8DspCompact, &["elementwise"]),
];

/// Two layers of each kind that agree in nothing, so that the compiler knows none of their sizes.
const IMAGES: &str = r#"graph "code_of_images" {
    input %x: i8[1,12,10,3] q(0.5 : -3)
    const %w0: i8[8,3,3,3] q(0.5 : 0) = splat 3
    %c0: i8[1,6,5,8] q(0.5 : -3) = conv2d(%x, %w0) {window = [3, 3] stride [2, 2] pad [1, 1, 1, 1], groups = 1, rescale = [1073741824 * 2^-8], clamp = -128..=127}
    const %w1: i8[8,3,3,1] q(0.5 : 0) = splat 5
    %d0: i8[1,6,5,8] q(0.5 : -128) = conv2d(%c0, %w1) {window = [3, 3] pad [1, 1, 1, 1], groups = 8, rescale = [1273741824 * 2^-5], clamp = -128..=127}
    const %w2: i8[13,1,1,8] q(0.5 : 0) = splat 7
    %c1: i8[1,6,5,13] q(0.5 : -128) = conv2d(%d0, %w2) {window = [1, 1], groups = 1, rescale = [1373741824 * 2^-9], clamp = -128..=127}
    const %w3: i8[13,4,5,1] q(0.5 : 0) = splat 4
    %d1: i8[1,6,5,13] q(0.5 : 4) = conv2d(%c1, %w3) {window = [4, 5] pad [1, 2, 2, 2], groups = 13, rescale = [1473741824 * 2^-7], clamp = -128..=127}
    %m0: i8[1,4,5,13] q(0.5 : 4) = avg_pool2d(%d1) {window = [3, 1], clamp = -128..=127}
    %m1: i8[1,5,2,13] q(0.5 : -128) = avg_pool2d(%c1) {window = [2, 2] stride [1, 3], clamp = -128..=127}
    %a0: i8[1,6,5,8] q(0.5 : 7) = add(%c0, %d0) {rescale = (left_shift 20, x 1073741824 * 2^0, y 1171557686 * 2^-4, out 1123384458 * 2^-17), clamp = -128..=127}
    %a1: i8[1,6,5,13] q(0.5 : -9) = add(%c1, %d1) {rescale = (left_shift 20, x 1173741824 * 2^-1, y 1271557686 * 2^0, out 1223384458 * 2^-19), clamp = -128..=127}
    return %m0, %m1, %a0, %a1
}"#;

/// Bytes of a function that all kernels share.
const MOST_SHARED: u64 = 64;

const MATRICES: &str = r#"graph "code_of_matrices" {
    input %x: i8[1,20] q(0.5 : -3)
    const %w0: i8[12,20] q(0.5 : 0) = splat 3
    %y0: i8[1,12] q(0.5 : -128) = dense(%x, %w0) {rescale = [1073741824 * 2^-5], clamp = -128..=127}
    const %w1: i8[7,12] q(0.5 : 0) = splat 5
    %y1: i8[1,7] q(0.5 : 2) = dense(%y0, %w1) {rescale = [1273741824 * 2^-6], clamp = -128..=127}
    return %y1
}"#;

#[test]
fn kernels_are_as_large_as_the_table_says() {
    let mut measured = kernels(IMAGES);
    measured.extend(kernels(MATRICES));
    let mut wrong = Vec::new();
    for (name, bytes) in CODE_BYTES {
        let own = measured.remove(&name).unwrap_or_else(|| panic!("no firmware has {name}"));
        println!("{name}: {own} bytes");
        // Not to the byte: the next compiler has other ones.
        if own.abs_diff(bytes) * 20 > bytes {
            wrong.push(format!("{name} takes {own} bytes, but CODE_BYTES says {bytes}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(measured.is_empty(), "not in CODE_BYTES: {measured:?}");
}

/// Bytes of each kernel in the firmware of a model. All code of the runtime's is that of one of them, but for what finds rows for all of them, which is counted with none.
fn kernels(graph: &str) -> BTreeMap<KernelId, usize> {
    let board = Board::find("qemu-cortex-m4").unwrap();
    let options = for_board(&Options { optimize: Optimize::Size, ..Options::default() }, board);
    let compiled = compile_graph(Graph::parse(graph).unwrap(), &options).unwrap();
    let firmware = build_firmware(&compiled, board, Mode::Bench).unwrap();
    let image = Image::read(&firmware.elf).unwrap();
    let mut kernels = BTreeMap::new();
    for symbol in image.symbols().iter().filter(|s| s.function && s.name.contains("kiln::")) {
        if symbol.name.starts_with("kiln::rows::") {
            assert!(symbol.size <= MOST_SHARED, "{} takes {} bytes", symbol.name, symbol.size);
            continue;
        }
        // Of the folder, and of its inner blocks.
        let of = |module: &&str| symbol.name.contains(&format!("::compact::{module}::"));
        let kernel = MODULES.iter().find(|(_, modules)| modules.iter().any(of));
        let (name, _) = kernel.unwrap_or_else(|| panic!("{} is no kernel's", symbol.name));
        *kernels.entry(*name).or_default() += symbol.size as usize;
    }
    kernels
}
