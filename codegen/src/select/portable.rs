//! Portable kernels as a choice, and what they take, as far as other kernels compete with them.

use super::kernel::{self, Asked, Choice};
use super::{Selected, Selector, Shape};
use crate::ir::{DType, Node, Op};
use kiln_kernel_table::{Core, KernelId, Work};
use std::any::Any;
use std::borrow::Cow;
use std::rc::Rc;

/// What written schedules call them.
pub(super) const NAME: &str = "portable";

/// The portable kernels of a node, whatever its op.
#[derive(Debug)]
pub(super) struct Portable;

impl kernel::Kernel for Portable {
    fn name(&self) -> Cow<'static, str> {
        NAME.into()
    }

    fn calls<'a>(&self, selector: &mut Selector<'a>, node: &'a Node) -> Selected {
        selector.portable(node)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The portable kernels of a node as a choice.
pub(super) fn choice(asked: &Asked<'_>, core: Core) -> Choice {
    let products = usize::try_from(kiln_ir::macs(asked.graph, asked.node)).unwrap_or(usize::MAX);
    let work = kernel::work(asked.graph, asked.node, products);
    Choice { work, ..Choice::new(Rc::new(Portable), cycles(asked, core, &work)) }
}

/// Predicted cycles of the portable kernel of a node; the largest number where nothing is known.
fn cycles(asked: &Asked<'_>, core: Core, work: &Work) -> u64 {
    let (graph, node) = (asked.graph, asked.node);
    let types = node.operands.iter().take(2).chain([&node.result]).map(|&id| graph.ty(id).dtype);
    if types.clone().count() != 3 || types.into_iter().any(|dtype| dtype != DType::I8) {
        return u64::MAX;
    }
    let kernel = match (&node.op, Shape::of(graph, node)) {
        (Op::Conv2d { .. }, Some(shape)) if shape.groups == shape.in_c && shape.groups > 1 => {
            KernelId::Depthwise2dI8
        }
        (Op::Conv2d { .. }, Some(_)) => KernelId::Conv2dI8,
        (Op::Dense { .. }, _) => KernelId::DenseI8,
        _ => return u64::MAX,
    };
    kernel::cycles(asked.options, kernel, core, work).unwrap_or(u64::MAX)
}
