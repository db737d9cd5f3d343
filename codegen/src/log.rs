//! What each pass did, and which operators of the file each op of the compiled graph stands for.
//!
//! Passes know nothing of this: the graphs before and after are compared. An op that went is found again through whoever read it: what they read
//! instead tells what took its place.

use crate::ir::macs;
use crate::ir::{Graph, NodeId, ValueId};
use std::collections::{BTreeMap, BTreeSet};

/// What became of an op that is no longer there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Another op does its work too: the origin of that one.
    Into(String),
    /// It computed what another op computes: the origin of that one.
    Shared(String),
    /// Its result is known at compile time.
    Constant,
    /// It changed nothing.
    Nothing,
    /// Nobody used it.
    Unused,
}

impl std::fmt::Display for Fate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fate::Into(heir) => write!(f, "part of {heir}"),
            Fate::Shared(twin) => write!(f, "the same as {twin}"),
            Fate::Constant => f.write_str("computed at compile time"),
            Fate::Nothing => f.write_str("changed nothing"),
            Fate::Unused => f.write_str("not used"),
        }
    }
}

/// The size of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Live ops.
    pub ops: usize,
    /// Multiply-accumulates of an inference.
    pub macs: u64,
    /// Bytes of the constants that live ops read.
    pub constant_bytes: usize,
}

impl Size {
    fn of(graph: &Graph) -> Size {
        let macs = graph.nodes().map(|(_, node)| macs(graph, node)).sum();
        Size { ops: graph.order.len(), macs, constant_bytes: graph.live_constant_bytes() }
    }
}

/// A pass that changed the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub pass: String,
    /// The graph before it.
    pub before: Size,
    /// The graph after it.
    pub after: Size,
    /// Origins of the ops that went, and what became of them.
    pub gone: Vec<(String, Fate)>,
    /// Origins of the ops that it changed or added.
    pub changed: Vec<String>,
}

/// What all passes did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The passes that changed something, in order.
    pub entries: Vec<Entry>,
    /// By op of the compiled graph: the operators of the file whose work it does, in their order.
    pub sources: BTreeMap<NodeId, Vec<String>>,
}

impl Log {
    /// The operators of the file whose work an op does: itself, and what was fused into it.
    pub fn sources(&self, node: NodeId) -> &[String] {
        self.sources.get(&node).map_or(&[], Vec::as_slice)
    }
}

/// Watches passes.
#[derive(Clone, Debug)]
pub struct Recorder {
    last: Graph,
    entries: Vec<Entry>,
    sources: BTreeMap<NodeId, BTreeSet<String>>,
    fates: BTreeMap<NodeId, Fate>,
}

impl Recorder {
    /// Begins with the graph before all passes.
    pub fn new(graph: &Graph) -> Recorder {
        let sources = graph.nodes().map(|(id, node)| (id, BTreeSet::from([node.origin.clone()]))).collect();
        Recorder { last: graph.clone(), entries: Vec::new(), sources, fates: BTreeMap::new() }
    }

    /// Takes the graph after a pass.
    pub fn after(&mut self, pass: &str, now: &Graph) {
        let was = std::mem::replace(&mut self.last, now.clone());
        let (gone, changed) = match pass == RENUMBERS {
            true => (self.renumber(&was, now), Vec::new()),
            false => self.compare(&was, now),
        };
        let (before, after) = (Size::of(&was), Size::of(now));
        self.entries.push(Entry { pass: pass.into(), before, after, gone, changed });
    }

