//! Expressions, and attributes of objects.

use super::{Context, Frame, Machine, State, Value};
use crate::torch::lower::OPERATOR_BYTES;
use crate::torch::pickle::{Id, Item};
use crate::torch::script::code::{split, Place};
use crate::torch::script::model::Heap;
use crate::torch::script::short;
use crate::torch::script::syntax::{statement, Expr, Statement};
use crate::{Lowered, Refusal};

/// Deepest nesting of lists among attributes.
const DEEPEST: usize = 16;

impl<'p> Machine<'_, 'p> {
    pub(super) fn expression(&mut self, frame: &mut Frame<'p>, expression: &Expr<'p>) -> Lowered<Value<'p>> {
        self.wanting(frame, expression, &[])
    }

    /// What an expression is, of which only some results are wanted: all where the list is empty.
    pub(super) fn wanting(
        &mut self,
        frame: &mut Frame<'p>,
        expression: &Expr<'p>,
        wanted: &[bool],
    ) -> Lowered<Value<'p>> {
        self.spend(1)?;
        match expression {
            Expr::Int(number) => Ok(Value::Int(*number)),
            Expr::Float(number) => Ok(Value::Float(*number)),
            Expr::Text(text) => self.keep(text.clone()).map(Value::Text),
            Expr::Name(name) => self.variable(frame, name),
            _ => self.deeper(|machine| match expression {
                Expr::Attribute(of, name) => machine.attribute_of(frame, of, name),
                Expr::Call(function, given, named) => machine.call(frame, function, given, named, wanted),
                Expr::Index(of, by) => {
                    let (of, by) = (machine.expression(frame, of)?, machine.expression(frame, by)?);
                    machine.item(of, by)
                }
                Expr::List(all) => {
                    let all = machine.all(frame, all)?;
                    machine.list(all)
                }
                Expr::Tuple(all) => {
                    let all = machine.all(frame, all)?;
                    machine.tuple(all)
                }
                Expr::Dict(pairs) => {
                    let mut all = Vec::new();
                    for (key, value) in pairs {
                        all.push((machine.expression(frame, key)?, machine.expression(frame, value)?));
                    }
                    machine.dict(all)
                }
                Expr::Operator("__and__", operands) => {
                    let [left, right] = &operands[..] else { return Err(malformed!("it has no operands")) };
                    let left = machine.expression(frame, left)?;
                    match left {
                        Value::Bool(false) => Ok(left),
                        Value::Bool(true) => machine.expression(frame, right),
                        _ => {
                            let right = machine.expression(frame, right)?;
                            machine.function("__and__", vec![left, right], Vec::new(), &[])
                        }
                    }
                }
                Expr::Operator(name, operands) => {
                    let operands = machine.all(frame, operands)?;
                    machine.function(name, operands, Vec::new(), &[])
                }
                Expr::Choice(parts) => {
                    let [condition, first, second] = &**parts;
                    let condition = machine.expression(frame, condition)?;
                    match machine.truth(condition)? {
                        Some(true) => machine.expression(frame, first),
                        Some(false) => machine.expression(frame, second),
                        None => {
                            let what = "a condition is known only at run time";
                            Err(Refusal::unsupported(what, "use torch.where"))
                        }
                    }
                }
                _ => Ok(Value::None),
            }),
        }
    }

    pub(super) fn all(&mut self, frame: &mut Frame<'p>, all: &[Expr<'p>]) -> Lowered<Vec<Value<'p>>> {
        all.iter().map(|one| self.expression(frame, one)).collect()
    }

    fn variable(&self, frame: &Frame<'p>, name: &str) -> Lowered<Value<'p>> {
        if let Some(value) = frame.get(name) {
            return Ok(*value);
        }
        Ok(match name {
            "None" => Value::None,
            "True" => Value::Bool(true),
            "False" => Value::Bool(false),
            "inf" => Value::Float(f64::INFINITY),
            "nan" => Value::Float(f64::NAN),
            _ => return Err(malformed!("the variable {:?} has no value", short(name))),
        })
    }

    fn attribute_of(&mut self, frame: &mut Frame<'p>, of: &Expr<'p>, name: &'p str) -> Lowered<Value<'p>> {
        match of {
            Expr::Name("CONSTANTS") => self.constant(name),
            Expr::Name("math") if name == "inf" => Ok(Value::Float(f64::INFINITY)),
            _ => {
                let of = self.expression(frame, of)?;
                self.attribute(of, name)
            }
        }
    }

    /// A constant of the code: `c3`.
    fn constant(&mut self, name: &'p str) -> Lowered<Value<'p>> {
        let place = name.strip_prefix('c').and_then(|number| number.parse().ok());
        let id = place.and_then(|place| self.model.constant(place));
        let id = id.ok_or_else(|| malformed!("there is no constant {:?}", short(name)))?;
        self.converted(Heap::Constants, id, name, None, 0)
    }

    /// The attribute of an object.
    pub(super) fn attribute(&mut self, of: Value<'p>, name: &'p str) -> Lowered<Value<'p>> {
        let Value::Object(id) = of else {
            return match (of, name) {
                (
                    Value::Tensor(_),
                    "dtype" | "device" | "shape" | "ndim" | "is_cuda" | "requires_grad" | "layout",
                ) => self.function(name, vec![of], Vec::new(), &[]),
                (Value::Tuple(at), _) => {
                    let place =
                        self.classes.get(&at).and_then(|class| class.fields().position(|own| own == name));
                    let place =
                        place.ok_or_else(|| malformed!("a tuple has no element {:?}", short(name)))?;
                    self.item(of, Value::Int(place as i64))
                }
                _ => Err(malformed!("{} has no attribute {:?}", self.kind(of), short(name))),
            };
        };
        if let Some(&known) = self.attributes.get(&(id, name)) {
            return Ok(known);
        }
        self.importer.means.budget.charge(OPERATOR_BYTES / 8)?;
        let own = self.paths.get(&id).copied().unwrap_or_default();
        let path = if own.is_empty() { name.to_owned() } else { format!("{own}.{name}") };
        let value = match self.model.pickle(Heap::Data).attribute(id, name) {
            Some(found) => {
                let path = self.keep(path)?;
                self.converted(Heap::Data, found, path, Some((id, name)), 0)?
            }
            None => self.declared_in_class(id, name)?.ok_or_else(|| {
                let what = format!("\"{}\" is not among the attributes of the module", short(&path));
                Refusal::unsupported(
                    what,
                    "freeze the module before it is saved: torch.jit.freeze(module.eval())",
                )
            })?,
        };
        self.attributes.insert((id, name), value);
        Ok(value)
    }

    /// The class of an object.
    pub(super) fn class(&self, id: Id) -> Lowered<(&'p str, Place<'p>)> {
        let Item::Object(class, _) = *self.model.pickle(Heap::Data).item(id) else {
            return Err(malformed!("it is no object"));
        };
        let (module, name) = split(class)?;
        let place = self.model.code.class(module, name);
        let missing = || malformed!("the code of the class {} is not in the archive", short(class));
        Ok((name, place.ok_or_else(missing)?))
    }

    /// An attribute that the class declares with its value: `Final[int] = 3`.
    fn declared_in_class(&mut self, id: Id, name: &str) -> Lowered<Option<Value<'p>>> {
        let (_, class) = self.class(id)?;
        let Some((_, value)) = class.declared(name).and_then(|declared| declared.split_once('=')) else {
            return Ok(None);
        };
        match statement(value)? {
            Statement::Expression(value) => self.expression(&mut Frame::new(), &value).map(Some),
            _ => Ok(None),
        }
    }

    /// A value of the archive. `of` is the attribute that it is the whole of.
    fn converted(
        &mut self,
        heap: Heap,
        id: Id,
        path: &'p str,
        of: Option<(Id, &'p str)>,
        depth: usize,
    ) -> Lowered<Value<'p>> {
        self.spend(1)?;
        if depth > DEEPEST {
            return Err(Refusal::unsupported(
                format!("\"{}\" is nested too deep", short(path)),
                "use flat lists",
            ));
        }
        let items = match self.model.pickle(heap).item(id) {
            Item::None => return Ok(Value::None),
            Item::Bool(truth) => return Ok(Value::Bool(*truth)),
            Item::Int(number) => return Ok(Value::Int(*number)),
            Item::Float(number) => return Ok(Value::Float(*number)),
            Item::Text(text) => return Ok(Value::Text(text)),
            Item::Object(..) if heap == Heap::Data => {
                self.paths.entry(id).or_insert(path);
                return Ok(Value::Object(id));
            }
            Item::Tensor(_) => return self.weight(heap, id, path, of).map(Value::Tensor),
            Item::List(items) | Item::Tuple(items) | Item::Dict(items) => items,
            _ => {
                let what = format!("\"{}\" is neither a tensor nor a number", short(path));
                return Err(Refusal::unsupported(
                    what,
                    "use tensors, numbers, texts and lists as attributes",
                ));
            }
        };
        self.spend(items.len())?;
        let mut all = Vec::new();
        for (k, &item) in items.iter().enumerate() {
            let path = self.keep(format!("{path}.{k}"))?;
            all.push(self.converted(heap, item, path, None, depth + 1)?);
        }
        match self.model.pickle(heap).item(id) {
            Item::List(_) => self.list(all),
            Item::Tuple(_) => self.tuple(all),
            _ => self.dict(all.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()),
        }
    }

    /// A tensor of the archive.
    fn weight(&mut self, heap: Heap, id: Id, path: &'p str, of: Option<(Id, &'p str)>) -> Lowered<&'p str> {
        if let Some(name) = self.weights.get(&(heap, id)) {
            return Ok(name);
        }
        self.importer.means.budget.charge(OPERATOR_BYTES)?;
        let name = self.fresh_name(&short(path).replace('.', "_"))?;
        let is_state = self.assumed.states.contains(path);
        let value = match self.model.tensor(heap, id, &short(path), &mut self.importer.means.budget) {
            Ok((ty, data)) if is_state => {
                self.states.push(State { of, path, name });
                Some(self.importer.means.graph.add_state(short(path), ty, data))
            }
            Ok((ty, data)) => Some(self.importer.means.graph.add_const(short(path), ty, data)),
            Err(refusal) => {
                let place = format!("attribute \"{}\"", short(path));
                self.importer.means.report.refuse(place, None, refusal)?;
                None
            }
        };
        self.importer.slots.insert(name, value);
        self.weights.insert((heap, id), name);
        self.of_weights.insert(name, path);
        if let Some((file, meta)) = self.model.meta(heap, id) {
            if heap == Heap::Data {
                self.files.push((file, name));
            }
            if crate::torch::lower::is_dense(&meta) {
                self.dense.insert(name);
            }
        }
        Ok(name)
    }

    /// Sets the attribute of an object.
    pub(super) fn set_attribute(&mut self, of: Value<'p>, name: &'p str, value: Value<'p>) -> Lowered {
        let Value::Object(id) = of else {
            return Err(malformed!("{} has no attributes", self.kind(of)));
        };
        let before = self.attribute(of, name)?;
        if before == value {
            return Ok(());
        }
        let own = self.paths.get(&id).copied().unwrap_or_default();
        let path = if own.is_empty() { name.to_owned() } else { format!("{own}.{name}") };
        self.outside_of_branches()?;
        match (before, value) {
            (Value::Tensor(_), Value::Tensor(_)) => {
                self.found.states.insert(path);
                self.attributes.insert((id, name), value);
                Ok(())
            }
            _ => {
                let what = format!("it changes the attribute \"{}\", which is no tensor", short(&path));
                Err(Refusal::unsupported(what, "register it as a buffer: self.register_buffer(name, tensor)"))
            }
        }
    }

    /// Refuses what a branch must not do that may not be taken.
    pub(super) fn outside_of_branches(&self) -> Lowered {
        match self.branches {
            0 => Ok(()),
            _ => {
                let what = "something is changed in a branch that is chosen at run time";
                Err(Refusal::unsupported(what, "compute both values, and use torch.where"))
            }
        }
    }

    /// Goes into an object, whose code is executed next.
    pub(super) fn enter(&mut self, id: Id, class: &'p str) {
        let path = self.paths.get(&id).copied().unwrap_or_default();
        self.modules.push(Context { path, class });
    }
}
