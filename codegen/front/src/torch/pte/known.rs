//! What is known while a method is followed: numbers, sizes, and which parts of tensors a loop has written.

use super::chain::{Now, Trace};
use super::numbers::{folded, Number};
use super::schema::Value;
use crate::torch::program::Size;
use crate::{Lowered, Refusal};

impl Trace<'_, '_> {
    /// Computes what is known already: numbers, sizes, and parts of tensors that loops write. `false` for all others.
    pub(super) fn known(&mut self, operator: &str, given: &[usize], written: &[usize]) -> Lowered<bool> {
        if operator == "executorch_prim::et_copy_index.tensor" {
            return self.piece(given).map(|()| true);
        }
        let &[to] = written else { return Ok(false) };
        let number = match operator {
            "aten::copy_" => return self.first_copy(given),
            "aten::sym_size.int" | "aten::sym_numel" => self.counted(operator, given)?,
            _ if operator.starts_with("executorch_prim::") => {
                let mut numbers = Vec::with_capacity(2);
                for &index in given.iter().take(2) {
                    // A tensor or a list is no number.
                    match self.method.values.get(index) {
                        Some(Value::Int(_) | Value::Bool(_) | Value::Double(_)) => {}
                        _ => return Ok(false),
                    }
                    let Now::Number(number) = self.now(index)? else { return Ok(false) };
                    numbers.push(number);
                }
                folded(operator, &numbers)
            }
            _ => None,
        };
        if let Some(number) = number {
            self.set(to, Now::Number(number));
        }
        Ok(number.is_some())
    }

    /// What is copied into a tensor that has no value yet, and is none of a buffer's, is its first value. `false` for all other copies.
    fn first_copy(&mut self, given: &[usize]) -> Lowered<bool> {
        let &[to, from, ..] = given else { return Ok(false) };
        let tensor = match (self.now.get(to), self.method.values.get(to)) {
            (Some(Now::Unset), Some(Value::Tensor(tensor))) if tensor.data == 0 && !tensor.is_external => {
                *tensor
            }
            _ => return Ok(false),
        };
        let Now::Tensor(from) = self.now(from)? else { return Ok(false) };
        if self.view(to, &tensor)?.is_some() {
            return Ok(false);
        }
        let sizes = tensor.sizes.iter().take(16).map(i64::from).collect();
        let name = self.rearranged("expand_copy", &from, ("size", sizes))?;
        self.declare(&name, &tensor)?;
        self.set(to, Now::Tensor(name));
        Ok(true)
    }

    /// A size, or the number of elements, of a tensor whose sizes are known.
    fn counted(&mut self, operator: &str, given: &[usize]) -> Lowered<Option<Number>> {
        let Some(&x) = given.first() else { return Ok(None) };
        let Now::Tensor(name) = self.now(x)? else { return Ok(None) };
        let Some(meta) = self.network.tensors.get(&name) else { return Ok(None) };
        let known = |size: &Size| match size {
            Size::Known(size) => Some(*size),
            Size::Symbolic(_) => None,
        };
        let sizes: Option<Vec<i64>> = meta.sizes.iter().map(known).collect();
        let Some(sizes) = sizes else { return Ok(None) };
        if operator.ends_with("numel") {
            return Ok(sizes.iter().try_fold(1i64, |all, &size| all.checked_mul(size)).map(Number::Int));
        }
        let Some(&dim) = given.get(1) else { return Ok(None) };
        let Now::Number(Number::Int(dim)) = self.now(dim)? else { return Ok(None) };
        let dim = if dim < 0 { dim.saturating_add(sizes.len() as i64) } else { dim };
        Ok(usize::try_from(dim).ok().and_then(|dim| sizes.get(dim)).copied().map(Number::Int))
    }

    /// A loop writes an element along the first axis.
    fn piece(&mut self, given: &[usize]) -> Lowered {
        let &[to, source, at] = given else { return Err(malformed!("et_copy_index has other arguments")) };
        let (Now::Tensor(name), Now::Number(Number::Int(at))) = (self.now(source)?, self.now(at)?) else {
            let what = "it writes to an index that is computed at run time";
            return Err(Refusal::unsupported(what, "export the model without loops on data"));
        };
        self.budget.charge(64 + name.len())?;
        let mut pieces = match self.now.get_mut(to).map(std::mem::take) {
            Some(Now::Pieces(pieces)) if at != 0 => pieces,
            _ => Vec::new(),
        };
        malformed_if!(at != pieces.len() as i64, "it writes element {at} after {}", pieces.len());
        pieces.push(name);
        self.set(to, Now::Pieces(pieces));
        Ok(())
    }
}
