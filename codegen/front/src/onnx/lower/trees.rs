//! TreeEnsemble, TreeEnsembleRegressor and TreeEnsembleClassifier, as ONNX Runtime computes them where ONNX says little.

use super::classical::{self, Labels};
use super::cx::NodeCx;
use super::{describe, tensor, All, Lowered, One, Operators, Refusal};
use kiln_ir::trees::{Record, Test};
use kiln_ir::{AddRescale, Clamp, DType, Op, Rescale, Type, Unary, ValueId};
use std::collections::HashMap;

pub(super) const OPERATORS: Operators = &[
    ("ai.onnx.ml.TreeEnsemble", One(ensemble)),
    ("ai.onnx.ml.TreeEnsembleClassifier", All(classifier)),
    ("ai.onnx.ml.TreeEnsembleRegressor", One(regressor)),
];

/// Most records of a model's trees.
const MOST_RECORDS: usize = 1 << 22;

/// TreeEnsembleRegressor: \[n, targets\].
fn regressor(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = classical::rows(cx)?;
    let targets = targets(cx)?;
    let join = match cx.text("aggregate_function") {
        b"" | b"SUM" => Join::Sum,
        b"AVERAGE" => Join::Average,
        b"MIN" => Join::Least,
        b"MAX" => Join::Largest,
        other => {
            return Err(malformed!("its aggregate_function is {:?}", String::from_utf8_lossy(other)));
        }
    };
    let sums = Forest::read(cx, "target")?.joined(cx, x, targets, join)?;
    let base = cx.numbers("base_values");
    let sums = plus(cx, sums, base)?;
    classical::transformed(cx, sums)
}

/// TreeEnsemble: \[n, targets\].
fn ensemble(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = classical::rows(cx)?;
    let targets = targets(cx)?;
    let join = match cx.int("aggregate_function", 1) {
        0 => Join::Average,
        1 => Join::Sum,
        2 => Join::Least,
        3 => Join::Largest,
        other => return Err(malformed!("its aggregate_function is {other}")),
    };
    let transform: &[u8] = match cx.int("post_transform", 0) {
        0 => b"NONE",
        1 => b"SOFTMAX",
        2 => b"LOGISTIC",
        3 => b"SOFTMAX_ZERO",
        4 => b"PROBIT",
        other => return Err(malformed!("its post_transform is {other}")),
    };
    let sums = Forest::read_ensemble(cx)?.joined(cx, x, targets, join)?;
    classical::transform(cx, sums, transform)
}

/// How many numbers a row of features gives.
fn targets(cx: &NodeCx<'_, '_, '_>) -> Lowered<usize> {
    let count = cx.int("n_targets", 1);
    match u16::try_from(count) {
        Ok(targets) if targets > 0 => Ok(targets.into()),
        _ => Err(malformed!("it has {count} targets")),
    }
}

/// How the numbers of the trees become one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Join {
    Sum,
    Average,
    Least,
    Largest,
}

/// TreeEnsembleClassifier: labels \[n\], and scores \[n, classes\].
fn classifier(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = classical::rows(cx)?;
    let labels = Labels::read(cx)?;
    let classes = labels.count();
    let forest = Forest::read(cx, "class")?;
    let base = cx.numbers("base_values");
    let named = distinct(cx.list("class_ids").unwrap_or_default());
    if classes != 2 || named != 1 {
        let sums = forest.lower(cx, x, classes, false)?;
        let sums = plus(cx, sums, base)?;
        let scores = classical::transformed(cx, sums)?;
        let label = labels.largest(cx, sums)?;
        cx.bind(0, label)?;
        return cx.bind(1, scores);
    }
    // One number says which of two classes it is.
    let positive = forest.leaves.values().flatten().all(|&(_, weight)| weight >= 0.0);
    let only = cx.list("class_ids").and_then(|ids| ids.first().copied()).unwrap_or(0);
    let sums = Forest { leaves: forest.with_target(0), ..forest }.lower(cx, x, 1, false)?;
    let of_class = match *base {
        [_, second] if only == 1 => vec![second],
        [one] | [one, _] => vec![one],
        _ => Vec::new(),
    };
    let score = plus(cx, sums, of_class)?;
    let bound = if positive { 0.5 } else { 0.0 };
    let label = labels.of_two(cx, score, bound)?;
    let scores = classical::of_two(cx, score, positive)?;
    cx.bind(0, label)?;
    cx.bind(1, scores)
}

