//! Integers that are not computed yet: expressions, of which it is not clear so far what becomes of them.

use super::super::schema::Block;
use super::cx::Cx;
use super::layer::Sums;
use super::matmul::Product;
use super::reduce::Total;
use super::scale::Scale;
use super::{Importer, Lowered, Refusal, Scope, Slot};
use kiln_ir::{DType, Graph, NodeId, ValueId};
use std::collections::{HashMap, HashSet};

/// A handle of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LazyId(usize);

/// An expression.
#[derive(Debug)]
pub(super) struct Lazy {
    pub(super) kind: Kind,
    pub(super) dims: Vec<usize>,
    pub(super) dtype: DType,
    /// How many expressions it is made up of, with repetitions.
    size: usize,
    /// What it is, once it was computed in plain integers.
    made: Option<ValueId>,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// Stored values of 8 bits.
    Leaf(ValueId),
    /// The same number everywhere.
    Known(i64),
    /// By one factor.
    Rescaled(LazyId, Scale),
    /// An operator's function of two.
    Pair(Pair, LazyId, LazyId),
    /// An operator's function of one.
    Single(Single, LazyId),
    /// Sums of a layer.
    Sums(Box<Sums>),
    /// A product of matrices.
    Product(Product),
    /// Sums along axes.
    Total(Total),
}

/// Functions of two integers of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pair {
    Add,
    Sub,
    /// The product by 2^−shift, rounded half up.
    Mul(u32),
    Max,
    Min,
}

/// Functions of an integer of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Single {
    Abs,
    Clamp(i64, i64),
}

impl Pair {
    /// Of integers of 32 bits.
    pub(super) fn apply(self, a: i64, b: i64) -> i64 {
        let wide = match self {
            Pair::Add => a.wrapping_add(b),
            Pair::Sub => a.wrapping_sub(b),
            Pair::Mul(0) => a.wrapping_mul(b),
            Pair::Mul(shift) => a.wrapping_mul(b).wrapping_add(1i64 << (shift - 1)) >> shift,
            Pair::Max => a.max(b),
            Pair::Min => a.min(b),
        };
        i64::from(wide as i32)
    }
}

impl Single {
    fn apply(self, a: i64) -> i64 {
        match self {
            Single::Abs => i64::from((a as i32).wrapping_abs()),
            Single::Clamp(lo, hi) => a.max(lo).min(hi),
        }
    }
}

/// More than so many are computed in plain integers.
const MOST: usize = 48;

/// All expressions of an import.
#[derive(Debug, Default)]
pub(super) struct Lazies(Vec<Lazy>);

impl Lazies {
    pub(super) fn get(&self, id: LazyId) -> &Lazy {
        &self.0[id.0]
    }

    /// An expression; `None` where it is too large to be one.
    pub(super) fn add(&mut self, kind: Kind, dims: &[usize], dtype: DType) -> Option<LazyId> {
        let size = match &kind {
            Kind::Rescaled(x, _) | Kind::Single(_, x) => 1 + self.get(*x).size,
            Kind::Pair(_, x, y) => 1 + self.get(*x).size + self.get(*y).size,
            _ => 1,
        };
        if size > MOST {
            return None;
        }
        self.0.push(Lazy { kind, dims: dims.to_vec(), dtype, size, made: None });
        Some(LazyId(self.0.len() - 1))
    }

    pub(super) fn made(&self, id: LazyId) -> Option<ValueId> {
        self.get(id).made
    }

    pub(super) fn set_made(&mut self, id: LazyId, value: ValueId) {
        self.0[id.0].made = Some(value);
    }

    /// Forgets what is computed by nodes that are no longer part of the graph.
    pub(super) fn forget(&mut self, graph: &Graph) {
        let kept: HashSet<NodeId> = graph.order.iter().copied().collect();
        for lazy in &mut self.0 {
            let is_lost = |value: &ValueId| graph.producer(*value).is_some_and(|node| !kept.contains(&node));
            if lazy.made.as_ref().is_some_and(is_lost) {
                lazy.made = None;
            }
        }
    }