    /// What went and what changed, by their handles.
    fn compare(&mut self, was: &Graph, now: &Graph) -> (Vec<(String, Fate)>, Vec<String>) {
        let before: BTreeSet<NodeId> = was.order.iter().copied().collect();
        let after: BTreeSet<NodeId> = now.order.iter().copied().collect();
        let is_changed = |id: NodeId| before.contains(&id) && changed(was, now, id);
        self.adopt(was, now, after.difference(&before).copied().collect());
        for Swap { reader, old, new } in swaps(was, now) {
            for old in old {
                let ways: Vec<_> =
                    new.iter().filter_map(|&new| Some((new, between(was, old, new)?))).collect();
                for (new, skipped) in &ways {
                    self.inherit(was, now, reader, *new, skipped, &is_changed);
                }
                // Another value altogether.
                for &new in new.iter().filter(|_| ways.is_empty()) {
                    self.replace(was, now, old, new);
                }
            }
        }
        let gone =
            before.difference(&after).map(|&id| (was.node(id).origin.clone(), self.fate(id))).collect();
        let new = now.order.iter().filter(|id| !before.contains(id) || is_changed(**id));
        let mut touched: Vec<String> = new.map(|&id| now.node(id).origin.clone()).collect();
        touched.dedup();
        (gone, touched)
    }

    /// What went, where all handles are new, and what remains is the same and in the same order.
    fn renumber(&mut self, was: &Graph, now: &Graph) -> Vec<(String, Fate)> {
        let (mut sources, mut fates, mut gone) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        let mut remaining = now.order.iter().peekable();
        for &old in &was.order {
            match remaining.next_if(|&&new| same(was, old, now, new)) {
                Some(&new) => {
                    sources.insert(new, self.sources.remove(&old).unwrap_or_default());
                    fates.extend(self.fates.remove(&old).map(|fate| (new, fate)));
                }
                None => gone.push((was.node(old).origin.clone(), self.fate(old))),
            }
        }
        (self.sources, self.fates) = (sources, fates);
        gone
    }

    /// What was seen.
    pub fn finish(self) -> Log {
        let live: BTreeSet<NodeId> = self.last.order.iter().copied().collect();
        let in_order = |names: BTreeSet<String>| {
            let mut names: Vec<String> = names.into_iter().collect();
            names.sort_by_key(|name| position(name));
            names
        };
        // Transposes and reshapes around an operator have its name, and go with others: where an op has the name itself, those are not meant.
        let own = |id: &NodeId| self.last.node(*id).origin.as_str();
        let names: BTreeSet<&str> = live.iter().map(own).collect();
        // What was fused belongs to the op before it; what was fused into several, to all.
        let before = |name: &String| {
            let at = position(name);
            let having = self.sources.iter().filter(|(id, all)| live.contains(id) && all.contains(name));
            having.map(|(id, _)| position(own(id))).filter(|&own| own <= at).max()
        };
        let meant = |id: &NodeId, name: &String| {
            own(id) == name
                || !names.contains(name.as_str()) && before(name).is_none_or(|at| position(own(id)) == at)
        };
        let sources = self.sources.iter().filter(|(id, _)| live.contains(id));
        let sources = sources.map(|(id, all)| {
            let kept = all.iter().filter(|name| meant(id, name)).cloned();
            // A pass may have given it another origin.
            (*id, in_order(kept.chain([own(id).to_string()]).collect()))
        });
        let sources = sources.collect();
        Log { entries: self.entries, sources }
    }

    /// New ops do the work of those that they name as their origin.
    fn adopt(&mut self, was: &Graph, now: &Graph, new: Vec<NodeId>) {
        let mut by_origin: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for (old, node) in was.nodes().filter(|_| !new.is_empty()) {
            by_origin.entry(&node.origin).or_default().extend(self.of(old));
        }
        for id in new {
            let origin = &now.node(id).origin;
            let sources = by_origin.get(origin.as_str()).cloned();
            self.sources.insert(id, sources.unwrap_or_else(|| BTreeSet::from([origin.clone()])));
        }
    }

    fn fate(&self, gone: NodeId) -> Fate {
        self.fates.get(&gone).cloned().unwrap_or(Fate::Unused)
    }

    fn of(&self, node: NodeId) -> BTreeSet<String> {
        self.sources.get(&node).cloned().unwrap_or_default()
    }

