//! Arithmetic on shapes, done while reading.
//!
//! SHAPE of a static tensor is a constant, and models compute RESHAPE targets from it (STRIDED_SLICE, PACK,
//! CONCATENATION, MUL …). A target must be known before the shapes behind it are, so such chains are evaluated here, on
//! plain integers of at most one axis. So are conditions and counters of loops, of a few elements, by the interpreter. All other constants
//! are folded by a pass.

use kiln_ir::{AddRescale, Clamp, DType, Data, Graph, Op, Rescale, Type, ValueId};

/// Most elements of a shape computation.
const LARGEST: usize = 64;

/// The result of `op`, if it and its operands are a shape computation; in a subgraph, if they are constants of a few elements without quantisation, as counters
/// of loops are.
pub(super) fn evaluate(
    graph: &Graph,
    op: &Op,
    operands: &[ValueId],
    ty: &Type,
    in_subgraph: bool,
) -> Option<Data> {
    let shape = shape_computation(graph, op, operands, ty);
    shape.or_else(|| if in_subgraph { counter(graph, op, operands, ty) } else { None })
}

fn counter(graph: &Graph, op: &Op, operands: &[ValueId], ty: &Type) -> Option<Data> {
    let few = |ty: &Type| ty.quant.is_none() && (1..=LARGEST).contains(&ty.shape.numel());
    let operand = |&id: &ValueId| Some((graph.ty(id), graph.const_data(id).filter(|_| few(graph.ty(id)))?));
    let operands = operands.iter().map(operand).collect::<Option<Vec<_>>>()?;
    few(ty).then(|| kiln_interp::eval(op, &operands, ty).ok())?
}

/// The result of `op`, if it and its operands are a shape computation.
fn shape_computation(graph: &Graph, op: &Op, operands: &[ValueId], ty: &Type) -> Option<Data> {
    let plain = |ty: &Type| matches!(ty.dtype, DType::I32 | DType::I64) && ty.quant.is_none();
    let small = |ty: &Type| ty.shape.rank() <= 1 && ty.shape.numel() <= LARGEST;
    if !plain(ty) || !small(ty) {
        return None;
    }
    let read = |&id: &ValueId| {
        let ty = graph.ty(id);
        let data = graph.const_data(id).filter(|_| plain(ty) && small(ty))?;
        Some(data.to_ints(ty.dtype))
    };
    let operands = operands.iter().map(read).collect::<Option<Vec<_>>>()?;
    let x = operands.first()?;
    let count = ty.shape.numel();
    let out: Vec<i64> = match op {
        Op::Reshape {} => x.clone(),
        Op::Concat { .. } => operands.concat(),
        Op::Slice { begin, step } => match (begin.as_slice(), step.as_slice()) {
            ([], []) => x.clone(),
            (&[begin], &[step]) => {
                let at = |i: usize| {
                    usize::try_from(i64::try_from(begin).ok()? + i64::try_from(i).ok()? * step).ok()
                };
                (0..count).map(|i| at(i).and_then(|i| x.get(i)).copied()).collect::<Option<_>>()?
            }
            _ => return None,
        },
        Op::Add { rescale: AddRescale::Real, clamp } => {
            elementwise(x, operands.get(1)?, clamp, count, i64::checked_add)?
        }
        Op::Sub { rescale: AddRescale::Real, clamp } => {
            elementwise(x, operands.get(1)?, clamp, count, i64::checked_sub)?
        }
        Op::Mul { rescale: Rescale::Real, clamp } => {
            elementwise(x, operands.get(1)?, clamp, count, i64::checked_mul)?
        }
        _ => return None,
    };
    if out.len() != count {
        return None;
    }
    let fits = ty.dtype != DType::I32 || out.iter().all(|&x| i32::try_from(x).is_ok());
    // The caller has seen to it that these are integers of 32 or 64 bits.
    fits.then(|| Data::from_ints(ty.dtype, out))
}

/// `f` on operands of equal length, or on a scalar and a list.
fn elementwise(
    x: &[i64],
    y: &[i64],
    clamp: &Clamp,
    count: usize,
    f: fn(i64, i64) -> Option<i64>,
) -> Option<Vec<i64>> {
    let (lo, hi) = clamp.int_bounds();
    if (lo, hi) != (i32::MIN, i32::MAX) {
        return None;
    }
    let at = |v: &[i64], i: usize| v.get(if v.len() == 1 { 0 } else { i }).copied();
    (0..count).map(|i| f(at(x, i)?, at(y, i)?)).collect()
}

/// Most elements of a value that is computed to be [`known`], and of what it is computed from.
const LARGEST_KNOWN: usize = 4096;

/// What a value is, if it follows from constants by at most `ops` small ops.
pub(super) fn known(graph: &Graph, id: ValueId, ops: &mut usize) -> Option<Data> {
    if let Some(data) = graph.const_data(id) {
        return Some(data.clone());
    }
    let node = graph.node(graph.producer(id)?);
    *ops = ops.checked_sub(1)?;
    let small = |id: &ValueId| graph.ty(*id).shape.numel() <= LARGEST_KNOWN;
    if !small(&id) || !node.operands.iter().all(small) {
        return None;
    }
    let data = node.operands.iter().map(|&id| known(graph, id, ops)).collect::<Option<Vec<_>>>()?;
    let operands: Vec<(&Type, &Data)> = node.operands.iter().map(|&id| graph.ty(id)).zip(&data).collect();
    kiln_interp::eval(&node.op, &operands, graph.ty(id)).ok()
}
