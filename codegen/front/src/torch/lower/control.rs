//! Higher-order operators, which are given graphs: `cond`, `while_loop`, `scan`, `map`, and contexts such as `torch.no_grad()`.
//!
//! The graph that is compiled knows no control flow. A graph becomes part of it where it is called, loops are written out, and of two branches both are computed and
//! one is selected, unless it is known which one is taken.

use super::{named, short, Aliases, Importer, Lowered, Refusal, Slots, Target};
use crate::onnx::lower::{stacked, truth, NodeCx};
use crate::torch::program::{Arg, Node, Subgraph, TensorMeta};
use kiln_ir::{DType, ValueId};
use std::collections::{HashMap, HashSet};
use std::mem::swap;

/// The lowering of such an operator.
type Control = for<'p> fn(&mut Call<'_, '_, 'p>) -> Lowered<Vec<ValueId>>;

const OPERATORS: &[(&str, Control)] = &[
    ("associative_scan", associative_scan),
    ("cond", cond),
    ("hints_wrapper", call),
    ("invoke_subgraph", call),
    ("map_impl", map),
    ("scan", scan),
    ("strict_mode", call),
    ("tag_activation_checkpoint", call),
    ("while_loop", while_loop),
    ("wrap", call),
    ("wrap_activation_checkpoint", call),
    ("wrap_with_autocast", autocast),
    ("wrap_with_set_grad_enabled", call),
];

pub(super) fn find(target: &Target<'_>) -> Option<Control> {
    let known = OPERATORS.iter().find(|(name, _)| *name == target.name);
    known.filter(|_| target.namespace == "higher_order").map(|(_, control)| *control)
}

/// Deepest nesting of graphs.
const DEEPEST: usize = 16;

/// Most passes of a loop whose condition is computed at run time, apart from what bounds it.
const MOST_OPEN_PASSES: usize = 128;

/// A call, with its arguments by kind.
pub(super) struct Call<'c, 'm, 'p> {
    importer: &'c mut Importer<'m, 'p>,
    node: &'p Node,
    graphs: Vec<&'p Subgraph>,
    /// Lists of tensors.
    lists: Vec<Vec<ValueId>>,
    /// Tensors and numbers that stand by themselves behind a graph.
    single: Vec<ValueId>,
}

impl<'m, 'p> Importer<'m, 'p> {
    /// Lowers a higher-order operator.
    pub(super) fn controlled(&mut self, node: &'p Node, control: Control) -> Lowered<Vec<ValueId>> {
        let mut call =
            Call { importer: self, node, graphs: Vec::new(), lists: Vec::new(), single: Vec::new() };
        for input in &node.inputs {
            match &input.arg {
                Arg::Graph(graph) => call.graphs.push(graph),
                Arg::Tensors(names) => {
                    let list = names.iter().map(|name| call.importer.value(name));
                    let list = list.collect::<Lowered<_>>()?;
                    call.lists.push(list);
                }
                // An empty list says nothing of what it would hold.
                Arg::Ints(list) if list.is_empty() => call.lists.push(Vec::new()),
                Arg::Tensor(name) | Arg::Computed(name) if !call.graphs.is_empty() => {
                    let value = call.importer.value(name)?;
                    call.single.push(value);
                }
                _ => {}
            }
        }
        control(&mut call)
    }

    /// The value of that name.
    fn value(&self, name: &str) -> Lowered<ValueId> {
        match self.slots.get(name) {
            Some(value) => value.ok_or(Refusal::Follows),
            None => Err(malformed!("\"{}\" is used before it is computed", short(name))),
        }
    }

    /// The results of a graph with these arguments, as part of the graph that is compiled.
    fn inner(&mut self, graph: &'p Subgraph, arguments: &[ValueId]) -> Lowered<Vec<ValueId>> {
        if !self.means.budget.inline(graph.nodes.len() + graph.inputs.len() / 8) {
            return Err(Refusal::too_long());
        }
        if self.depth == DEEPEST {
            let what = format!("graphs are nested more than {DEEPEST} deep");
            return Err(Refusal::unsupported(what, "export the model with fewer nested functions"));
        }
        let names: Vec<&'p str> = graph.inputs.iter().flat_map(named).collect();
        malformed_if!(
            names.len() != arguments.len(),
            "a graph of {} arguments is given {}",
            names.len(),
            arguments.len()
        );
        let aliases = Aliases::of(&graph.nodes, &graph.tensors);
        if let Some(name) = names.iter().find(|name| aliases.is_written(name)) {
            let what = format!("a graph writes into its argument \"{}\"", short(name));
            let help = "export the model with `.run_decompositions()`, which has no operators that write";
            return Err(Refusal::unsupported(what, help));
        }
        let slots = names.into_iter().zip(arguments.iter().copied().map(Some)).collect();
        let mut scope = Scope { slots, read: graph.read(), metas: &graph.tensors, aliases };
        self.enter(&mut scope);
        self.depth += 1;
        let results = self.results(graph);
        self.depth -= 1;
        self.enter(&mut scope);
        results
    }

