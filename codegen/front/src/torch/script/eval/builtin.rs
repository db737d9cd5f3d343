//! Functions of numbers, lists, texts and shapes, which are known while the graph is built.

use super::call::Named;
use super::text::number_of;
use super::{Machine, Value};
use crate::torch::script::short;
use crate::{Lowered, Refusal};
use kiln_ir::DType;

impl<'p> Machine<'_, 'p> {
    /// What a function gives that is built in: one of numbers and lists, or an operator of ATen.
    pub(super) fn function(
        &mut self,
        name: &'p str,
        given: Vec<Value<'p>>,
        named: Named<'p>,
        wanted: &[bool],
    ) -> Lowered<Value<'p>> {
        if let Some(value) = self.of_tensor(name, &given)? {
            return Ok(value);
        }
        if let Some(value) = self.of_anything(name, &given, &named)? {
            return Ok(value);
        }
        if let Some(value) = self.changed(name, &given)? {
            return Ok(value);
        }
        if let Some(value) = self.of_text(name, &given)? {
            return Ok(value);
        }
        if let Some(value) = self.of_list(name, &given)? {
            return Ok(value);
        }
        if named.is_empty() {
            if let Some(value) = self.of_numbers(name, &given)? {
                return Ok(value);
            }
        }
        self.aten(name, given, named, wanted)
    }

    /// What is asked of a tensor: its shape and type, and elements that are known.
    fn of_tensor(&mut self, name: &str, given: &[Value<'p>]) -> Lowered<Option<Value<'p>>> {
        let Some(&(Value::Tensor(x) | Value::Scalar(x))) = given.first() else { return Ok(None) };
        let is_tensor = matches!(given[0], Value::Tensor(_));
        Ok(Some(match (name, given.len()) {
            ("size", 1) | ("shape", 1) if is_tensor => {
                let dims: Vec<Value<'p>> = self.sizes(x)?.into_iter().map(Value::Int).collect();
                self.list(dims)?
            }
            ("size", 2) if is_tensor => {
                let dims = self.sizes(x)?;
                let axis = self.integer(given[1])?;
                let at = if axis < 0 { axis.saturating_add(dims.len() as i64) } else { axis };
                let size = usize::try_from(at).ok().and_then(|at| dims.get(at));
                Value::Int(
                    *size.ok_or_else(|| malformed!("there is no axis {axis}: it has {} axes", dims.len()))?,
                )
            }
            ("dim" | "ndim", 1) => Value::Int(self.sizes(x)?.len() as i64),
            ("len", 1) if is_tensor => Value::Int(self.count(given[0])? as i64),
            ("numel", 1) => Value::Int(self.importer.ty(x)?.shape.numel() as i64),
            ("dtype", 1) => Value::Int(number_of(self.importer.ty(x)?.dtype)),
            ("device", 1) => Value::Text("cpu"),
            ("layout", 1) => Value::Int(0),
            ("is_floating_point", 1) => Value::Bool(self.importer.ty(x)?.dtype == DType::F32),
            (
                "is_nested" | "requires_grad" | "is_cuda" | "is_quantized" | "is_sparse" | "is_mkldnn"
                | "is_complex" | "is_xla" | "is_meta" | "is_neg" | "is_conj" | "is_inference" | "is_mps"
                | "is_xpu" | "is_vulkan",
                1,
            ) => Value::Bool(false),
            ("is_signed", 1) => Value::Bool(self.importer.ty(x)?.dtype != DType::U8),
            ("is_same_size", 2) => match given[1] {
                Value::Tensor(y) => Value::Bool(self.sizes(x)? == self.sizes(y)?),
                _ => return Ok(None),
            },
            ("data", 1) => given[0],
            (
                "item" | "Int" | "int" | "IntImplicit" | "Float" | "float" | "FloatImplicit" | "Bool"
                | "bool" | "ScalarImplicit",
                1,
            ) => self.alone(name, x)?,
            ("NumToTensor" | "tensor" | "as_tensor", 1) => Value::Tensor(x),
            _ => return Ok(None),
        }))
    }

    fn sizes(&self, name: &str) -> Lowered<Vec<i64>> {
        Ok(self.importer.ty(name)?.shape.dims().iter().map(|&size| size as i64).collect())
    }

    /// The only element of a tensor as a number of some kind.
    fn alone(&mut self, kind: &str, x: &'p str) -> Lowered<Value<'p>> {
        let ty = self.importer.ty(x)?.clone();
        malformed_if!(
            ty.shape.numel() != 1,
            "{:?} is a number only of a tensor with one element",
            short(kind)
        );
        let Some(data) = self.importer.known(x)? else {
            // It becomes one at run time.
            let dtype = match kind {
                "Int" | "int" | "IntImplicit" if ty.dtype != DType::I64 => Some(4),
                "Float" | "float" | "FloatImplicit" if ty.dtype != DType::F32 => Some(6),
                "Bool" | "bool" if ty.dtype != DType::Bool => Some(11),
                _ => None,
            };
            let mut value = Value::Tensor(x);
            if !ty.shape.dims().is_empty() {
                let none = self.list(Vec::new())?;
                value = self.aten("reshape", vec![value, none], Vec::new(), &[])?;
            }
            if let Some(dtype) = dtype {
                value = self.aten("to", vec![value, Value::Int(dtype)], Vec::new(), &[])?;
            }
            return Ok(match value {
                Value::Tensor(name) => Value::Scalar(name),
                other => other,
            });
        };
        let value = match ty.dtype {
            DType::F32 => Value::Float(f64::from(data.to_f32().first().copied().unwrap_or(0.0))),
            DType::Bool => Value::Bool(data.to_ints(ty.dtype).first().is_some_and(|&x| x != 0)),
            dtype => Value::Int(data.to_ints(dtype).first().copied().unwrap_or(0)),
        };
        Ok(self.as_kind(kind, value).unwrap_or(value))
    }

    /// A number of another kind.
    fn as_kind(&self, kind: &str, value: Value<'p>) -> Option<Value<'p>> {
        let number = self.number(value)?;
        Some(match (kind, value) {
            ("Int" | "int" | "IntImplicit", Value::Int(_)) => value,
            ("Int" | "int" | "IntImplicit", _) => Value::Int(number as i64),
            ("Float" | "float" | "FloatImplicit", _) => Value::Float(number),
            ("Bool" | "bool", _) => Value::Bool(number != 0.0),
            _ => return None,
        })
    }

    /// Functions of values of any kind.
    fn of_anything(
        &mut self,
        name: &str,
        given: &[Value<'p>],
        named: &Named<'p>,
    ) -> Lowered<Option<Value<'p>>> {
        Ok(Some(match (name, given) {
            ("RaiseException", _) => {
                let what = self.shown(given.first().copied().unwrap_or(Value::None))?;
                let class = match given.get(1) {
                    Some(Value::Text(class)) => short(class.trim_start_matches("builtins.")),
                    _ => "an exception".into(),
                };
                return Err(self.raise(format!("{class}: {what}")));
            }
            ("__is__" | "__isnot__", &[a, b]) => {
                let is = match (a, b) {
                    (Value::Tensor(a), Value::Tensor(b)) => a == b,
                    _ => a == b,
                };
                Value::Bool(is == (name == "__is__"))
            }
            ("__not__", &[value]) => match self.truth(value)? {
                Some(truth) => Value::Bool(!truth),
                None => {
                    let of = self.as_tensor(value)?;
                    match self.aten("logical_not", vec![Value::Tensor(of)], Vec::new(), &[])? {
                        Value::Tensor(name) => Value::Scalar(name),
                        other => other,
                    }
                }
            },
            (
                "warn"
                | "print"
                | "save"
                | "manual_seed"
                | "_record_function_enter"
                | "_record_function_exit",
                _,
            ) => Value::None,
            (
                "is_grad_enabled"
                | "is_autocast_enabled"
                | "is_autocast_cpu_enabled"
                | "is_scripting"
                | "is_tracing",
                _,
            ) => {
                // A frozen module computes no gradients.
                Value::Bool(false)
            }
            ("device", [device @ Value::Text(_), ..]) => *device,
            ("device", []) => Value::Text("cpu"),
            ("type", &[Value::Text(device)]) => Value::Text(device.split(':').next().unwrap_or("cpu")),
            ("unchecked_unwrap_optional" | "_unwrap_optional" | "unchecked_cast", &[value]) => value,
            ("str", &[value]) => {
                let text = self.shown(value)?;
                self.keep(text).map(Value::Text)?
            }
            ("len", &[value]) => Value::Int(self.count(value)? as i64),
            ("__getitem__", &[of, by]) => self.item(of, by)?,
            ("_set_item", &[of, by, value]) => {
                self.set_item(of, by, value)?;
                of
            }
            ("eq" | "ne", &[a, b]) if !self.is_runtime(a) && !self.is_runtime(b) => {
                match self.equal(a, b, 0)? {
                    Some(equal) => Value::Bool(equal == (name == "eq")),
                    None => {
                        let what = "whether lists of tensors are equal is known only at run time";
                        return Err(Refusal::unsupported(what, "compare their shapes"));
                    }
                }
            }
            ("NumToTensor" | "tensor" | "as_tensor", &[value, ..]) => self.made(value, named)?,
            ("Int" | "int" | "Float" | "float" | "Bool" | "bool", &[value]) => {
                match (self.as_kind(name, value), value) {
                    (Some(value), _) => value,
                    (None, Value::Text(text)) => match text.trim().trim_start_matches('+').parse::<f64>() {
                        Ok(number) => self.as_kind(name, Value::Float(number)).unwrap_or(Value::None),
                        Err(_) => return Err(malformed!("{:?} is no number", short(text))),
                    },
                    (None, value) if matches!(name, "Bool" | "bool") => match self.truth(value)? {
                        Some(truth) => Value::Bool(truth),
                        None => value,
                    },
                    (None, value) => return Err(malformed!("{} is no number", self.kind(value))),
                }
            }
            _ => return Ok(None),
        }))
    }

    /// A tensor of known numbers, or of a list of them.
    fn made(&mut self, value: Value<'p>, named: &Named<'p>) -> Lowered<Value<'p>> {
        let dtype: Named<'p> =
            named.iter().filter(|(name, value)| *name == "dtype" && *value != Value::None).copied().collect();
        if self.slice_of(value).is_none() {
            return self.aten("scalar_tensor", vec![value], dtype, &[]);
        }
        let items = self.items(value)?;
        let mut all = Vec::new();
        for item in items {
            let part = match item {
                Value::Tensor(_) => item,
                _ => self.deeper(|machine| machine.made(item, named))?,
            };
            all.push(part);
        }
        let all = self.list(all)?;
        self.aten("stack", vec![all], Vec::new(), &[])
    }

    fn is_runtime(&self, value: Value<'p>) -> bool {
        matches!(value, Value::Tensor(_) | Value::Scalar(_))
    }

    /// Functions of lists, tuples and dictionaries.
    fn of_list(&mut self, name: &'p str, given: &[Value<'p>]) -> Lowered<Option<Value<'p>>> {
        let Some(&first) = given.first() else { return Ok(None) };
        if let Value::Dict(_) = first {
            let pairs = self.pairs(first).unwrap_or_default().to_vec();
            self.spend(pairs.len())?;
            return Ok(Some(match (name, given) {
                ("keys", _) => self.list(pairs.into_iter().map(|(key, _)| key).collect())?,
                ("values", _) => self.list(pairs.into_iter().map(|(_, value)| value).collect())?,
                ("items", _) => {
                    let mut all = Vec::new();
                    for (key, value) in pairs {
                        all.push(self.tuple(vec![key, value])?);
                    }
                    self.list(all)?
                }
                ("__contains__", &[_, key]) => Value::Bool(pairs.iter().any(|(known, _)| *known == key)),
                ("get", &[_, key]) => self.found(&pairs, key, Value::None),
                ("get" | "setdefault", &[_, key, otherwise]) => self.found(&pairs, key, otherwise),
                ("copy", _) => self.dict(pairs)?,
                _ => return Ok(None),
            }));
        }
        if self.slice_of(first).is_none() {
            return Ok(None);
        }
        let is_tuple = matches!(first, Value::Tuple(_));
        Ok(Some(match (name, given) {
            ("list" | "copy", &[list]) => {
                let items = self.items(list)?;
                self.list(items)?
            }
            ("slice", _) => self.part_of(given)?,
            ("add" | "add_", &[_, more]) if self.slice_of(more).is_some() => {
                let mut items = self.items(first)?;
                items.extend(self.items(more)?);
                if is_tuple {
                    self.tuple(items)?
                } else {
                    self.list(items)?
                }
            }
            ("mul", &[_, Value::Int(times)]) => {
                let items = self.items(first)?;
                let times = usize::try_from(times).unwrap_or(0);
                self.spend(items.len().saturating_mul(times))?;
                self.list(items.repeat(times))?
            }
            ("__contains__", &[_, value]) => {
                for item in self.items(first)? {
                    if self.equal(item, value, 0)? == Some(true) {
                        return Ok(Some(Value::Bool(true)));
                    }
                }
                Value::Bool(false)
            }
            ("index", &[_, value]) => {
                for (at, item) in self.items(first)?.into_iter().enumerate() {
                    if self.equal(item, value, 0)? == Some(true) {
                        return Ok(Some(Value::Int(at as i64)));
                    }
                }
                return Err(malformed!("the list has no such element"));
            }
            ("all" | "any", &[list]) => {
                let wanted = name == "any";
                for item in self.items(list)? {
                    match self.truth(item)? {
                        Some(truth) if truth == wanted => return Ok(Some(Value::Bool(wanted))),
                        Some(_) => {}
                        None => return Ok(None),
                    }
                }
                Value::Bool(!wanted)
            }
            ("sum" | "max" | "min" | "prod", &[list]) => {
                let items = self.items(list)?;
                let mut items = items.into_iter();
                let Some(mut all) = items.next() else { return Ok(Some(Value::Int(0))) };
                let of_two = match name {
                    "sum" => "add",
                    "prod" => "mul",
                    other => other,
                };
                for item in items {
                    all = self.function(of_two, vec![all, item], Vec::new(), &[])?;
                }
                all
            }
            ("sorted", &[list]) => {
                let mut items = self.items(list)?;
                if items.iter().any(|&item| self.number(item).is_none()) {
                    return Ok(None);
                }
                items.sort_by(|&a, &b| {
                    let key = |value| self.number(value).unwrap_or(0.0);
                    key(a).total_cmp(&key(b))
                });
                self.list(items)?
            }
            ("zip", _) => {
                let mut all = Vec::new();
                for &list in given {
                    all.push(self.items(list)?);
                }
                let shortest = all.iter().map(Vec::len).min().unwrap_or(0);
                let mut pairs = Vec::new();
                for k in 0..shortest {
                    pairs.push(self.tuple(all.iter().map(|list| list[k]).collect())?);
                }
                self.list(pairs)?
            }
            ("enumerate", &[list]) => {
                let mut pairs = Vec::new();
                for (k, item) in self.items(list)?.into_iter().enumerate() {
                    pairs.push(self.tuple(vec![Value::Int(k as i64), item])?);
                }
                self.list(pairs)?
            }
            ("lt" | "le" | "gt" | "ge", &[_, other]) => {
                let (a, b) = (self.items(first)?, self.items(other)?);
                let numbers = |list: Vec<Value<'p>>| -> Option<Vec<f64>> {
                    list.into_iter().map(|value| self.number(value)).collect()
                };
                let (Some(a), Some(b)) = (numbers(a), numbers(b)) else { return Ok(None) };
                let Some(order) = a.partial_cmp(&b) else { return Ok(Some(Value::Bool(false))) };
                Value::Bool(match name {
                    "lt" => order.is_lt(),
                    "le" => order.is_le(),
                    "gt" => order.is_gt(),
                    _ => order.is_ge(),
                })
            }
            _ => return Ok(None),
        }))
    }

    fn found(&self, pairs: &[(Value<'p>, Value<'p>)], key: Value<'p>, otherwise: Value<'p>) -> Value<'p> {
        pairs.iter().find(|(known, _)| *known == key).map_or(otherwise, |(_, value)| *value)
    }

    /// Functions of known numbers.
    fn of_numbers(&mut self, name: &str, given: &[Value<'p>]) -> Lowered<Option<Value<'p>>> {
        let overflow = || malformed!("an integer is too large");
        let integers = |values: &[Value<'p>]| -> Option<Vec<i64>> {
            let integer = |value: &Value<'p>| match *value {
                Value::Int(number) => Some(number),
                Value::Bool(truth) => Some(truth.into()),
                _ => None,
            };
            values.iter().map(integer).collect()
        };
        if let ("__and__" | "__or__" | "__xor__", &[Value::Bool(a), Value::Bool(b)]) = (name, given) {
            return Ok(Some(Value::Bool(match name {
                "__and__" => a && b,
                "__or__" => a || b,
                _ => a != b,
            })));
        }
        if let Some(numbers) = integers(given) {
            let int = |number: Option<i64>| number.map(Value::Int).ok_or_else(overflow).map(Some);
            let truth = |truth: bool| Ok(Some(Value::Bool(truth)));
            match (name, &*numbers) {
                ("add", &[a, b]) => return int(a.checked_add(b)),
                ("sub", &[a, b]) => return int(a.checked_sub(b)),
                ("mul", &[a, b]) => return int(a.checked_mul(b)),
                ("floordiv" | "floor_divide" | "remainder" | "div", &[_, 0]) => {
                    return Err(malformed!("it divides by zero"));
                }
                ("floordiv" | "floor_divide", &[a, b]) => {
                    let floor = a.checked_div(b).map(|q| q - i64::from(a % b != 0 && (a < 0) != (b < 0)));
                    return int(floor);
                }
                ("remainder", &[a, b]) => {
                    return int(a.checked_rem_euclid(b).map(|r| if r != 0 && b < 0 { r + b } else { r }))
                }
                ("pow", &[a, b]) if b >= 0 => {
                    return int(u32::try_from(b).ok().and_then(|b| a.checked_pow(b)));
                }
                // Where loops begin elsewhere than at 0, or have steps.
                ("__range_length", &[start, end, step]) if step != 0 => {
                    let (gap, step) = match step > 0 {
                        true => (i128::from(end) - i128::from(start), i128::from(step)),
                        false => (i128::from(start) - i128::from(end), -i128::from(step)),
                    };
                    let count = (gap.max(0) + step - 1) / step;
                    return int(i64::try_from(count).ok());
                }
                ("__derive_index", &[at, start, step]) => {
                    return int(at.checked_mul(step).and_then(|at| at.checked_add(start)));
                }
                ("neg", &[a]) => return int(a.checked_neg()),
                ("abs", &[a]) => return int(a.checked_abs()),
                ("max", all) if !all.is_empty() => return int(all.iter().copied().max()),
                ("min", all) if !all.is_empty() => return int(all.iter().copied().min()),
                ("__and__", &[a, b]) => return int(Some(a & b)),
                ("__or__", &[a, b]) => return int(Some(a | b)),
                ("__xor__", &[a, b]) => return int(Some(a ^ b)),
                ("__lshift__", &[a, b]) => {
                    return int(u32::try_from(b)
                        .ok()
                        .filter(|&b| b < 63)
                        .and_then(|b| a.checked_mul(1 << b)));
                }
                ("__rshift__", &[a, b]) => return int(u32::try_from(b).ok().map(|b| a >> b.min(63))),
                ("lt", &[a, b]) => return truth(a < b),
                ("le", &[a, b]) => return truth(a <= b),
                ("gt", &[a, b]) => return truth(a > b),
                ("ge", &[a, b]) => return truth(a >= b),
                ("ceil" | "floor" | "round", &[a]) => return int(Some(a)),
                ("divmod", &[a, b]) if b != 0 => {
                    let r = a.checked_rem_euclid(b).map(|r| if r != 0 && b < 0 { r + b } else { r });
                    let r = r.ok_or_else(overflow)?;
                    let q = a.checked_sub(r).and_then(|a| a.checked_div(b)).ok_or_else(overflow)?;
                    return self.tuple(vec![Value::Int(q), Value::Int(r)]).map(Some);
                }
                _ => {}
            }
        }
        let numbers: Option<Vec<f64>> = given.iter().map(|&value| self.number(value)).collect();
        let Some(numbers) = numbers else { return Ok(None) };
        let whole = |number: f64| Value::Int(number as i64);
        Ok(Some(match (name, &*numbers) {
            ("div", &[_, 0.0]) => return Err(malformed!("it divides by zero")),
            ("add", &[a, b]) => Value::Float(a + b),
            ("sub", &[a, b]) => Value::Float(a - b),
            ("mul", &[a, b]) => Value::Float(a * b),
            ("div" | "truediv", &[a, b]) => Value::Float(a / b),
            ("floordiv" | "floor_divide", &[a, b]) => Value::Float((a / b).floor()),
            ("remainder", &[a, b]) => Value::Float(a - b * (a / b).floor()),
            ("fmod", &[a, b]) => Value::Float(a % b),
            ("pow", &[a, b]) => Value::Float(a.powf(b)),
            ("neg", &[a]) => Value::Float(-a),
            ("abs" | "fabs", &[a]) => Value::Float(a.abs()),
            ("max", &[first, ref rest @ ..]) => Value::Float(rest.iter().copied().fold(first, f64::max)),
            ("min", &[first, ref rest @ ..]) => Value::Float(rest.iter().copied().fold(first, f64::min)),
            ("lt", &[a, b]) => Value::Bool(a < b),
            ("le", &[a, b]) => Value::Bool(a <= b),
            ("gt", &[a, b]) => Value::Bool(a > b),
            ("ge", &[a, b]) => Value::Bool(a >= b),
            ("sqrt", &[a]) => Value::Float(a.sqrt()),
            ("exp", &[a]) => Value::Float(a.exp()),
            ("log", &[a]) => Value::Float(a.ln()),
            ("log", &[a, base]) => Value::Float(a.ln() / base.ln()),
            ("log2", &[a]) => Value::Float(a.log2()),
            ("log10", &[a]) => Value::Float(a.log10()),
            ("log1p", &[a]) => Value::Float(a.ln_1p()),
            ("sin", &[a]) => Value::Float(a.sin()),
            ("cos", &[a]) => Value::Float(a.cos()),
            ("tan", &[a]) => Value::Float(a.tan()),
            ("tanh", &[a]) => Value::Float(a.tanh()),
            ("atan2", &[a, b]) => Value::Float(a.atan2(b)),
            ("ceil", &[a]) => whole(a.ceil()),
            ("floor", &[a]) => whole(a.floor()),
            ("round", &[a]) => whole(a.round_ties_even()),
            ("isnan", &[a]) => Value::Bool(a.is_nan()),
            ("isinf", &[a]) => Value::Bool(a.is_infinite()),
            ("isfinite", &[a]) => Value::Bool(a.is_finite()),
            _ => return Ok(None),
        }))
    }
}
