//! Texts. They are needed for messages, and for what code compares.

use super::{Machine, Value};
use crate::Lowered;
use kiln_ir::DType;
use std::fmt::Write;

/// Longest text that is made.
const LONGEST: usize = 2048;

/// Deepest nesting of a list that is shown.
const DEEPEST: usize = 4;

impl<'p> Machine<'_, 'p> {
    /// A text with values in place of `{}`.
    pub(super) fn formatted(&mut self, given: &[Value<'p>]) -> Lowered<Value<'p>> {
        let Some((&Value::Text(pattern), mut values)) = given.split_first() else {
            return Err(malformed!("a text to format is missing"));
        };
        let mut text = String::new();
        let mut parts = pattern.split("{}");
        text += parts.next().unwrap_or_default();
        for part in parts {
            if let Some((&value, rest)) = values.split_first() {
                self.show(value, &mut text, 0)?;
                values = rest;
            }
            text += part;
            if text.len() > LONGEST {
                break;
            }
        }
        self.keep(text.chars().take(LONGEST).collect()).map(Value::Text)
    }

    /// A value as a text.
    pub(super) fn shown(&mut self, value: Value<'p>) -> Lowered<String> {
        let mut text = String::new();
        self.show(value, &mut text, 0)?;
        Ok(text.chars().take(LONGEST).collect())
    }

    fn show(&mut self, value: Value<'p>, text: &mut String, depth: usize) -> Lowered {
        self.spend(1)?;
        if text.len() > LONGEST || depth > DEEPEST {
            text.push('…');
            return Ok(());
        }
        let (open, close) = match value {
            Value::List(_) => ("[", "]"),
            Value::Tuple(_) => ("(", ")"),
            Value::Text(own) => {
                text.push_str(own);
                return Ok(());
            }
            Value::Bool(truth) => {
                text.push_str(if truth { "True" } else { "False" });
                return Ok(());
            }
            Value::Int(number) => {
                let _ = write!(text, "{number}");
                return Ok(());
            }
            Value::Float(number) => {
                let _ = write!(text, "{number}");
                return Ok(());
            }
            other => {
                text.push_str(self.kind(other));
                return Ok(());
            }
        };
        text.push_str(open);
        for (k, item) in self.items(value)?.into_iter().enumerate() {
            if text.len() > LONGEST {
                break;
            }
            text.push_str(if k > 0 { ", " } else { "" });
            self.show(item, text, depth + 1)?;
        }
        text.push_str(close);
        Ok(())
    }

    /// Functions of texts; none for others.
    pub(super) fn of_text(&mut self, name: &str, given: &[Value<'p>]) -> Lowered<Option<Value<'p>>> {
        let Some(&Value::Text(text)) = given.first() else { return Ok(None) };
        self.spend(text.len() / 16)?;
        let second = match given.get(1) {
            Some(&Value::Text(second)) => second,
            _ => "",
        };
        Ok(Some(match name {
            "format" => self.formatted(given)?,
            "percentFormat" => Value::Text(text),
            "add" => {
                let whole = format!("{text}{second}");
                self.keep(whole.chars().take(LONGEST).collect()).map(Value::Text)?
            }
            "startswith" => Value::Bool(text.starts_with(second)),
            "endswith" => Value::Bool(text.ends_with(second)),
            "__contains__" => Value::Bool(text.contains(second)),
            "lower" => self.keep(text.to_lowercase()).map(Value::Text)?,
            "upper" => self.keep(text.to_uppercase()).map(Value::Text)?,
            "strip" => Value::Text(text.trim()),
            "lt" => Value::Bool(text < second),
            "gt" => Value::Bool(text > second),
            "split" => {
                let parts: Vec<Value<'p>> = match second {
                    "" => text.split_whitespace().map(Value::Text).collect(),
                    by => text.split(by).map(Value::Text).collect(),
                };
                self.list(parts)?
            }
            "join" => {
                let mut parts = Vec::new();
                for part in given.get(1).map_or(Ok(Vec::new()), |&all| self.items(all))? {
                    parts.push(self.shown(part)?);
                }
                let whole = parts.join(text);
                self.keep(whole.chars().take(LONGEST).collect()).map(Value::Text)?
            }
            _ => return Ok(None),
        }))
    }
}

/// The number that PyTorch's code has for an element type.
pub(super) fn number_of(dtype: DType) -> i64 {
    match dtype {
        DType::U8 => 0,
        DType::I8 => 1,
        DType::I16 => 2,
        DType::I32 => 3,
        DType::I64 => 4,
        DType::Bool => 11,
        _ => 6,
    }
}