    /// Exchanges the scope of names with another one.
    fn enter(&mut self, scope: &mut Scope<'p>) {
        swap(&mut self.slots, &mut scope.slots);
        swap(&mut self.read, &mut scope.read);
        swap(&mut self.metas, &mut scope.metas);
        swap(&mut self.aliases, &mut scope.aliases);
    }

    /// Lowers a graph whose arguments have values.
    fn results(&mut self, graph: &'p Subgraph) -> Lowered<Vec<ValueId>> {
        let refused = self.means.report.count();
        for (index, node) in graph.nodes.iter().enumerate() {
            self.node(index, node)?;
        }
        // What was refused is reported where it stands.
        match self.means.report.count() > refused {
            true => Err(Refusal::Follows),
            false => graph.outputs.iter().map(|output| self.result(output)).collect(),
        }
    }

    /// What lowers ONNX's operators, for values without a name.
    fn cx(&mut self) -> NodeCx<'_, 'm, 'static> {
        self.means.hosted_cx(self.host, String::new(), String::new())
    }

    /// A result of a graph: a tensor or a number.
    fn result(&mut self, output: &'p Arg) -> Lowered<ValueId> {
        match output {
            Arg::Tensor(name) | Arg::Computed(name) => {
                self.refresh(name)?;
                self.value(name)
            }
            Arg::Int(number) => self.cx().int_constant("number", DType::I64, &[], &[*number]),
            Arg::Bool(truth) => Ok(self.cx().truth(*truth)),
            _ => Err(Refusal::unsupported("a graph returns what is no tensor", "let it return tensors")),
        }
    }
}

/// What names mean: those of the program, or of a graph in it.
struct Scope<'p> {
    slots: Slots<'p>,
    read: HashSet<&'p str>,
    metas: &'p HashMap<String, TensorMeta>,
    aliases: Aliases<'p>,
}

impl<'p> Call<'_, '_, 'p> {
    /// The graph that is its argument of that number, among graphs.
    fn graph(&self, index: usize) -> Lowered<&'p Subgraph> {
        self.graphs.get(index).copied().ok_or_else(|| malformed!("it lacks a graph"))
    }

    /// The list of tensors of that number; an empty one if it is left out.
    fn list(&self, index: usize) -> &[ValueId] {
        self.lists.get(index).map_or(&[], |list| list)
    }

    /// The number of passes over lists of tensors: the size of their first axis.
    fn passes(&mut self, list: &[ValueId]) -> Lowered<usize> {
        let cx = self.importer.cx();
        let sizes: Vec<usize> = list.iter().filter_map(|&x| cx.dims(x).first().copied()).collect();
        let first = sizes.first().copied().filter(|_| sizes.len() == list.len());
        let first = first.ok_or_else(|| malformed!("it has nothing to go through"))?;
        malformed_if!(sizes.iter().any(|&size| size != first), "it goes through axes of sizes {sizes:?}");
        Ok(first)
    }

    /// The rows of that index.
    fn rows(&mut self, list: &[ValueId], index: usize) -> Lowered<Vec<ValueId>> {
        let mut cx = self.importer.cx();
        let row = |&x: &ValueId| {
            let part = cx.part(x, 0, index, 1, 1)?;
            let dims = cx.dims(part);
            cx.reshaped(part, &dims[1..])
        };
        list.iter().map(row).collect()
    }

    /// The results of all passes, each along a new first axis.
    fn stacked(&mut self, passes: &[Vec<ValueId>]) -> Lowered<Vec<ValueId>> {
        let results = passes.first().map_or(0, Vec::len);
        let mut cx = self.importer.cx();
        let column =
            |k: usize| -> Vec<ValueId> { passes.iter().filter_map(|pass| pass.get(k).copied()).collect() };
        (0..results).map(|k| stacked(&mut cx, &column(k), 0)).collect()
    }

    /// `x` where the condition holds, else `y`.
    fn either(&mut self, condition: ValueId, x: &[ValueId], y: &[ValueId]) -> Lowered<Vec<ValueId>> {
        malformed_if!(x.len() != y.len(), "its branches have different numbers of results");
        let mut cx = self.importer.cx();
        let condition = cx.reshaped(condition, &[])?;
        let one = |(&x, &y): (&ValueId, &ValueId)| {
            let (own, other) = (cx.ty(x), cx.ty(y));
            malformed_if!(own.shape != other.shape, "its branches return {own} and {other}");
            if x == y {
                Ok(x)
            } else {
                cx.choice(condition, x, y)
            }
        };
        x.iter().zip(y).map(one).collect()
    }
}

/// A graph that is called as it is.
fn call(call: &mut Call<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let graph = call.graph(0)?;
    let mut arguments = call.lists.concat();
    arguments.extend(&call.single);
    call.importer.inner(graph, &arguments)
}

