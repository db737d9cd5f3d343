//! Models of a hundred operators compile in less than a second in a release build, whatever their scales: each operator's arithmetic is fitted with a bound on the work.
//!
//! Here that is held in a debug build, by the time of a processor that compiling takes, with room for its checks.

use kiln_codegen::front::tflite::testing::{op, Element, ModelBuilder, Options as Attributes, Tensor};
use kiln_codegen::{compile, Error, Options, Target};
use kiln_host_tests::cpu_time;
use kiln_host_tests::draw::Random;
use std::time::Duration;

const OPERATORS: usize = 100;

/// A debug build takes twice as long as a release build.
const LIMIT: Duration = Duration::from_secs(2);

/// What a model is made of.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Add,
    Sub,
    Mul,
    Mean,
    Pool,
    Conv,
    Depthwise,
    Dense,
    Leaky,
    All,
}

/// How many times larger or smaller than usual scales may be: next to the same, up to what TFLite's fixed point holds.
const SPANS: [f32; 4] = [1.1, 2.0, 30.0, 300.0];

#[test]
fn any_scales() {
    use Kind::*;
    let (mut compiled, mut slowest) = (0, (Duration::ZERO, String::new()));
    for (number, kind) in
        [Add, Sub, Mul, Mean, Pool, Conv, Depthwise, Dense, Leaky, All].into_iter().enumerate()
    {
        for (more, span) in SPANS.into_iter().enumerate() {
            let file = model(kind, span, &mut Random::new((10 * number + more) as u64));
            for target in Target::all() {
                let options = Options { target: Some(target), ..Options::default() };
                let before = cpu_time();
                let result = compile(&file, "scales", &options);
                let took = cpu_time().saturating_sub(before);
                match result {
                    Ok(_) => compiled += 1,
                    // A factor is too large, or between scales that have to be one.
                    Err(error @ (Error::Unsupported(_) | Error::Malformed(_))) => {
                        println!("{kind:?} with scales up to {span} apart: {error}");
                    }
                    Err(error) => panic!("{kind:?}: {error}"),
                }
                let what = format!("{kind:?} with scales up to {span} apart for {target:?}");
                assert!(took < LIMIT, "{what} took {took:?}");
                slowest = slowest.max((took, what));
            }
        }
    }
    println!("{} took {:?}; {compiled} were compiled", slowest.1, slowest.0);
    assert!(compiled > 100, "{compiled} were compiled");
}

fn model(kind: Kind, span: f32, random: &mut Random) -> Vec<u8> {
    const CHANNELS: i32 = 16;
    let mut model = ModelBuilder::new();
    let dims = [1, 4, 4, CHANNELS];
    let kinds = [Kind::Add, Kind::Sub, Kind::Mul, Kind::Pool, Kind::Conv, Kind::Depthwise, Kind::Leaky];
    let mut last = model.input("x", image(&dims, span, random));
    let mut other = model.input("y", image(&dims, span, random));
    let mut outputs = Vec::new();
    for number in 0..OPERATORS {
        let name = format!("t{number}");
        let kind = match kind {
            Kind::All => kinds[random.below(kinds.len())],
            kind => kind,
        };
        let rows = match kind {
            Kind::Mean => [1, 1, 1, CHANNELS],
            _ => dims,
        };
        let result = match kind {
            Kind::Dense => Tensor::new(Element::Int8, &[1, CHANNELS]),
            _ => Tensor::new(Element::Int8, &rows),
        };
        let result = model.value(&name, result.quantized(scale(span, random), zero(random)));
        let mut weights = |shape: &[i32], axis: i32| {
            let count: i32 = shape.iter().product();
            let data: Vec<u8> = (0..count).map(|_| random.next() as u8).collect();
            let scales: Vec<f32> = (0..CHANNELS).map(|_| scale(span, random) * 0.01).collect();
            let tensor = Tensor::new(Element::Int8, shape);
            model.constant("w", tensor.per_channel(&scales, &[0; CHANNELS as usize], axis), &data)
        };
        match kind {
            Kind::Add => model.operator(op::ADD, Attributes::add(0), &[last, other], &[result]),
            Kind::Sub => model.operator(op::SUB, Attributes::none(), &[last, other], &[result]),
            Kind::Mul => model.operator(op::MUL, Attributes::mul(0), &[last, other], &[result]),
            Kind::Mean => {
                let axes = model.ints("axes", &[1, 2]);
                model.operator(op::MEAN, Attributes::mean(true), &[last, axes], &[result]);
            }
            Kind::Pool => {
                model.operator(op::AVERAGE_POOL_2D, Attributes::pool(true, 1, 3), &[last], &[result]);
            }
            Kind::Conv => {
                let w = weights(&[CHANNELS, 3, 3, CHANNELS], 0);
                model.operator(op::CONV_2D, Attributes::conv(true, [1, 1], 0), &[last, w, -1], &[result]);
            }
            Kind::Depthwise => {
                let w = weights(&[1, 3, 3, CHANNELS], 3);
                let attributes = Attributes::depthwise(true, [1, 1], 1, 0);
                model.operator(op::DEPTHWISE_CONV_2D, attributes, &[last, w, -1], &[result]);
            }
            Kind::Dense => {
                let inputs = if number == 0 { 4 * 4 * CHANNELS } else { CHANNELS };
                let w = weights(&[CHANNELS, inputs], 0);
                let attributes = Attributes::fully_connected(0);
                model.operator(op::FULLY_CONNECTED, attributes, &[last, w, -1], &[result]);
            }
            Kind::Leaky => {
                model.operator(op::LEAKY_RELU, Attributes::leaky_relu(0.3), &[last], &[result]);
            }
            Kind::All => {}
        }
        match kind {
            // Of one image: its results are outputs.
            Kind::Mean => outputs.push(result),
            _ => (other, last) = (last, result),
        }
    }
    outputs.push(last);
    model.outputs(&outputs);
    model.build()
}

fn image(dims: &[i32], span: f32, random: &mut Random) -> Tensor {
    Tensor::new(Element::Int8, dims).quantized(scale(span, random), zero(random))
}

fn scale(span: f32, random: &mut Random) -> f32 {
    0.05 * span.powf(random.unit())
}

fn zero(random: &mut Random) -> i64 {
    random.below(256) as i64 - 128
}