    /// A reader reads what the skipped nodes were computed from: whoever took over their work has their sources.
    fn inherit(
        &mut self,
        was: &Graph,
        now: &Graph,
        reader: Option<NodeId>,
        new: ValueId,
        skipped: &[NodeId],
        is_changed: &dyn Fn(NodeId) -> bool,
    ) {
        let before = was.producer(new).filter(|&id| is_changed(id));
        let heir = before.or(reader.filter(|&id| is_changed(id)));
        for &lost in skipped {
            match heir {
                Some(heir) => {
                    let sources = self.of(lost);
                    self.sources.entry(heir).or_default().extend(sources);
                    self.fates.insert(lost, Fate::Into(now.node(heir).origin.clone()));
                }
                None => {
                    self.fates.entry(lost).or_insert(Fate::Nothing);
                }
            }
        }
    }

    /// Another value altogether: a constant, or that of a twin.
    fn replace(&mut self, was: &Graph, now: &Graph, old: ValueId, new: ValueId) {
        let Some(lost) = was.producer(old) else { return };
        if now.const_data(new).is_some() {
            // With it goes all that it was computed from.
            let mut todo = vec![lost];
            while let Some(id) = todo.pop() {
                if self.fates.insert(id, Fate::Constant).is_none() {
                    todo.extend(was.node(id).operands.iter().filter_map(|&operand| was.producer(operand)));
                }
            }
        } else if let Some(twin) = now.producer(new).filter(|twin| self.sources.contains_key(twin)) {
            let sources = self.of(lost);
            self.sources.entry(twin).or_default().extend(sources);
            self.fates.insert(lost, Fate::Shared(now.node(twin).origin.clone()));
        }
    }
}

/// The pass after which nodes have other handles.
const RENUMBERS: &str = "dce";

/// Whether nodes of two graphs are the same but for their handles.
fn same(was: &Graph, old: NodeId, now: &Graph, new: NodeId) -> bool {
    let (a, b) = (was.node(old), now.node(new));
    let (x, y) = (was.value(a.result), now.value(b.result));
    (&a.op, &a.origin, &x.name, &x.ty) == (&b.op, &b.origin, &y.name, &y.ty)
}

/// Whether a pass changed what an op computes.
fn changed(was: &Graph, now: &Graph, id: NodeId) -> bool {
    let (a, b) = (was.node(id), now.node(id));
    a.op != b.op || was.ty(a.result) != now.ty(b.result)
}

/// Someone who reads other values than before.
struct Swap {
    /// The node; `None` for an output or a state.
    reader: Option<NodeId>,
    old: Vec<ValueId>,
    new: Vec<ValueId>,
}

fn swaps(was: &Graph, now: &Graph) -> Vec<Swap> {
    let known: BTreeSet<NodeId> = was.order.iter().copied().collect();
    let live = now.order.iter().filter(|id| known.contains(id));
    let nodes = live.map(|&id| {
        let (before, after) = (&was.node(id).operands, &now.node(id).operands);
        let old = before.iter().copied().filter(|v| !after.contains(v)).collect();
        let new = after.iter().copied().filter(|v| !before.contains(v)).collect();
        Swap { reader: Some(id), old, new }
    });
    let ends = |graph: &Graph| -> Vec<ValueId> {
        graph.outputs.iter().copied().chain(graph.states.iter().map(|s| s.next)).collect()
    };
    let pairs = ends(was).into_iter().zip(ends(now)).filter(|(old, new)| old != new);
    let ends = pairs.map(|(old, new)| Swap { reader: None, old: vec![old], new: vec![new] });
    nodes.chain(ends).collect()
}

