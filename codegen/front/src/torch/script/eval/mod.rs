//! The code, executed while the graph is built.
//!
//! Numbers, texts, lists and shapes are known, tensors are values of the graph. A call of an ATen operator becomes a node, which is lowered at once: so the shapes of its results are
//! known to the code behind it. Everything is counted: depth, steps, and what lists and texts take.
//!
//! Some things follow only from code that comes later: which attributes are written into, and are states, and which inputs are indices. They are assumed, first to be none. Where the
//! code shows otherwise, it is executed again ([`Assumed`]).

mod aten;
mod branch;
mod builtin;
mod call;
mod expression;
pub(super) mod interface;
mod lists;
mod text;

use super::arena::Arena;
use super::code::Place;
use super::model::{Heap, Model};
use super::syntax::{statement, Expr, Statement};
use crate::budget::Budget;
use crate::onnx::lower::Host;
use crate::torch::lower::Importer;
use crate::torch::pickle::Id;
use crate::torch::program::{Node, TensorMeta};
use crate::{Lowered, Read, Refusal};
use kiln_ir::error::{Error, Problem};
use kiln_ir::options::Options;
use kiln_ir::DType;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A value of the code. Lists and dictionaries are places in lists of the machine, and may refer to each other in circles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'p> {
    None,
    /// A variable without a value.
    Unset,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(&'p str),
    /// A tensor, by its name.
    Tensor(&'p str),
    /// A number that is computed at run time, by the name of the tensor that holds it.
    Scalar(&'p str),
    List(u32),
    Tuple(u32),
    Dict(u32),
    /// An object of the archive.
    Object(Id),
}

/// The variables of a function.
type Frame<'p> = HashMap<&'p str, Value<'p>>;

/// How a block ends.
enum Flow<'p> {
    Next,
    Return(Value<'p>),
}

/// What later code says of what comes first.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Assumed {
    /// Attributes that are written into, by their paths.
    states: BTreeSet<String>,
    /// Inputs that are no floats.
    inputs: BTreeMap<String, DType>,
}

/// Most times that the code is executed.
const MOST_PASSES: usize = 24;

/// Most steps of all executions: statements, expressions, elements of lists.
const MOST_STEPS: usize = 1 << 19;

/// Steps of an operator that is lowered.
const NODE_STEPS: usize = 16;

/// Deepest nesting of blocks, expressions and calls, all together.
const DEEPEST: usize = 240;

/// Bytes that a list or one of its elements takes, while the list of lists grows.
const ELEMENT_BYTES: usize = 48;

/// The module that is executed.
#[derive(Clone, Copy)]
struct Context<'p> {
    path: &'p str,
    class: &'p str,
}

/// A tensor of the archive that is written into.
#[derive(Clone, Copy)]
struct State<'p> {
    /// The attribute that it is; none for constants of the code, and tensors in lists.
    of: Option<(Id, &'p str)>,
    path: &'p str,
    name: &'p str,
}

/// What is in memory for the time of one execution.
#[derive(Default)]
struct Ground {
    nodes: Arena<Node>,
    texts: Arena<String>,
    metas: HashMap<String, TensorMeta>,
}