    /// The tensor of 8 bits that an expression follows from, if it follows from one: of an element each.
    pub(super) fn leaf(&self, id: LazyId) -> Option<ValueId> {
        match &self.get(id).kind {
            Kind::Leaf(x) => Some(*x),
            Kind::Rescaled(x, _) | Kind::Single(_, x) => self.leaf(*x),
            Kind::Pair(_, x, y) => match (self.leaf(*x), self.leaf(*y)) {
                (Some(a), Some(b)) => (a == b).then_some(a),
                (Some(a), None) if self.is_known(*y) => Some(a),
                (None, Some(b)) if self.is_known(*x) => Some(b),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether it follows from no tensor.
    pub(super) fn is_known(&self, id: LazyId) -> bool {
        match &self.get(id).kind {
            Kind::Known(_) => true,
            Kind::Rescaled(x, _) | Kind::Single(_, x) => self.is_known(*x),
            Kind::Pair(_, x, y) => self.is_known(*x) && self.is_known(*y),
            _ => false,
        }
    }

    /// What it is where the only tensor that it follows from has that element.
    pub(super) fn at(&self, id: LazyId, element: i64) -> i64 {
        match &self.get(id).kind {
            Kind::Leaf(_) => element,
            Kind::Known(number) => *number,
            Kind::Rescaled(x, scale) => scale.apply(self.at(*x, element)),
            Kind::Single(function, x) => function.apply(self.at(*x, element)),
            Kind::Pair(function, x, y) => function.apply(self.at(*x, element), self.at(*y, element)),
            Kind::Sums(_) | Kind::Product(_) | Kind::Total(_) => 0,
        }
    }

    /// The tensor, zero point and whole factor of an expression factor · (x − zero point).
    pub(super) fn centred(&self, id: LazyId) -> Option<(ValueId, i64, i64)> {
        match &self.get(id).kind {
            Kind::Leaf(x) => Some((*x, 0, 1)),
            Kind::Rescaled(x, scale) => match self.get(*x).kind {
                Kind::Leaf(x) if !scale.unsigned[0] && scale.zeros[1] == 0 => {
                    let whole = scale.whole().filter(|whole| *whole <= 1 << 22);
                    whole.map(|whole| (x, scale.zeros[0], whole))
                }
                _ => None,
            },
            _ => None,
        }
    }
}

impl Cx<'_, '_, '_> {
    /// Operand `k` as an expression of integers of 32 bits; `None` where it is none.
    pub(super) fn expression(&mut self, k: usize) -> Lowered<Option<LazyId>> {
        let value = match self.slot(k)? {
            Slot::Lazy(id) => return Ok(self.is_expression(*id).then_some(*id)),
            Slot::Value(value) => *value,
            _ => return Ok(None),
        };
        let ty = self.ty(value).clone();
        let uniform = match ty.dtype {
            DType::I32 => self.uniform(value),
            _ => None,
        };
        Ok(uniform
            .and_then(|number| self.importer.lazies.add(Kind::Known(number), ty.shape.dims(), ty.dtype)))
    }

    /// Whether its elements follow from those of tensors of 8 bits, one by one.
    pub(super) fn is_expression(&self, id: LazyId) -> bool {
        match &self.importer.lazies.get(id).kind {
            Kind::Sums(_) | Kind::Product(_) | Kind::Total(_) => false,
            Kind::Leaf(_) | Kind::Known(_) => true,
            Kind::Rescaled(x, _) | Kind::Single(_, x) => self.is_expression(*x),
            Kind::Pair(_, x, y) => self.is_expression(*x) && self.is_expression(*y),
        }
    }

    /// The number that all elements of a constant are.
    pub(super) fn uniform(&self, value: ValueId) -> Option<i64> {
        let (ty, data) = (self.ty(value), self.importer.means.graph.const_data(value)?);
        if ty.shape.numel() > 4096 {
            return None;
        }
        let all = data.to_ints(ty.dtype);
        let first = *all.first()?;
        all.iter().all(|&x| x == first).then_some(first)
    }

    /// A new expression, or what it is where it is too large to be one.
    pub(super) fn kept(&mut self, kind: Kind, dims: &[usize], dtype: DType) -> Lowered<Slot> {
        self.importer.means.budget.charge(256)?;
        match self.importer.lazies.add(kind.clone(), dims, dtype) {
            Some(id) => Ok(Slot::Lazy(id)),
            None => self.made(&kind, dims).map(Slot::Value),
        }
    }

    /// What an expression is, in plain integers.
    pub(super) fn computed(&mut self, id: LazyId) -> Lowered<ValueId> {
        if let Some(made) = self.importer.lazies.made(id) {
            return Ok(made);
        }
        let lazy = self.importer.lazies.get(id);
        let (kind, dims) = (lazy.kind.clone(), lazy.dims.clone());
        let value = self.made(&kind, &dims)?;
        self.importer.lazies.set_made(id, value);
        Ok(value)
    }
}

impl<'m, 'a> Importer<'m, 'a> {
    /// What an expression of a block is, behind its operators.
    pub(super) fn computed_lazy(&mut self, block: &'m Block<'a>, id: LazyId) -> Lowered<ValueId> {
        let Some(operator) = block.operators.last() else { return Err(Refusal::Follows) };
        let mut scope = Scope { region: 0, block, slots: HashMap::new() };
        let origin = "output".to_owned();
        Cx { importer: self, scope: &mut scope, operator, operands: Vec::new(), origin }.computed(id)
    }
}
