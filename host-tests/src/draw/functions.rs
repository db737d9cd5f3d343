//! Operators that work element by element, or along an axis.

use super::{attributes, row, Draw, Format, Kind, Row, Value};
use kiln_codegen::front::tflite::testing::{Element, Options as Attributes, Table};

macro_rules! rows {
    ($( $code:literal => $recipe:expr; )+) => { &[ $( row($code, |d, f| $recipe(d, f, $code)) ),+ ] };
}

pub(super) const ROWS: &[Row] = rows! {
    0 => |d, f, code| arithmetic(d, f, code, 11);
    41 => |d, f, code| arithmetic(d, f, code, 28);
    18 => |d, f, code| arithmetic(d, f, code, 21);
    42 => |d, f, code| arithmetic(d, f, code, 29);
    99 => pair;
    78 => pair;
    156 => pair;
    90 => rounded_pair;
    95 => rounded_pair;
    55 => extreme;
    57 => extreme;
    106 => sum_of_several;
    54 => prelu;
    8 => rounded;
    104 => rounded;
    116 => rounded;
    158 => rounded;
    47 => function;
    59 => function;
    66 => function;
    73 => positive;
    75 => positive;
    76 => positive;
    92 => function;
    101 => function;
    108 => function;
    111 => function;
    117 => function;
    150 => gelu;
    19 => function;
    20 => function;
    21 => function;
    152 => function;
    98 => leaky_relu;
    14 => |d, f, code| fixed_scale(d, f, code, Attributes::none(), 256.0, -128);
    28 => |d, f, code| fixed_scale(d, f, code, Attributes::none(), 128.0, 0);
    25 => softmax;
    50 => |d, f, code| fixed_scale(d, f, code, Attributes::none(), 16.0, 127);
    11 => |d, f, code| fixed_scale(d, f, code, Attributes::none(), 128.0, 0);
    58 => comparison;
    61 => comparison;
    62 => comparison;
    63 => comparison;
    71 => comparison;
    72 => comparison;
    84 => logical;
    86 => logical;
    87 => not;
    64 => select;
    123 => select;
    53 => cast;
    6 => dequantize;
    114 => quantize;
    93 => zeros_like;
    40 => mean;
    74 => mean;
    81 => reduce;
    82 => reduce;
    89 => reduce;
    91 => reduce;
    140 => reduce;
    56 => arg;
    79 => arg;
    128 => cumsum;
};

/// A fused activation, of those that are known, or mostly none.
fn activation(d: &mut Draw) -> i8 {
    if d.one_in(3) {
        d.pick(&[1, 2, 3])
    } else {
        0
    }
}

/// A shape that broadcasts with `dims`.
fn broadcastable(d: &mut Draw, dims: &[i32]) -> Vec<i32> {
    if d.one_in(2) {
        return dims.to_vec();
    }
    let first = d.below(dims.len() + 1);
    dims[first..].iter().map(|&dim| if d.one_in(3) { 1 } else { dim }).collect()
}

/// Two operands that broadcast, in either order.
fn two(d: &mut Draw, format: Format, alike: bool, exact: bool) -> [Value; 2] {
    let x = if exact { d.exact(format, 0..=5) } else { d.x(format, 0..=5) };
    let dims = broadcastable(d, &x.dims);
    let kind = if alike { x.kind } else { d.kind(format) };
    let mut y = d.other(kind, &dims);
    if exact && !y.is_exact {
        y = d.constant(kind, &dims);
    }
    if d.one_in(3) {
        [y, x]
    } else {
        [x, y]
    }
}

fn arithmetic(d: &mut Draw, format: Format, code: i32, options: u8) -> Option<()> {
    let [x, y] = two(d, format, false, false);
    let fused = activation(d);
    let kind = d.kind(format);
    d.emit(code, attributes(options, Table::new().with(0, fused)), &[x.tensor, y.tensor], kind)
}

fn pair(d: &mut Draw, format: Format, code: i32) -> Option<()> {
    let [x, y] = two(d, format, false, false);
    let kind = d.kind(format);
    d.emit(code, Attributes::none(), &[x.tensor, y.tensor], kind)
}

