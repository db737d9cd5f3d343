//! Conditions: a branch is taken where it is known which. Otherwise both are computed, and tensors are selected.

use super::{Flow, Frame, Machine, Value, ELEMENT_BYTES};
use crate::torch::script::code::Place;
use crate::torch::script::syntax::{statement, Expr, Statement};
use crate::{Lowered, Refusal};
use kiln_ir::DType;

/// The branches of a statement: where a condition stands, and its block.
struct Branch<'p> {
    head: Place<'p>,
    behind: usize,
}

const HELP: &str = "export it for inputs of one kind, so that the condition is known";

impl<'p> Machine<'_, 'p> {
    /// Executes `if`, with all that belongs to it, and says which line comes behind.
    pub(super) fn branch(
        &mut self,
        frame: &mut Frame<'p>,
        at: Place<'p>,
        condition: &Expr<'p>,
        end: usize,
    ) -> Lowered<(usize, Flow<'p>)> {
        let behind = at.file.behind(at.line).min(end);
        let next = Place { line: behind, ..at };
        let rest = (behind < end).then(|| next.text()).filter(|text| {
            let indent = |place: Place<'_>| place.file.lines().get(place.line).map(|line| line.indent);
            (text.starts_with("else") || text.starts_with("elif")) && indent(next) == indent(at)
        });
        let rest = rest.map(|_| next);
        let after = match rest {
            Some(rest) => self.behind_branches(rest, end)?,
            None => behind,
        };
        let value = self.expression(frame, condition)?;
        let then = Branch { head: at, behind };
        match self.truth(value)? {
            Some(true) => Ok((after, self.taken(frame, &then)?)),
            Some(false) => Ok((after, self.otherwise(frame, rest, end)?)),
            None => {
                let condition = self.as_tensor(value)?;
                self.both(frame, condition, &then, rest, end)?;
                Ok((after, Flow::Next))
            }
        }
    }

    fn taken(&mut self, frame: &mut Frame<'p>, branch: &Branch<'p>) -> Lowered<Flow<'p>> {
        let inside = Place { line: branch.head.line + 1, ..branch.head };
        self.block(frame, inside, branch.behind)
    }

    /// Executes what stands behind `else` or `elif`.
    fn otherwise(&mut self, frame: &mut Frame<'p>, rest: Option<Place<'p>>, end: usize) -> Lowered<Flow<'p>> {
        let Some(head) = rest else { return Ok(Flow::Next) };
        let behind = head.file.behind(head.line).min(end);
        self.place = Some(head);
        match statement(head.text())? {
            Statement::Else => self.taken(frame, &Branch { head, behind }),
            Statement::Elif(condition) => {
                self.deeper(|machine| machine.branch(frame, head, &condition, end)).map(|(_, flow)| flow)
            }
            _ => Ok(Flow::Next),
        }
    }

    /// The line behind all branches, the next of which begins at a line.
    fn behind_branches(&mut self, mut at: Place<'p>, end: usize) -> Lowered<usize> {
        loop {
            self.spend(1)?;
            let is_last = !at.text().starts_with("elif");
            at.line = at.file.behind(at.line).min(end);
            let follows = at.line < end && (at.text().starts_with("elif") || at.text().starts_with("else"));
            if is_last || !follows {
                return Ok(at.line);
            }
        }
    }

    /// Executes both branches of a condition that is known at run time.
    fn both(
        &mut self,
        frame: &mut Frame<'p>,
        condition: &'p str,
        then: &Branch<'p>,
        rest: Option<Place<'p>>,
        end: usize,
    ) -> Lowered {
        self.spend(frame.len())?;
        self.importer.means.budget.charge(4 * ELEMENT_BYTES * (1 + frame.len()))?;
        let mut frames = Vec::new();
        self.branches += 1;
        for is_first in [true, false] {
            let mut own = frame.clone();
            let (place, modules, depth) = (self.place, self.modules.len(), self.depth);
            let flow = match is_first {
                true => self.taken(&mut own, then),
                false => self.otherwise(&mut own, rest, end),
            };
            match flow {
                Ok(Flow::Next) => frames.push(own),
                Ok(Flow::Return(_)) => {
                    let what = "a branch that is chosen at run time returns";
                    return Err(Refusal::unsupported(what, HELP));
                }
                // Who raises has no result. The other branch is the one that counts.
                Err(_) if self.raised.take().is_some() => {
                    (self.place, self.depth) = (place, depth);
                    self.modules.truncate(modules);
                }
                Err(refusal) => return Err(refusal),
            }
        }
        self.branches -= 1;
        let mut frames = frames.into_iter();
        let (Some(first), second) = (frames.next(), frames.next()) else {
            return Err(self.raise("in both branches of a condition".into()));
        };
        let Some(second) = second else {
            *frame = first;
            return Ok(());
        };
        let mut names: Vec<&'p str> =
            first.keys().copied().filter(|name| second.contains_key(name)).collect();
        names.sort_unstable();
        for name in names {
            let (a, b) = (first[name], second[name]);
            let value = self.selected(condition, a, b, 0)?;
            frame.insert(name, value);
        }
        Ok(())
    }

    /// One value or the other.
    fn selected(
        &mut self,
        condition: &'p str,
        a: Value<'p>,
        b: Value<'p>,
        depth: usize,
    ) -> Lowered<Value<'p>> {
        if a == b || self.equal(a, b, 0)? == Some(true) {
            return Ok(a);
        }
        match (a, b) {
            (Value::Tuple(_), Value::Tuple(_)) | (Value::List(_), Value::List(_)) if depth < 8 => {
                let (left, right) = (self.items(a)?, self.items(b)?);
                if left.len() == right.len() {
                    let mut all = Vec::new();
                    for (left, right) in left.into_iter().zip(right) {
                        all.push(self.selected(condition, left, right, depth + 1)?);
                    }
                    return match a {
                        Value::Tuple(_) => self.tuple(all),
                        _ => self.list(all),
                    };
                }
            }
            (Value::Unset, other) | (other, Value::Unset) => return Ok(other),
            (Value::Tensor(x), Value::Tensor(y)) => {
                let (x, y) = (self.importer.ty(x)?, self.importer.ty(y)?);
                if x == y {
                    let arguments = vec![Value::Tensor(condition), a, b];
                    return self.aten("where", arguments, Vec::new(), &[]);
                }
            }
            (Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Scalar(_), Value::Scalar(_))
            | (Value::Scalar(_), Value::Bool(_) | Value::Int(_) | Value::Float(_))
            | (Value::Bool(_), Value::Bool(_))
            | (Value::Int(_), Value::Int(_))
            | (Value::Float(_), Value::Float(_)) => {
                let (x, y) = (self.as_tensor(a)?, self.as_tensor(b)?);
                let arguments = vec![Value::Tensor(condition), Value::Tensor(x), Value::Tensor(y)];
                return match self.aten("where", arguments, Vec::new(), &[])? {
                    Value::Tensor(name) => Ok(Value::Scalar(name)),
                    other => Ok(other),
                };
            }
            _ => {}
        }
        let what =
            "a condition that is known only at run time chooses between values of several kinds or shapes";
        Err(Refusal::unsupported(what, HELP))
    }

    /// A number as a tensor without axes.
    pub(super) fn as_tensor(&mut self, value: Value<'p>) -> Lowered<&'p str> {
        match value {
            Value::Tensor(name) | Value::Scalar(name) => Ok(name),
            Value::Bool(_) | Value::Int(_) | Value::Float(_) => {
                match self.aten("scalar_tensor", vec![value], Vec::new(), &[])? {
                    Value::Tensor(name) => Ok(name),
                    _ => Err(malformed!("it is no number")),
                }
            }
            _ => Err(malformed!("{} is no number", self.kind(value))),
        }
    }

    /// Whether a condition holds; none where that is known only at run time.
    pub(super) fn truth(&mut self, value: Value<'p>) -> Lowered<Option<bool>> {
        Ok(Some(match value {
            Value::Bool(truth) => truth,
            Value::Int(number) => number != 0,
            Value::Float(number) => number != 0.0,
            Value::None => false,
            Value::Text(text) => !text.is_empty(),
            Value::List(_) | Value::Tuple(_) | Value::Dict(_) => self.count(value)? > 0,
            Value::Tensor(name) | Value::Scalar(name) => {
                let dtype = self.importer.ty(name)?.dtype;
                let Some(data) = self.importer.known(name)? else { return Ok(None) };
                match dtype {
                    DType::F32 => data.to_f32().first().is_some_and(|&x| x != 0.0),
                    dtype => data.to_ints(dtype).first().is_some_and(|&x| x != 0),
                }
            }
            Value::Unset | Value::Object(_) => {
                return Err(malformed!("{} is no condition", self.kind(value)))
            }
        }))
    }
}
