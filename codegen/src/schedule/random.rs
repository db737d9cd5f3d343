//! Random graphs for property tests of schedules, plans and passes: small shapes, every kind of sharing.

use crate::ir::{
    AddRescale, Clamp, DType, Data, Graph, LeakyRescale, Multiplier, Op, Padding, Real, Rescale, Rounding,
    Shape, SoftmaxScale, Type, ValueId, Window,
};

/// Marsaglia's xorshift generator.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Data of that type; floats are small quarters, so that sums are exact.
    pub(crate) fn data(&mut self, ty: &Type) -> Data {
        let n = ty.shape.numel();
        match ty.dtype {
            DType::F32 => {
                Data::from_f32(&(0..n).map(|_| self.below(65) as f32 / 4.0 - 8.0).collect::<Vec<_>>())
            }
            _ => Data::new((0..ty.bytes()).map(|_| self.below(256) as u8).collect::<Vec<_>>()),
        }
    }

    pub(crate) fn inputs(&mut self, graph: &Graph) -> Vec<Data> {
        graph.inputs.iter().map(|&id| self.data(graph.ty(id))).collect()
    }
}

fn ty(dtype: DType, dims: &[usize]) -> Type {
    match dtype {
        DType::F32 => Type::plain(DType::F32, dims),
        _ => Type::quantized(DType::I8, dims, 0.25, -3),
    }
}

const DIMS: [&[usize]; 8] =
    [&[6], &[1, 6], &[2, 3], &[1, 2, 3], &[1, 3, 2, 1], &[1, 1, 4, 3], &[1, 4, 3], &[12]];

/// A random verified graph of about `size` nodes.
pub(crate) fn graph(random: &mut Random, size: usize) -> Graph {
    let mut g = Graph::new("random");
    let mut pool = Vec::new();
    for i in 0..1 + random.below(3) {
        let (dtype, dims) = (random.pick(&[DType::F32, DType::I8]), random.pick(&DIMS));
        pool.push(g.add_input(format!("in{i}"), ty(dtype, dims)));
    }
    for i in 0..random.below(4) {
        // Often the type of something that is there, so that states can be exchanged.
        let ty = match random.one_in(2) {
            true => g.ty(random.pick(&pool)).clone(),
            false => ty(random.pick(&[DType::F32, DType::I8]), random.pick(&DIMS)),
        };
        let init = random.data(&ty);
        pool.push(g.add_state(format!("state{i}"), ty, init));
    }
    for i in 0..random.below(3) {
        let ty = g.ty(random.pick(&pool)).clone();
        let data = random.data(&ty);
        pool.push(g.add_const(format!("const{i}"), ty, data));
    }
    let mut kept = Vec::new();
    for i in 0..size {
        if random.one_in(12) && !g.states.is_empty() {
            let state = random.below(g.states.len());
            kept.push((state, history(random, &mut g, &mut pool, state)));
        }
        // Mostly the youngest values, so that chains form.
        let recent = pool.len() - pool.len().min(5);
        let x = if random.one_in(3) {
            random.pick(&pool)
        } else {
            pool[recent + random.below(pool.len() - recent)]
        };
        if let Some((op, operands, ty)) = node(random, &mut g, &pool, x) {
            pool.push(g.add_node(op, &operands, format!("v{i}"), ty, format!("node {i}")));
        }
    }
    for _ in 0..1 + random.below(3) {
        let recent = pool.len() - pool.len().min(4);
        let from = if random.one_in(4) { 0 } else { recent };
        let output = pool[from + random.below(pool.len() - from)];
        g.outputs.push(output);
    }
    for s in 0..g.states.len() {
        let fits: Vec<ValueId> =
            pool.iter().rev().copied().filter(|&id| g.ty(id) == g.ty(g.states[s].current)).collect();
        g.states[s].next = if random.one_in(2) { fits[0] } else { random.pick(&fits) };
    }
    for (state, next) in kept {
        if !random.one_in(3) {
            g.states[state].next = next;
        }
    }
    g
}