fn distinct(ids: &[i64]) -> usize {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    ids.len()
}

fn plus(cx: &mut NodeCx<'_, '_, '_>, x: ValueId, base: Vec<f32>) -> Lowered<ValueId> {
    let dims = cx.dims(x);
    let fits = base.len() == 1 || Some(&base.len()) == dims.last();
    if base.iter().all(|&base| base == 0.0) {
        return Ok(x);
    }
    malformed_if!(!fits, "{} base values do not fit {}", base.len(), cx.shown(x));
    let base = cx.float_constant("base values", &[base.len()], &base)?;
    cx.add_like(Op::Add { rescale: AddRescale::Real, clamp: Clamp::NO_FLOAT }, &[x, base], &dims)
}

/// A node of a tree, as the file has it.
#[derive(Clone, Copy)]
struct Branch {
    feature: u16,
    test: Test,
    number: f32,
    missing: bool,
    /// Other numbers that the feature may be equal to: their places in the forest's list.
    others: (usize, usize),
    /// The nodes where the test holds, and where not.
    yes: i64,
    no: i64,
}

/// A tree and a node in it.
type Place = (i64, i64);

struct Forest {
    /// Trees in the order of the file, with their first nodes.
    roots: Vec<Place>,
    /// `None` for leaves.
    nodes: HashMap<Place, Option<Branch>>,
    /// Targets and weights.
    leaves: HashMap<Place, Vec<(u16, f32)>>,
    /// Numbers of sets.
    members: Vec<f32>,
}

impl Forest {
    /// From attributes; those of leaves begin with `target` or `class`.
    fn read(cx: &mut NodeCx<'_, '_, '_>, kind: &str) -> Lowered<Forest> {
        let node = cx.node;
        let list = |name: &str| {
            let found = node.attributes.iter().find(|attribute| attribute.name.0 == name.as_bytes());
            found.map(|attribute| attribute.ints.as_slice()).unwrap_or_default()
        };
        let (trees, ids) = (list("nodes_treeids"), list("nodes_nodeids"));
        let (features, yes, no) =
            (list("nodes_featureids"), list("nodes_truenodeids"), list("nodes_falsenodeids"));
        let numbers = cx.numbers("nodes_values");
        let modes = cx.attribute("nodes_modes").map(|modes| modes.strings.as_slice()).unwrap_or_default();
        let missing = list("nodes_missing_value_tracks_true");
        let count = ids.len();
        let lengths = [trees.len(), features.len(), yes.len(), no.len(), numbers.len(), modes.len()];
        if lengths.iter().any(|&len| len != count) {
            return Err(malformed!("its lists for {count} nodes have {lengths:?} entries"));
        }
        cx.importer.budget.charge(128 * count)?;
        let (mut nodes, mut roots) = (HashMap::new(), Vec::new());
        for k in 0..count {
            let place = (trees[k], ids[k]);
            if roots.last().is_none_or(|root: &Place| root.0 != place.0) {
                roots.push(place);
            }
            let node = match modes[k].0 {
                b"LEAF" => None,
                mode => Some(branch(
                    mode,
                    features[k],
                    numbers[k],
                    missing.get(k).is_some_and(|&missing| missing != 0),
                    [yes[k], no[k]],
                )?),
            };
            malformed_if!(nodes.insert(place, node).is_some(), "tree {} has two nodes {}", place.0, place.1);
        }
        let name = |what: &str| format!("{kind}_{what}");
        let (trees, ids, targets) = (list(&name("treeids")), list(&name("nodeids")), list(&name("ids")));
        let weights = cx.numbers(&name("weights"));
        if [trees.len(), ids.len(), targets.len()] != [weights.len(); 3] {
            return Err(malformed!("it has {} leaves with {} weights", ids.len(), weights.len()));
        }
        cx.importer.budget.charge(64 * ids.len())?;
        let mut leaves: HashMap<Place, Vec<(u16, f32)>> = HashMap::new();
        for k in 0..ids.len() {
            let target =
                u16::try_from(targets[k]).map_err(|_| malformed!("there is no target {}", targets[k]))?;
            leaves.entry((trees[k], ids[k])).or_default().push((target, weights[k]));
        }
        Ok(Forest { roots, nodes, leaves, members: Vec::new() })
    }

