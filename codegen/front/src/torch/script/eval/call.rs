//! Calls: of functions and methods of the code, and of what is built in.

use super::{Flow, Frame, Machine, Value, ELEMENT_BYTES};
use crate::torch::pickle::Id;
use crate::torch::script::code::Place;
use crate::torch::script::short;
use crate::torch::script::syntax::{parameters, Expr};
use crate::{Lowered, Refusal};

/// Arguments that are given by name.
pub(super) type Named<'p> = Vec<(&'p str, Value<'p>)>;

/// The names of an expression with points between them, the first one last.
fn path<'t>(expression: &Expr<'t>) -> Option<Vec<&'t str>> {
    let (mut names, mut at) = (Vec::new(), expression);
    loop {
        match at {
            Expr::Name(name) => {
                names.push(*name);
                return Some(names);
            }
            Expr::Attribute(of, name) => {
                names.push(*name);
                at = of;
            }
            _ => return None,
        }
    }
}

impl<'p> Machine<'_, 'p> {
    pub(super) fn call(
        &mut self,
        frame: &mut Frame<'p>,
        function: &Expr<'p>,
        given: &[Expr<'p>],
        named: &[(&'p str, Expr<'p>)],
        wanted: &[bool],
    ) -> Lowered<Value<'p>> {
        let names = path(function).unwrap_or_default();
        let root = names.last().copied().unwrap_or_default();
        // Types stand where values do.
        match (names.as_slice(), given) {
            (["uninitialized"], _) => return Ok(Value::Unset),
            (["annotate" | "unchecked_cast"], [_, value]) => return self.expression(frame, value),
            (["isinstance"], _) => {
                return Err(Refusal::unsupported("isinstance cannot be compiled", "freeze the module"))
            }
            (["getattr"], [of, Expr::Text(name)]) => {
                let of = self.expression(frame, of)?;
                let name = self.keep(name.clone())?;
                return self.attribute(of, name);
            }
            _ => {}
        }
        if let (Expr::Attribute(of, _), true) = (function, names.is_empty() || frame.contains_key(root)) {
            let object = self.expression(frame, of)?;
            return self.method(frame, object, function, given, named);
        }
        let given = self.all(frame, given)?;
        let mut by_name = Vec::new();
        for (name, value) in named {
            by_name.push((*name, self.expression(frame, value)?));
        }
        match names.as_slice() {
            [name] => self.function(name, given, by_name, wanted),
            [name, "torch"] | [name, "aten", "ops"] | [name, "prim", "ops"] => {
                self.function(name, given, by_name, wanted)
            }
            [name, rest @ .., "__torch__"] => {
                let mut module = "__torch__".to_owned();
                for part in rest.iter().rev() {
                    module = format!("{module}.{part}");
                }
                let place = self.model.code.function(&module, name);
                let class = self.model.code.class(&module, name);
                let lines = place.or(class).map_or(0, |place| place.file.lines().len());
                self.spend(self.model.code.files.len() / 64 + lines / 64)?;
                match (place, class) {
                    (Some(place), _) => self.run_function(place, None, given, by_name),
                    (None, Some(class)) if class.text().contains("(NamedTuple)") => {
                        self.named_tuple(class, given, &by_name)
                    }
                    _ => {
                        let what =
                            format!("{}.{} is no function of the archive", short(&module), short(name));
                        let help = "export it without objects that are made while it runs";
                        Err(Refusal::unsupported(what, help))
                    }
                }
            }
            [name, space, "ops"] => {
                let what = format!("the operator {}::{} cannot be compiled", short(space), short(name));
                Err(Refusal::unsupported(what, "export the model with operators of ATen"))
            }
            _ => Err(malformed!("it calls what is no function")),
        }
    }

    /// A tuple whose elements have names.
    fn named_tuple(
        &mut self,
        class: Place<'p>,
        mut given: Vec<Value<'p>>,
        named: &Named<'p>,
    ) -> Lowered<Value<'p>> {
        for name in class.fields().skip(given.len()) {
            let value = named.iter().find(|(own, _)| *own == name).map(|(_, value)| *value);
            given.push(value.ok_or_else(|| malformed!("the element {:?} is missing", short(name)))?);
        }
        let tuple = self.tuple(given)?;
        if let Value::Tuple(at) = tuple {
            self.importer.means.budget.charge(2 * ELEMENT_BYTES)?;
            self.classes.insert(at, class);
        }
        Ok(tuple)
    }

    fn method(
        &mut self,
        frame: &mut Frame<'p>,
        object: Value<'p>,
        function: &Expr<'p>,
        given: &[Expr<'p>],
        named: &[(&'p str, Expr<'p>)],
    ) -> Lowered<Value<'p>> {
        let &Expr::Attribute(_, name) = function else { return Err(malformed!("it calls no method")) };
        let mut all = vec![object];
        all.extend(self.all(frame, given)?);
        let mut by_name = Vec::new();
        for (name, value) in named {
            by_name.push((*name, self.expression(frame, value)?));
        }
        match object {
            Value::Object(id) => self.run_method(id, name, all, by_name),
            // Methods of lists, texts and tensors are functions.
            _ => self.function(name, all, by_name, &[]),
        }
    }

    /// Executes the method of an object. The object is the first argument.
    pub(super) fn run_method(
        &mut self,
        id: Id,
        name: &str,
        given: Vec<Value<'p>>,
        named: Named<'p>,
    ) -> Lowered<Value<'p>> {
        let (class, place) = self.class(id)?;
        self.spend(self.model.code.files.len() / 64 + place.file.lines().len() / 64)?;
        let method =
            place.method(name).ok_or_else(|| malformed!("{class} has no method {:?}", short(name)))?;
        self.run_function(method, Some((id, class)), given, named)
    }

    /// Executes a function of the code.
    pub(super) fn run_function(
        &mut self,
        at: Place<'p>,
        object: Option<(Id, &'p str)>,
        given: Vec<Value<'p>>,
        named: Named<'p>,
    ) -> Lowered<Value<'p>> {
        let caller = self.place;
        let depth = self.modules.len();
        if let Some((id, class)) = object {
            self.enter(id, class);
        }
        let value = self.deeper(|machine| {
            machine.spend(4)?;
            let mut frame = Frame::new();
            let text = at.text();
            let list = parameters(text)?;
            malformed_if!(given.len() > list.len(), "{} arguments are given, of {}", given.len(), list.len());
            for (k, parameter) in list.iter().enumerate() {
                let by_name = named.iter().find(|(name, _)| *name == parameter.name).map(|(_, value)| *value);
                let value = match (given.get(k).copied().or(by_name), &parameter.default) {
                    (Some(value), _) => value,
                    (None, Some(default)) => machine.expression(&mut Frame::new(), default)?,
                    (None, None) => {
                        return Err(malformed!("the argument {:?} is missing", short(parameter.name)))
                    }
                };
                frame.insert(parameter.name, value);
            }
            let inside = Place { line: at.line + 1, ..at };
            match machine.block(&mut frame, inside, at.file.behind(at.line))? {
                Flow::Return(value) => Ok(value),
                Flow::Next => Ok(Value::None),
            }
        })?;
        self.place = caller;
        self.modules.truncate(depth);
        Ok(value)
    }
}