/// An execution.
pub(super) struct Machine<'m, 'p> {
    importer: Importer<'m, 'p>,
    model: &'p Model<'p>,
    ground: &'p Ground,
    assumed: &'m Assumed,
    found: Assumed,
    lists: Vec<Vec<Value<'p>>>,
    dicts: Vec<Vec<(Value<'p>, Value<'p>)>>,
    /// Classes of tuples whose elements have names, by the places of the tuples.
    classes: HashMap<u32, Place<'p>>,
    /// Paths of objects, by their place among the attributes.
    paths: HashMap<Id, &'p str>,
    /// Attributes that were read or set.
    attributes: HashMap<(Id, &'p str), Value<'p>>,
    /// Tensors of the archive that were read.
    weights: HashMap<(Heap, Id), &'p str>,
    /// Paths of these, by name.
    of_weights: HashMap<&'p str, &'p str>,
    states: Vec<State<'p>>,
    /// Files of tensors that were read, with their names.
    files: Vec<(&'p str, &'p str)>,
    /// How often words stand in functions, by file and line.
    words: HashMap<(&'p str, usize), HashMap<&'p str, u32>>,
    /// Names that are given, and how many begin so.
    names: HashSet<&'p str>,
    counts: HashMap<String, usize>,
    /// Inputs that a tensor holds elements of, where it is of their type.
    of_inputs: HashMap<&'p str, Vec<&'p str>>,
    /// Tensors that certainly lie densely.
    dense: HashSet<&'p str>,
    modules: Vec<Context<'p>>,
    place: Option<Place<'p>>,
    /// What the code has raised.
    raised: Option<String>,
    /// How many branches of conditions at run time it is in.
    branches: usize,
    index: usize,
    steps: usize,
    depth: usize,
}

/// Reads a model as a graph of that name.
pub(super) fn read(
    model: &Model<'_>,
    name: &str,
    options: &Options,
    budget: impl Fn() -> Budget,
) -> Result<Read, Error> {
    let (mut assumed, mut steps) = (Assumed::default(), 0);
    for _ in 0..MOST_PASSES {
        let (host, ground) = (Host::default(), Ground::default());
        let mut machine = Machine::new(model, &ground, &assumed, (name, options, &host), budget());
        machine.steps = steps;
        let outputs = machine.run();
        if machine.found != assumed {
            (assumed, steps) = (machine.found, machine.steps);
            continue;
        }
        let outputs = outputs?;
        return Read::of(machine.importer.means.graph, machine.importer.means.report, options, &outputs);
    }
    let what = format!("inputs and states are not known after {MOST_PASSES} readings of the code");
    let help = "export a simpler module".into();
    Err(Error::Unsupported(vec![Problem { place: "code".into(), what, help }]))
}

impl<'m, 'p> Machine<'m, 'p> {
    fn new(
        model: &'p Model<'p>,
        ground: &'p Ground,
        assumed: &'m Assumed,
        (name, options, host): (&str, &'m Options, &'m Host),
        budget: Budget,
    ) -> Self {
        Machine {
            importer: Importer::new(&ground.metas, name, options, host, budget),
            model,
            ground,
            assumed,
            found: assumed.clone(),
            lists: Vec::new(),
            dicts: Vec::new(),
            classes: HashMap::new(),
            paths: HashMap::new(),
            attributes: HashMap::new(),
            weights: HashMap::new(),
            of_weights: HashMap::new(),
            states: Vec::new(),
            files: Vec::new(),
            words: HashMap::new(),
            names: HashSet::new(),
            counts: HashMap::new(),
            of_inputs: HashMap::new(),
            dense: HashSet::new(),
            modules: Vec::new(),
            place: None,
            raised: None,
            branches: 0,
            index: 0,
            steps: 0,
            depth: 0,
        }
    }

    /// Where the code is, for messages: `encoder.layers.0 (Conv2d), code/__torch__/net.py:12`.
    fn shown_place(&self) -> String {
        let module = self.modules.last().map(|module| match module.path {
            "" => module.class.to_owned(),
            path => format!("{path} ({})", module.class),
        });
        let line = self.place.map(Place::shown);
        let parts: Vec<String> = module.into_iter().chain(line).collect();
        if parts.is_empty() {
            "code".into()
        } else {
            parts.join(", ")
        }
    }

    /// Counts so many steps.
    fn spend(&mut self, steps: usize) -> Lowered {
        self.steps = self.steps.saturating_add(steps);
        match self.steps > MOST_STEPS {
            true => {
                let what = "its code runs too long";
                Err(Refusal::unsupported(what, "use fewer or shorter loops: all of them are unrolled"))
            }
            false => Ok(()),
        }
    }

    /// Goes one level deeper for the time of `inside`.
    fn deeper<T>(&mut self, inside: impl FnOnce(&mut Self) -> Lowered<T>) -> Lowered<T> {
        if self.depth > DEEPEST {
            return Err(Refusal::unsupported(
                "its code is nested too deep",
                "call fewer modules within others",
            ));
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    /// A text that stays.
    fn keep(&mut self, text: String) -> Lowered<&'p str> {
        self.importer.means.budget.charge(ELEMENT_BYTES + text.len())?;
        Ok(self.ground.texts.add(text))
    }

    /// A name that nothing has yet: `conv2d`, `conv2d_1`.
    fn fresh_name(&mut self, base: &str) -> Lowered<&'p str> {
        loop {
            self.spend(1)?;
            let count = self.counts.entry(base.to_owned()).or_default();
            let name = if *count == 0 { base.to_owned() } else { format!("{base}_{count}") };
            *count += 1;
            if !self.names.contains(name.as_str()) {
                let name = self.keep(name)?;
                self.names.insert(name);
                return Ok(name);
            }
        }
    }

    /// Executes the lines of a block.
    fn block(&mut self, frame: &mut Frame<'p>, first: Place<'p>, end: usize) -> Lowered<Flow<'p>> {
        self.deeper(|machine| {
            let mut at = first;
            while at.line < end {
                let (next, flow) = machine.line(frame, at, end)?;
                if let Flow::Return(value) = flow {
                    return Ok(Flow::Return(value));
                }
                at.line = next;
            }
            Ok(Flow::Next)
        })
    }

    /// Executes a statement, and says which line comes behind it.
    fn line(&mut self, frame: &mut Frame<'p>, at: Place<'p>, end: usize) -> Lowered<(usize, Flow<'p>)> {
        self.place = Some(at);
        let text = at.text();
        self.spend(1 + text.len() / 32)?;
        let behind = at.file.behind(at.line).min(end);
        self.spend((behind - at.line) / 32)?;
        let mut flow = Flow::Next;
        match statement(text)? {
            Statement::Pass => {}
            Statement::Assign(targets, value) => self.assign(frame, &targets, &value)?,
            Statement::Expression(value) => {
                self.expression(frame, &value)?;
            }
            Statement::Return(None) => flow = Flow::Return(Value::None),
            Statement::Return(Some(value)) => flow = Flow::Return(self.expression(frame, &value)?),
            Statement::Raise => return Err(self.raise("an exception".into())),
            Statement::Assert(condition) => {
                let condition = self.expression(frame, &condition)?;
                if self.truth(condition)? == Some(false) {
                    return Err(self.raise("AssertionError".into()));
                }
            }
            Statement::If(condition) => return self.branch(frame, at, &condition, end),
            Statement::While(condition) => {
                flow = self.repeat(frame, at, &condition, behind)?;
                return Ok((behind, flow));
            }
            Statement::For(targets, all) => {
                flow = self.go_through(frame, at, (&targets, &all), behind)?;
                return Ok((behind, flow));
            }
            Statement::Elif(_) | Statement::Else => return Err(malformed!("it stands behind no condition")),
            Statement::With => {
                let help = "export the module without it";
                return Err(Refusal::unsupported("`with` cannot be compiled", help));
            }
        }
        Ok((at.line + 1, flow))
    }

    fn repeat(
        &mut self,
        frame: &mut Frame<'p>,
        at: Place<'p>,
        condition: &Expr<'p>,
        behind: usize,
    ) -> Lowered<Flow<'p>> {
        loop {
            self.place = Some(at);
            self.spend(1)?;
            let value = self.expression(frame, condition)?;
            match self.truth(value)? {
                Some(true) => {}
                Some(false) => return Ok(Flow::Next),
                None => {
                    let what = "how often its loop runs is known only at run time";
                    return Err(Refusal::unsupported(what, "export it with a fixed number of passes"));
                }
            }
            let inside = Place { line: at.line + 1, ..at };
            if let Flow::Return(value) = self.block(frame, inside, behind)? {
                return Ok(Flow::Return(value));
            }
        }
    }