/// Rounds: next to a whole number anything may come of a float.
fn rounded_pair(d: &mut Draw, format: Format, code: i32) -> Option<()> {
    let [x, y] = two(d, format, false, true);
    let kind = d.kind(format);
    d.emit(code, Attributes::none(), &[x.tensor, y.tensor], kind)
}

/// One of the two.
fn extreme(d: &mut Draw, format: Format, code: i32) -> Option<()> {
    let [x, y] = two(d, format, true, false);
    d.emit_moved(code, Attributes::none(), &[&x, &y], &[], x.kind)
}

fn sum_of_several(d: &mut Draw, format: Format, code: i32) -> Option<()> {
    let x = d.x(format, 0..=5);
    let mut operands = vec![x.tensor];
    for _ in 0..d.below(3) {
        operands.push(d.other(x.kind, &x.dims).tensor);
    }
    d.emit(code, Attributes::none(), &operands, x.kind)
}

fn prelu(d: &mut Draw, format: Format, code: i32) -> Option<()> {
    let x = d.x(format, 1..=4);
    let dims = broadcastable(d, &x.dims);
    let slopes = d.kind(format);
    let slopes = d.constant(slopes, &dims);
    let kind = d.kind(format);
    d.emit(code, Attributes::none(), &[x.tensor, slopes.tensor], kind)
}

fn function(d: &mut Draw, format: Format, code: i32) -> Option<()> {
    let x = d.x(format, 0..=5);
    let kind = d.kind(format);
    d.emit(code, Attributes::none(), &[x.tensor], kind)
}

/// Defined for positive numbers: quantised operands have none below zero.
fn positive(d: &mut Draw, format: Format, code: i32) -> Option<()> {
    let mut x = d.x(format, 0..=5);
    if let (Some((scale, _)), Element::Int8 | Element::Uint8) = (x.kind.quant, x.kind.element) {
        let least = if x.kind.element == Element::Int8 { -128 } else { 0 };
        let dims = x.dims.clone();
        x = d.input(Kind::quantized(x.kind.element, scale, least), &dims);
    }
    let kind = d.kind(format);
    d.emit(code, Attributes::none(), &[x.tensor], kind)
}

fn rounded(d: &mut Draw, format: Format, code: i32) -> Option<()> {
    let x = d.exact(format, 0..=5);
    let kind = d.kind(format);
    d.emit_moved(code, Attributes::none(), &[&x], &[], kind)
}

fn gelu(d: &mut Draw, format: Format, code: i32) -> Option<()> {
    let x = d.x(format, 0..=5);
    let (kind, approximate) = (d.kind(format), d.one_in(2));
    d.emit(code, attributes(116, Table::new().with(0, approximate)), &[x.tensor], kind)
}

fn leaky_relu(d: &mut Draw, format: Format, code: i32) -> Option<()> {
    let x = d.x(format, 0..=5);
    let (kind, alpha) = (d.kind(format), d.random.unit());
    d.emit(code, Attributes::leaky_relu(alpha), &[x.tensor], kind)
}

/// The result's quantisation is given: so many steps for 1, and which stored value of int8 is 0.
fn fixed_scale(
    d: &mut Draw,
    format: Format,
    code: i32,
    options: Attributes,
    steps: f32,
    zero: i64,
) -> Option<()> {
    let x = d.x(format, 1..=4);
    let element = format.element();
    let kind = match element {
        Element::Int8 => Kind::quantized(element, 1.0 / steps, zero),
        Element::Uint8 => Kind::quantized(element, 1.0 / steps, zero + 128),
        Element::Int16 => Kind::quantized(element, 1.0 / 32768.0, 0),
        _ => Kind::plain(element),
    };
    d.emit(code, options, &[x.tensor], kind)
}

fn softmax(d: &mut Draw, format: Format, code: i32) -> Option<()> {
    let beta = d.pick(&[1.0f32, 0.5, 2.0]);
    fixed_scale(d, format, code, Attributes::softmax(beta), 256.0, -128)
}

fn comparison(d: &mut Draw, format: Format, code: i32) -> Option<()> {
    let alike = d.one_in(2);
    let [x, y] = two(d, format, alike, true);
    d.emit(code, Attributes::none(), &[x.tensor, y.tensor], Kind::plain(Element::Bool))
}