/// Appends something to a state along its first long axis, and slices the state's next value off the end. Both are new values.
fn history(random: &mut Random, g: &mut Graph, pool: &mut Vec<ValueId>, state: usize) -> ValueId {
    let current = g.states[state].current;
    let t = g.ty(current).clone();
    let mut dims = t.shape.dims().to_vec();
    let axis = dims.iter().position(|&d| d > 1).unwrap_or(0);
    let (kept, new) = (dims[axis], 1 + random.below(2));
    dims[axis] = new;
    let ty = t.with_shape(&dims);
    let fits: Vec<ValueId> = pool.iter().copied().filter(|&id| g.ty(id) == &ty).collect();
    let new_value = match fits.is_empty() {
        true => {
            let data = random.data(&ty);
            g.add_const("new", ty, data)
        }
        false => random.pick(&fits),
    };
    dims[axis] = kept + new;
    let whole = g.add_node(Op::Concat { axis }, &[current, new_value], "whole", t.with_shape(&dims), "");
    let mut begin = vec![0; dims.len()];
    begin[axis] = new;
    let step = vec![1; dims.len()];
    let next = g.add_node(Op::Slice { begin, step }, &[whole], "kept", t, "");
    pool.extend([whole, next]);
    next
}

fn node(
    random: &mut Random,
    g: &mut Graph,
    pool: &[ValueId],
    x: ValueId,
) -> Option<(Op, Vec<ValueId>, Type)> {
    let t = g.ty(x).clone();
    let dims = t.shape.dims().to_vec();
    let float = t.dtype == DType::F32;
    let like = |dims: &[usize]| t.with_shape(dims);
    Some(match random.below(12) {
        0 => (Op::Clip { clamp: clamp(float, -20, 30) }, vec![x], t),
        1 if float => (Op::Tanh {}, vec![x], t),
        1 => {
            let table = Type::plain(DType::I8, &[256]);
            let data = random.data(&table);
            let table = g.add_const("table", table, data);
            (Op::Lookup {}, vec![x, table], t)
        }
        2 | 3 => {
            let fits: Vec<ValueId> = pool.iter().copied().filter(|&id| g.ty(id) == &t).collect();
            let mut operands = vec![x, random.pick(&fits)];
            if random.one_in(4) {
                let scalar = like(&[1]);
                let data = random.data(&scalar);
                operands[1] = g.add_const("scalar", scalar, data);
            }
            if random.one_in(2) {
                operands.swap(0, 1);
            }
            (add_or_mul(random, float), operands, t)
        }
        4 => {
            let alpha = Real(0.5);
            let half = Multiplier { value: 1 << 30, shift: 0 };
            let fixed = LeakyRescale::FixedPoint { identity: Multiplier::ONE, alpha: half };
            let rescale = if float { LeakyRescale::Real } else { fixed };
            (Op::LeakyRelu { alpha, rescale }, vec![x], t)
        }
        5 => {
            let n = t.shape.numel();
            let fits: Vec<&[usize]> =
                DIMS.iter().copied().filter(|d| d.iter().product::<usize>() == n).collect();
            let dims = if fits.is_empty() { vec![1, n] } else { random.pick(&fits).to_vec() };
            (Op::Reshape {}, vec![x], like(&dims))
        }
        6 | 7 => {
            let mut begin = vec![0; dims.len()];
            let mut step = vec![1; dims.len()];
            let mut out = dims.clone();
            let axis = random.below(dims.len());
            begin[axis] = random.below(dims[axis]);
            out[axis] = 1 + random.below(dims[axis] - begin[axis]);
            if random.one_in(5) {
                begin[axis] = dims[axis] - 1;
                (step[axis], out[axis]) = (-1, dims[axis]);
            }
            (Op::Slice { begin, step }, vec![x], like(&out))
        }
        8 | 9 => {
            let axis = if random.one_in(4) {
                random.below(dims.len())
            } else {
                dims.iter().position(|&d| d > 1).unwrap_or(0)
            };
            let outside = |s: &Shape| {
                s.dims().iter().enumerate().filter(|&(i, _)| i != axis).map(|(_, &d)| d).collect::<Vec<_>>()
            };
            let joins = |id: &ValueId| {
                let other = g.ty(*id);
                other.dtype == t.dtype
                    && other.shape.rank() == dims.len()
                    && outside(&other.shape) == outside(&t.shape)
            };
            let fits: Vec<ValueId> = pool.iter().copied().filter(joins).collect();
            let mut operands: Vec<ValueId> = (0..random.below(3)).map(|_| random.pick(&fits)).collect();
            operands.insert(random.below(operands.len() + 1), x);
            let mut out = dims.clone();
            out[axis] = operands.iter().map(|&id| g.ty(id).shape.dims()[axis]).sum();
            if out.iter().product::<usize>() > 200 {
                return None;
            }
            (Op::Concat { axis }, operands, like(&out))
        }
        10 => {
            let mut perm: Vec<usize> = (0..dims.len()).collect();
            perm.swap(random.below(dims.len()), random.below(dims.len()));
            let out: Vec<usize> = perm.iter().map(|&axis| dims[axis]).collect();
            (Op::Transpose { perm }, vec![x], like(&out))
        }
        _ if float => (Op::Quantize { rounding: Rounding::Away }, vec![x], ty(DType::I8, &dims)),
        _ => (Op::Dequantize {}, vec![x], ty(DType::F32, &dims)),
    })
}