    /// From the attributes of TreeEnsemble, whose leaves stand apart from nodes: leaf `k` is node −1 − k. All trees are parts of one list.
    fn read_ensemble(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<Forest> {
        let node = cx.node;
        let list = |name: &str| {
            let found = node.attributes.iter().find(|attribute| attribute.name.0 == name.as_bytes());
            found.map(|attribute| attribute.ints.as_slice()).unwrap_or_default()
        };
        let (features, yes, no) =
            (list("nodes_featureids"), list("nodes_truenodeids"), list("nodes_falsenodeids"));
        let (yes_ends, no_ends) = (list("nodes_trueleafs"), list("nodes_falseleafs"));
        let missing = list("nodes_missing_value_tracks_true");
        let (modes, splits) = (integers(cx, "nodes_modes")?, floats(cx, "nodes_splits")?);
        let (targets, weights) = (list("leaf_targetids"), floats(cx, "leaf_weights")?);
        let count = features.len();
        let lengths = [yes.len(), no.len(), yes_ends.len(), no_ends.len(), modes.len(), splits.len()];
        if lengths.iter().any(|&len| len != count) {
            return Err(malformed!("its lists for {count} nodes have {lengths:?} entries"));
        }
        if targets.len() != weights.len() {
            return Err(malformed!("it has {} leaves with {} weights", targets.len(), weights.len()));
        }
        cx.importer.budget.charge(128 * (count + targets.len()))?;
        let mut forest = Forest {
            roots: Vec::new(),
            nodes: HashMap::new(),
            leaves: HashMap::new(),
            members: floats(cx, "membership_values")?,
        };
        let mut next_set = 0;
        let place = |id: i64, is_leaf: i64| if is_leaf != 0 { -1 - id.max(0) } else { id };
        for k in 0..count {
            let ways = [place(yes[k], yes_ends[k]), place(no[k], no_ends[k])];
            let missing = missing.get(k).is_some_and(|&missing| missing != 0);
            let branch = match modes[k] {
                6 => {
                    // Sets end with what is no number.
                    let rest = forest.members.get(next_set..).unwrap_or_default();
                    let len = rest.iter().position(|x| x.is_nan()).unwrap_or(rest.len());
                    let number = rest.first().copied().unwrap_or(f32::NAN);
                    let others = (next_set + 1.min(len), next_set + len);
                    next_set += len + 1;
                    Branch { others, ..branch(b"BRANCH_EQ", features[k], number, missing, ways)? }
                }
                mode => {
                    let names = ["LEQ", "LT", "GTE", "GT", "EQ", "NEQ"];
                    let name = usize::try_from(mode).ok().and_then(|mode| names.get(mode));
                    let Some(name) = name else {
                        return Err(malformed!("node {k} has the mode {mode}"));
                    };
                    branch(format!("BRANCH_{name}").as_bytes(), features[k], splits[k], missing, ways)?
                }
            };
            forest.nodes.insert((0, k as i64), Some(branch));
        }
        for (k, (&target, &weight)) in targets.iter().zip(&weights).enumerate() {
            let target = u16::try_from(target).map_err(|_| malformed!("there is no target {target}"))?;
            let place = (0, -1 - k as i64);
            forest.nodes.insert(place, None);
            forest.leaves.insert(place, vec![(target, weight)]);
        }
        for &root in list("tree_roots") {
            // A tree that is a leaf has a node of which both ways lead there.
            let root = match forest.nodes.get(&(0, root)) {
                Some(Some(branch)) if branch.yes == branch.no => branch.yes,
                _ => root,
            };
            forest.roots.push((0, root));
        }
        Ok(forest)
    }

    /// What the trees say together of each target.
    fn joined(
        mut self,
        cx: &mut NodeCx<'_, '_, '_>,
        x: ValueId,
        targets: usize,
        how: Join,
    ) -> Lowered<ValueId> {
        if how == Join::Largest {
            for (_, weight) in self.leaves.values_mut().flatten() {
                *weight = -*weight;
            }
        }
        let y = self.lower(cx, x, targets, matches!(how, Join::Least | Join::Largest))?;
        let dims = cx.dims(y);
        match how {
            Join::Sum | Join::Least => Ok(y),
            Join::Average => {
                let count = cx.float_constant("trees", &[], &[1.0 / self.roots.len().max(1) as f32])?;
                let op = Op::Mul { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
                cx.add_like(op, &[y, count], &dims)
            }
            Join::Largest => cx.add_like(Op::Unary { function: Unary::Neg }, &[y], &dims),
        }
    }

    /// The leaves, all of one target.
    fn with_target(&self, target: u16) -> HashMap<Place, Vec<(u16, f32)>> {
        let all = |leaves: &Vec<(u16, f32)>| leaves.iter().map(|&(_, weight)| (target, weight)).collect();
        self.leaves.iter().map(|(&place, leaves)| (place, all(leaves))).collect()
    }

    /// Sums of targets over the trees, or the least numbers.
    fn lower(
        &self,
        cx: &mut NodeCx<'_, '_, '_>,
        x: ValueId,
        targets: usize,
        least: bool,
    ) -> Lowered<ValueId> {
        let (mut table, mut roots) = (Vec::new(), Vec::new());
        for &root in &self.roots {
            roots.push(table.len() as i64);
            self.tree(root, &mut table)?;
        }
        let dims = cx.dims(x);
        let width = dims.last().copied().unwrap_or(0);
        let numbers: Vec<i64> = table.iter().flat_map(|record| record.write()).map(i64::from).collect();
        for record in &table {
            match *record {
                Record::Branch { feature, .. } if usize::from(feature) >= width => {
                    return Err(malformed!("there is no feature {feature} in {}", cx.shown(x)));
                }
                Record::Leaf { target, .. } if usize::from(target) >= targets => {
                    return Err(malformed!("there is no target {target}: there are {targets}"));
                }
                _ => {}
            }
        }
        let table = cx.int_constant("trees", DType::I32, &[table.len(), 2], &numbers)?;
        let roots = cx.int_constant("roots", DType::I32, &[roots.len()], &roots)?;
        cx.add(Op::Trees { least }, &[x, table, roots], Type::plain(DType::F32, &[dims[0], targets]))
    }

    /// Appends the records of a tree: behind each branch what comes where its test holds.
    fn tree(&self, root: Place, table: &mut Vec<Record>) -> Lowered {
        let start = table.len();
        // Nodes to write, and the branch that leads to them otherwise.
        let mut open: Vec<(i64, Option<usize>)> = vec![(root.1, None)];
        let mut written = 0;
        while let Some((id, from)) = open.pop() {
            let place = (root.0, id);
            let node = self.nodes.get(&place);
            // Several branches may lead to a leaf, but each to branches of its own.
            written += usize::from(matches!(node, Some(Some(_))));
            let Some(node) = node.filter(|_| written <= self.nodes.len() && table.len() < MOST_RECORDS)
            else {
                return Err(malformed!("node {id} of tree {} is missing, or part of a cycle", root.0));
            };
            let at = table.len();
            if let Some(from) = from {
                if let Some(Record::Branch { otherwise, .. }) = table.get_mut(from) {
                    *otherwise = further(at - from)?;
                }
            }
            match *node {
                Some(Branch { feature, test, number, missing, others, yes, no }) => {
                    // Where one of a set is equal, the record behind it, which never holds, leads on to what comes where the test holds.
                    let others = self.members.get(others.0..others.1).unwrap_or_default();
                    for (k, &number) in others.iter().enumerate() {
                        let otherwise = further(2 * (others.len() - k))?;
                        let never = f32::NAN;
                        table.extend([
                            Record::Branch { test, feature, number, missing, otherwise: 2 },
                            Record::Branch { test, feature, number: never, missing: false, otherwise },
                        ]);
                    }
                    let at = table.len();
                    table.push(Record::Branch { test, feature, number, missing, otherwise: 1 });
                    open.push((no, Some(at)));
                    open.push((yes, None));
                }
                None => {
                    let leaves = self.leaves.get(&place).map(Vec::as_slice).unwrap_or(&[(0, 0.0)]);
                    for (k, &(target, number)) in leaves.iter().enumerate() {
                        table.push(Record::Leaf { target, number, more: k + 1 < leaves.len() });
                    }
                }
            }
        }
        debug_assert!(table.len() > start);
        Ok(())
    }
}

/// As a link between records.
fn further(records: usize) -> Lowered<u16> {
    u16::try_from(records).map_err(|_| {
        let what = format!("a tree has more than {} nodes", u16::MAX);
        Refusal::unsupported(what, "train smaller trees")
    })
}

/// The numbers of a tensor, none if there is none.
fn floats(cx: &mut NodeCx<'_, '_, '_>, name: &str) -> Lowered<Vec<f32>> {
    let Some(numbers) = cx.tensor(name) else { return Ok(Vec::new()) };
    let (ty, data) = tensor::constant(numbers, &mut cx.importer.budget)?;
    match ty.dtype {
        DType::F32 => Ok(data.to_f32()),
        _ => Err(malformed!("its {name} are {}", describe(&ty))),
    }
}

/// The integers of a tensor, none if there is none.
fn integers(cx: &mut NodeCx<'_, '_, '_>, name: &str) -> Lowered<Vec<i64>> {
    let Some(numbers) = cx.tensor(name) else { return Ok(Vec::new()) };
    let (ty, data) = tensor::constant(numbers, &mut cx.importer.budget)?;
    match ty.dtype {
        DType::F32 => Err(malformed!("its {name} are {}", describe(&ty))),
        dtype => Ok(data.to_ints(dtype)),
    }
}

/// A branch of any mode, as one of the tests that there are.
fn branch(mode: &[u8], feature: i64, number: f32, missing: bool, [yes, no]: [i64; 2]) -> Lowered<Branch> {
    let feature = match u16::try_from(feature) {
        Ok(feature) if usize::from(feature) < Record::MOST_FEATURES => feature,
        _ => {
            let what =
                format!("it uses feature {feature}; at most {} features are possible", Record::MOST_FEATURES);
            return Err(Refusal::unsupported(what, "train on fewer features"));
        }
    };
    // x < t where x ≤ the number before t. What is not so is asked the other way round, and what is no number goes where it went.
    let (test, number, swapped) = match mode {
        b"BRANCH_LEQ" => (Test::AtMost, number, false),
        b"BRANCH_LT" => (Test::AtMost, before(number), false),
        b"BRANCH_GT" => (Test::AtMost, number, true),
        b"BRANCH_GTE" => (Test::AtMost, before(number), true),
        b"BRANCH_EQ" => (Test::Equal, number, false),
        b"BRANCH_NEQ" => (Test::Equal, number, true),
        other => {
            let what = format!("a branch of mode {} cannot be compiled", String::from_utf8_lossy(other));
            return Err(Refusal::unsupported(what, "use trees that compare features with numbers"));
        }
    };
    // In IEEE arithmetic only ≠ holds of what is no number.
    let missing = missing || mode == b"BRANCH_NEQ";
    let (missing, [yes, no]) = if swapped { (!missing, [no, yes]) } else { (missing, [yes, no]) };
    Ok(Branch { feature, test, number, missing, others: (0, 0), yes, no })
}

/// The largest float below; no number below the least.
fn before(x: f32) -> f32 {
    match x {
        x if x.is_nan() || x == f32::NEG_INFINITY => f32::NAN,
        0.0 => -f32::from_bits(1),
        x if x > 0.0 => f32::from_bits(x.to_bits() - 1),
        x => f32::from_bits(x.to_bits() + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_before() {
        for x in [1.0f32, -1.0, 0.0, -0.0, 3.4e38, -1e-45, 1e-45, f32::INFINITY] {
            let below = before(x);
            assert!(below < x, "{x}");
            // Nothing lies between.
            assert!(x == 0.0 || x.to_bits().abs_diff(below.to_bits()) == 1, "{x} {below}");
        }
        assert!(before(f32::NEG_INFINITY).is_nan());
    }
}