/// The nodes on the way from a value up to another one that it is computed from; `None` if it is not.
fn between(graph: &Graph, from: ValueId, to: ValueId) -> Option<Vec<NodeId>> {
    let mut way = BTreeMap::from([(from, None)]);
    let mut todo = vec![from];
    while let Some(value) = todo.pop() {
        if value == to {
            let back = std::iter::successors(Some(to), |value| way.get(value).copied().flatten());
            return Some(back.skip(1).filter_map(|value| graph.producer(value)).collect());
        }
        // What a pass replaces is near.
        let Some(node) = graph.producer(value).filter(|_| way.len() < NEAR) else { continue };
        for &operand in &graph.node(node).operands {
            way.entry(operand).or_insert_with(|| {
                todo.push(operand);
                Some(value)
            });
        }
    }
    None
}

/// How many values are looked at for the way from one to another.
const NEAR: usize = 256;

/// The position in the file that an origin begins with.
fn position(origin: &str) -> usize {
    origin.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes;

    fn log(text: &str) -> (Graph, Log) {
        let mut graph = Graph::parse(text).unwrap();
        let mut recorder = Recorder::new(&graph);
        passes::run(&mut graph, &mut |pass, now| recorder.after(pass, now)).unwrap();
        (graph, recorder.finish())
    }

    fn held(text: &str) -> Vec<Vec<String>> {
        let (graph, log) = log(text);
        graph.order.iter().map(|&id| log.sources(id).to_vec()).collect()
    }

    #[test]
    fn a_pad_and_an_activation_belong_to_their_window() {
        let text = "graph \"fused\" {
            input %x: f32[1,4,4,1]
            %p: f32[1,6,6,1] = pad(%x) {before = [0, 1, 1, 0], after = [0, 1, 1, 0], value = 4286578687} from \"0 PADV2\"
            %m: f32[1,4,4,1] = max_pool2d(%p) {window = [3, 3], clamp = -inf..=inf} from \"1 MAX_POOL_2D\"
            %r: f32[1,4,4,1] = clip(%m) {clamp = 0.0..=inf} from \"2 RELU\"
            return %r
        }";
        assert_eq!(held(text), [["0 PADV2", "1 MAX_POOL_2D", "2 RELU"]]);
        let (_, log) = log(text);
        let of = |pass: &str| log.entries.iter().find(|entry| entry.pass == pass).unwrap();
        let fused = of("fuse_activation");
        assert_eq!(fused.gone, [("2 RELU".into(), Fate::Into("1 MAX_POOL_2D".into()))]);
        assert_eq!(fused.before.ops, fused.after.ops + 1);
        let padded =
            log.entries.iter().flat_map(|e| &e.gone).find(|(origin, _)| origin == "0 PADV2").unwrap();
        assert_eq!(padded.1, Fate::Into("1 MAX_POOL_2D".into()));
    }

    #[test]
    fn what_does_nothing_or_is_not_used_belongs_to_nobody() {
        let text = "graph \"idle\" {
            input %x: f32[1,4]
            %a: f32[1,4] = tanh(%x) from \"0 TANH\"
            %b: f32[1,4] = reshape(%a) from \"1 RESHAPE\"
            %c: f32[1,4] = logistic(%x) from \"2 LOGISTIC\"
            %d: f32[1,4] = logistic(%b) from \"3 LOGISTIC\"
            return %d
        }";
        assert_eq!(held(text), [["0 TANH"], ["3 LOGISTIC"]]);
        let gone: Vec<_> = log(text).1.entries.into_iter().flat_map(|entry| entry.gone).collect();
        assert!(gone.contains(&("1 RESHAPE".into(), Fate::Nothing)), "{gone:?}");
        assert!(gone.contains(&("2 LOGISTIC".into(), Fate::Unused)), "{gone:?}");
    }

    #[test]
    fn twins_are_one_op_with_both_names() {
        let text = "graph \"twins\" {
            input %x: f32[1,4]
            %a: f32[1,4] = tanh(%x) from \"0 TANH\"
            %b: f32[1,4] = tanh(%x) from \"1 TANH\"
            return %a, %b
        }";
        assert_eq!(held(text), [["0 TANH", "1 TANH"]]);
    }
}