fn logical(d: &mut Draw, format: Format, code: i32) -> Option<()> {
    let [x, y] = two(d, format, true, false);
    d.emit(code, Attributes::none(), &[x.tensor, y.tensor], x.kind)
}

fn not(d: &mut Draw, format: Format, code: i32) -> Option<()> {
    let x = d.x(format, 0..=5);
    d.emit(code, Attributes::none(), &[x.tensor], x.kind)
}

fn select(d: &mut Draw, format: Format, code: i32) -> Option<()> {
    let [x, y] = two(d, format, true, false);
    let wider = if x.dims.len() < y.dims.len() { &y.dims } else { &x.dims };
    let dims = if code == 64 { wider.clone() } else { broadcastable(d, wider) };
    let condition = d.other(Kind::plain(Element::Bool), &dims);
    d.emit_moved(code, Attributes::none(), &[&condition, &x, &y], &[], x.kind)
}

fn cast(d: &mut Draw, format: Format, code: i32) -> Option<()> {
    let x = d.exact(format, 0..=5);
    let all = [
        Element::Float32,
        Element::Int8,
        Element::Int16,
        Element::Int32,
        Element::Int64,
        Element::Bool,
        Element::Uint8,
    ];
    let kind = Kind::plain(d.pick(&all));
    d.emit_moved(code, Attributes::none(), &[&x], &[], kind)
}

fn dequantize(d: &mut Draw, format: Format, code: i32) -> Option<()> {
    let x = d.x(format, 0..=5);
    d.emit(code, Attributes::none(), &[x.tensor], Kind::plain(Element::Float32))
}

/// From floats, or to another scale.
fn quantize(d: &mut Draw, format: Format, code: i32) -> Option<()> {
    let from = d.pick(&[Format::Float32, Format::Float32, format, Format::Int8, Format::Int16]);
    let x = d.exact(from, 0..=5);
    let kind = d.kind(format);
    d.emit(code, Attributes::none(), &[x.tensor], kind)
}

fn zeros_like(d: &mut Draw, format: Format, code: i32) -> Option<()> {
    let x = d.x(format, 0..=5);
    d.emit_moved(code, Attributes::none(), &[&x], &[], x.kind)
}

/// Some axes, each of which may count from the end.
fn axes(d: &mut Draw, rank: usize) -> i32 {
    let mut axes: Vec<i32> = (0..rank as i32).filter(|_| d.one_in(2)).collect();
    if axes.is_empty() {
        axes.push(d.below(rank) as i32);
    }
    let axes: Vec<i32> =
        axes.into_iter().map(|axis| if d.one_in(4) { axis - rank as i32 } else { axis }).collect();
    d.ints(&axes)
}

fn mean(d: &mut Draw, format: Format, code: i32) -> Option<()> {
    let x = d.x(format, 1..=4);
    let axes = axes(d, x.dims.len());
    let kind = if d.one_in(2) { x.kind } else { d.kind(format) };
    let keep = d.one_in(2);
    d.emit(code, Attributes::mean(keep), &[x.tensor, axes], kind)
}

fn reduce(d: &mut Draw, format: Format, code: i32) -> Option<()> {
    let x = d.x(format, 1..=4);
    let axes = axes(d, x.dims.len());
    let (kind, keep) = (if code == 81 { d.kind(format) } else { x.kind }, d.one_in(2));
    d.emit(code, Attributes::mean(keep), &[x.tensor, axes], kind)?;
    if code == 82 || code == 89 {
        d.keep_exact(&[&x]);
    }
    Some(())
}

fn arg(d: &mut Draw, format: Format, code: i32) -> Option<()> {
    let x = d.exact(format, 1..=4);
    let axis = d.below(x.dims.len()) as i32;
    let axis = d.ints(&[axis]);
    let element = d.pick(&[Element::Int32, Element::Int64]);
    d.emit(code, Attributes::none(), &[x.tensor, axis], Kind::plain(element))
}

fn cumsum(d: &mut Draw, format: Format, code: i32) -> Option<()> {
    let x = d.x(format, 1..=4);
    let axis = d.below(x.dims.len()) as i32;
    let axis = d.ints(&[axis]);
    let table = Table::new().with(0, d.one_in(2)).with(1, d.one_in(2));
    d.emit(code, attributes(102, table), &[x.tensor, axis], x.kind)
}