fn clamp(float: bool, lo: i32, hi: i32) -> Clamp {
    match float {
        true => Clamp::Float { lo: Real(lo as f32), hi: Real(hi as f32) },
        false => Clamp::Int { lo, hi },
    }
}

fn add_or_mul(random: &mut Random, float: bool) -> Op {
    let half = Multiplier { value: 1 << 30, shift: 0 };
    let fixed = AddRescale::FixedPoint {
        left_shift: 20,
        x: half,
        y: half,
        out: Multiplier { value: 1 << 30, shift: -18 },
    };
    let rescale = if float { AddRescale::Real } else { fixed };
    let clamp = if random.one_in(2) { clamp(float, -100, 90) } else { clamp(float, -128, 127) };
    match random.below(3) {
        0 => Op::Sub { rescale, clamp },
        1 if !float => {
            Op::Mul { rescale: Rescale::FixedPoint(vec![Multiplier { value: 1 << 30, shift: -3 }]), clamp }
        }
        _ => Op::Add { rescale, clamp },
    }
}

/// A random graph of images after all passes; `flat`: without padding along the rows.
pub(crate) fn images(random: &mut Random, flat: bool) -> Graph {
    const CLAMP: Clamp = Clamp::NO_FLOAT;
    let mut g = Graph::new("images");
    let float = |dims: &[usize]| Type::plain(DType::F32, dims);
    let input = float(&[1, 6 + random.below(12), 1 + random.below(4), 1 + random.below(3)]);
    let mut values = vec![g.add_input("x", input)];
    for _ in 0..2 + random.below(9) {
        let back = if random.below(4) == 0 { random.below(values.len()) } else { 0 };
        let x = values[values.len() - 1 - back];
        let ty = g.ty(x).clone();
        let alike: Vec<ValueId> = values.iter().copied().filter(|&v| *g.ty(v) == ty).collect();
        let pad = if flat { 0 } else { random.below(2) };
        let window = Window {
            size: [1 + random.below(3), 1],
            stride: [1 + random.below(4) / 3, 1],
            dilation: [1, 1],
            pad: Padding { top: pad, bottom: pad, left: 0, right: 0 },
        };
        let dims = ty.shape.dims().to_vec();
        let (op, operands, ty) = match random.below(6) {
            0 => (Op::Tanh {}, vec![x], ty),
            1 => (Op::Softmax { beta: Real(1.0), scale: SoftmaxScale::Real }, vec![x], ty),
            2 => {
                let other = alike[random.below(alike.len())];
                (Op::Add { rescale: AddRescale::Real, clamp: CLAMP }, vec![x, other], ty)
            }
            3 => {
                let other = alike[random.below(alike.len())];
                let ty = float(&[1, dims[1], dims[2], 2 * dims[3]]);
                (Op::Concat { axis: 3 }, vec![x, other], ty)
            }
            _ => match window.output([dims[1], dims[2]]) {
                Some([h, w]) if pad < window.size[0] => {
                    let ty = float(&[1, h, w, dims[3]]);
                    (Op::MaxPool2d { window, clamp: CLAMP }, vec![x], ty)
                }
                _ => continue,
            },
        };
        if ty.bytes() < 4096 {
            values.push(g.add_node(op, &operands, "", ty, ""));
        }
    }
    let last = values[values.len() - 1];
    let dims = g.ty(last).shape.dims().to_vec();
    if flat {
        // All rows of a window become one.
        let pad = Padding { top: 0, bottom: 0, left: 0, right: 0 };
        let window = Window { size: [dims[1], 1], stride: [1, 1], dilation: [1, 1], pad };
        let ty = float(&[1, 1, dims[2], dims[3]]);
        values.push(g.add_node(Op::MaxPool2d { window, clamp: CLAMP }, &[last], "", ty, ""));
    } else if random.below(2) == 0 {
        let mean = Op::Mean { axes: vec![1, 2], rescale: Rescale::Real, clamp: CLAMP };
        values.push(g.add_node(mean, &[last], "", float(&[1, 1, 1, dims[3]]), ""));
    }
    g.outputs.push(values[values.len() - 1]);
    crate::passes::run(&mut g, &mut |_, _| {}).unwrap();
    g
}