    /// Executes the block of `for`.
    fn go_through(
        &mut self,
        frame: &mut Frame<'p>,
        at: Place<'p>,
        (targets, all): (&[Expr<'p>], &Expr<'p>),
        behind: usize,
    ) -> Lowered<Flow<'p>> {
        let inside = Place { line: at.line + 1, ..at };
        let range = match all {
            Expr::Call(function, given, _) if **function == Expr::Name("range") => Some(given),
            _ => None,
        };
        let Some(given) = range else {
            let all = self.expression(frame, all)?;
            for value in self.items(all)? {
                self.place = Some(at);
                self.spend(1)?;
                self.unpack(frame, targets, value)?;
                if let Flow::Return(value) = self.block(frame, inside, behind)? {
                    return Ok(Flow::Return(value));
                }
            }
            return Ok(Flow::Next);
        };
        let mut bounds = Vec::new();
        for bound in given {
            let bound = self.expression(frame, bound)?;
            bounds.push(self.integer(bound)?);
        }
        let (mut number, end, step) = match *bounds {
            [end] => (0, end, 1),
            [start, end] => (start, end, 1),
            [start, end, step] if step != 0 => (start, end, step),
            _ => return Err(malformed!("range has wrong arguments")),
        };
        while (step > 0 && number < end) || (step < 0 && number > end) {
            self.place = Some(at);
            self.spend(1)?;
            self.unpack(frame, targets, Value::Int(number))?;
            if let Flow::Return(value) = self.block(frame, inside, behind)? {
                return Ok(Flow::Return(value));
            }
            number = number.saturating_add(step);
        }
        Ok(Flow::Next)
    }