/// `torch.autocast`, which changes the types of what stands in it, unless it is switched off.
fn autocast(call: &mut Call<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    // Device, element type, whether it is on, whether casts are kept.
    if let Some(Arg::Bool(true)) = call.node.inputs.get(2).map(|input| &input.arg) {
        let help = "export the model with `.run_decompositions()`, which writes the casts out, or without torch.autocast";
        return Err(Refusal::unsupported("torch.autocast changes the types in it", help));
    }
    self::call(call)
}

/// cond: the first graph where the condition holds, else the second one.
fn cond(call: &mut Call<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let condition = match call.node.inputs.first().map(|input| &input.arg) {
        Some(Arg::Bool(truth)) => call.importer.cx().truth(*truth),
        Some(Arg::Tensor(name) | Arg::Computed(name)) => call.importer.value(name)?,
        _ => return Err(malformed!("it has no condition")),
    };
    let (yes, no, operands) = (call.graph(0)?, call.graph(1)?, call.list(0).to_vec());
    match truth(&call.importer.cx(), condition)? {
        Some(holds) => call.importer.inner(if holds { yes } else { no }, &operands),
        None => {
            let x = call.importer.inner(yes, &operands)?;
            let y = call.importer.inner(no, &operands)?;
            call.either(condition, &x, &y)
        }
    }
}

/// while_loop, written out. Where a part of the condition is computed at run time, the passes go on until the other part ends them, and the results are those of
/// the pass that was the last one.
fn while_loop(call: &mut Call<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let (condition, body) = (call.graph(0)?, call.graph(1)?);
    let (mut values, further) = (call.list(0).to_vec(), call.list(1).to_vec());
    let mut kept: Option<(ValueId, Vec<ValueId>)> = None;
    let mut open = 0;
    loop {
        let operands = [&values[..], &further[..]].concat();
        let goes_on = call.importer.inner(condition, &operands)?;
        let &[goes_on] = &goes_on[..] else { return Err(malformed!("its condition is no truth value")) };
        match truth(&call.importer.cx(), goes_on)? {
            Some(true) => {}
            Some(false) => return Ok(kept.map_or(values, |(_, results)| results)),
            None if open == MOST_OPEN_PASSES => return Err(Refusal::endless(open)),
            None => {
                open += 1;
                let mut cx = call.importer.cx();
                let goes_on = cx.reshaped(goes_on, &[])?;
                kept = Some(match kept {
                    None => (goes_on, values.clone()),
                    Some((active, results)) => (cx.both(active, goes_on)?, results),
                });
            }
        }
        let next = call.importer.inner(body, &operands)?;
        malformed_if!(
            next.len() != values.len(),
            "its body gives {} values for {}",
            next.len(),
            values.len()
        );
        if let Some((active, results)) = kept {
            let results = call.either(active, &next, &results)?;
            kept = Some((active, results));
        }
        values = next;
    }
}

/// scan: a pass for each row of some operands, with values that go from pass to pass.
fn scan(call: &mut Call<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let graph = call.graph(0)?;
    let (mut values, rows, further) = (call.list(0).to_vec(), call.list(1).to_vec(), call.list(2).to_vec());
    // Files of torch 2.6 and before say along which axis, and in which direction.
    let is_plain = |arg: &Arg| !matches!(arg, Arg::Bool(true) | Arg::Int(1..) | Arg::Int(..=-1));
    if !call.node.inputs.iter().all(|input| is_plain(&input.arg)) {
        let what = "it goes through another axis than the first one, or backwards";
        return Err(Refusal::unsupported(what, "export the model with torch 2.7 or newer"));
    }
    let mut gathered = Vec::new();
    for pass in 0..call.passes(&rows)? {
        let own = call.rows(&rows, pass)?;
        let mut results = call.importer.inner(graph, &[&values[..], &own, &further].concat())?;
        malformed_if!(results.len() < values.len(), "its graph has too few results");
        gathered.push(results.split_off(values.len()));
        values = results;
    }
    values.extend(call.stacked(&gathered)?);
    Ok(values)
}

/// map: a pass for each row of some operands.
fn map(call: &mut Call<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let graph = call.graph(0)?;
    let (rows, further) = (call.list(0).to_vec(), call.list(1).to_vec());
    let mut gathered = Vec::new();
    for pass in 0..call.passes(&rows)? {
        let own = call.rows(&rows, pass)?;
        gathered.push(call.importer.inner(graph, &[&own[..], &further].concat())?);
    }
    call.stacked(&gathered)
}

/// associative_scan: each row combined with what all before it have come to.
fn associative_scan(call: &mut Call<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let graph = call.graph(0)?;
    let (rows, further) = (call.list(0).to_vec(), call.list(1).to_vec());
    let passes = call.passes(&rows)?;
    let mut sum = call.rows(&rows, 0)?;
    let mut gathered = vec![sum.clone()];
    for pass in 1..passes {
        let own = call.rows(&rows, pass)?;
        sum = call.importer.inner(graph, &[&sum[..], &own, &further].concat())?;
        malformed_if!(sum.len() != own.len(), "its graph gives {} values for {}", sum.len(), own.len());
        gathered.push(sum.clone());
    }
    call.stacked(&gathered)
}
