//! Who computes and who reads each value, by position in the order of the nodes.

use super::{rows, views};
use crate::ir::{Graph, ValueId};

/// The uses of all values of a graph.
pub struct Flow {
    producer: Vec<Option<usize>>,
    readers: Vec<Vec<(usize, usize)>>,
    kept: Vec<bool>,
    next_state: Vec<bool>,
    base: Vec<ValueId>,
    shares: bool,
    takes_rows: bool,
}

impl Flow {
    /// Of a verified graph.
    pub fn of(graph: &Graph) -> Self {
        let count = graph.values().count();
        let mut flow = Flow {
            producer: vec![None; count],
            readers: vec![Vec::new(); count],
            kept: vec![false; count],
            next_state: vec![false; count],
            base: graph.values().map(|(id, _)| id).collect(),
            shares: true,
            takes_rows: true,
        };
        for (at, (_, node)) in graph.nodes().enumerate() {
            flow.producer[node.result.0 as usize] = Some(at);
            for (k, &operand) in node.operands.iter().enumerate() {
                flow.readers[operand.0 as usize].push((at, k));
            }
            if let Some((base, _)) =
                views::view_of(graph, node).filter(|&(base, _)| graph.const_data(base).is_none())
            {
                flow.base[node.result.0 as usize] = flow.base[base.0 as usize];
            }
        }
        graph.outputs.iter().for_each(|id| flow.kept[id.0 as usize] = true);
        for state in &graph.states {
            flow.kept[state.next.0 as usize] = true;
            flow.next_state[state.next.0 as usize] = true;
        }
        flow
    }

    /// For pipelines whose rings are not shared.
    pub fn without_sharing(self) -> Self {
        Flow { shares: false, ..self }
    }

    /// Whether rings of a pipeline may share a ring.
    pub fn shares(&self) -> bool {
        self.shares
    }

    /// For kernels that multiply whole images only.
    pub fn with_whole_products(self) -> Self {
        Flow { takes_rows: false, ..self }
    }

    /// Whether matrix products may take images row by row.
    pub fn takes_rows(&self) -> bool {
        self.takes_rows
    }

    /// The position of the node that computes a value.
    pub fn producer(&self, id: ValueId) -> Option<usize> {
        self.producer[id.0 as usize]
    }

    /// The positions of the nodes that read a value, each with the index of the operand.
    pub fn readers(&self, id: ValueId) -> &[(usize, usize)] {
        &self.readers[id.0 as usize]
    }

    /// Whether a value is used after the last node: as an output or as a state's next value.
    pub fn is_kept(&self, id: ValueId) -> bool {
        self.kept[id.0 as usize]
    }

    /// Whether a value is a state's next one.
    pub fn is_next_state(&self, id: ValueId) -> bool {
        self.next_state[id.0 as usize]
    }

    /// The value in whose memory a value is, as a view.
    pub fn base(&self, id: ValueId) -> ValueId {
        self.base[id.0 as usize]
    }
}

/// Bytes of one row of a value.
pub fn row_bytes(graph: &Graph, id: ValueId) -> usize {
    let ty = graph.ty(id);
    ty.bytes() / rows(&ty.shape).max(1)
}