    fn assign(&mut self, frame: &mut Frame<'p>, targets: &[Expr<'p>], value: &Expr<'p>) -> Lowered {
        let value = match (targets, value) {
            ([_], _) => self.expression(frame, value)?,
            // What nobody reads need not be computed.
            (_, Expr::Call(..)) => {
                let wanted = self.read_later(targets)?;
                self.wanting(frame, value, &wanted)?
            }
            _ => self.expression(frame, value)?,
        };
        match targets {
            [one] => self.bind(frame, one, value),
            _ => self.unpack(frame, targets, value),
        }
    }

    /// Which of the variables stand in the code of the function a second time.
    fn read_later(&mut self, targets: &[Expr<'p>]) -> Lowered<Vec<bool>> {
        let Some(place) = self.place else { return Ok(Vec::new()) };
        let file = place.file;
        // The function: back to the line with its head.
        let is_head = |&line: &usize| file.text(line).starts_with("def ");
        let head = (0..place.line).rev().find(is_head).unwrap_or(0);
        self.spend((place.line - head) / 32)?;
        let key = (file.name, head);
        if !self.words.contains_key(&key) {
            let mut counts: HashMap<&'p str, u32> = HashMap::new();
            for line in head..file.behind(head) {
                let text = file.text(line);
                self.spend(1 + text.len() / 16)?;
                for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
                    *counts.entry(word).or_default() += 1;
                }
            }
            self.importer.means.budget.charge(ELEMENT_BYTES * counts.len())?;
            self.words.insert(key, counts);
        }
        let counts = self.words.get(&key);
        let is_read = |target: &Expr<'p>| match *target {
            Expr::Name(name) => counts.and_then(|counts| counts.get(name)).is_some_and(|&count| count > 1),
            _ => true,
        };
        Ok(targets.iter().map(is_read).collect())
    }

    fn unpack(&mut self, frame: &mut Frame<'p>, targets: &[Expr<'p>], value: Value<'p>) -> Lowered {
        if let [one] = targets {
            return self.bind(frame, one, value);
        }
        let names = targets.iter().filter(|target| **target != Expr::Name("_")).count();
        let items = self.items(value)?;
        let fits = items.len() == targets.len() || items.len() == names;
        malformed_if!(!fits, "{} values are unpacked to {} variables", items.len(), targets.len());
        for (target, value) in targets.iter().zip(items) {
            self.bind(frame, target, value)?;
        }
        Ok(())
    }

    fn bind(&mut self, frame: &mut Frame<'p>, target: &Expr<'p>, value: Value<'p>) -> Lowered {
        match target {
            Expr::Name(name) => {
                if frame.insert(name, value).is_none() {
                    self.importer.means.budget.charge(2 * ELEMENT_BYTES)?;
                }
                Ok(())
            }
            Expr::Attribute(of, name) => {
                let of = self.expression(frame, of)?;
                self.set_attribute(of, name, value)
            }
            Expr::Index(of, by) => {
                let (of, by) = (self.expression(frame, of)?, self.expression(frame, by)?);
                self.set_item(of, by, value)
            }
            _ => Err(malformed!("it assigns to what is no variable")),
        }
    }

    /// Notes what the code raises. Where nobody wants to know, it is why the model is refused.
    fn raise(&mut self, what: String) -> Refusal {
        let shown = super::short(&what);
        self.raised = Some(what);
        let help = "give inputs of shapes that the model accepts, or export it for such inputs";
        Refusal::unsupported(format!("with these inputs, its code raises {shown}"), help)
    }
}
