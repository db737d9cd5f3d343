//! The configuration of a model: JSON as a tree. What only training needs is left out.

use crate::json::{Json, Parsed};

/// How deep lists and objects may be nested.
const DEEPEST: usize = 96;

/// Ends of keys that only training needs.
const LEFT_OUT: [&str; 3] = ["_initializer", "_regularizer", "_constraint"];

/// A value of JSON.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Box<str>),
    List(Vec<Value>),
    Object(Vec<(Box<str>, Value)>),
}

/// What stands for a key that is not there.
static NOTHING: Value = Value::Null;

impl Value {
    pub(super) fn read(json: &mut Json<'_>) -> Parsed<Value> {
        Value::nested(json, DEEPEST)
    }

    fn nested(json: &mut Json<'_>, most: usize) -> Parsed<Value> {
        let Some(most) = most.checked_sub(1) else {
            return json.broken("lists and objects are nested too deep");
        };
        Ok(match json.peek() {
            Some(b'{') => {
                let mut object = Vec::new();
                json.object(|key, json| {
                    if LEFT_OUT.iter().any(|end| key.ends_with(end)) {
                        return json.skip();
                    }
                    json.charge(2 * size_of::<(Box<str>, Value)>() + key.len())?;
                    object.push((key.into(), Value::nested(json, most)?));
                    Ok(())
                })?;
                object.shrink_to_fit();
                Value::Object(object)
            }
            Some(b'[') => {
                let mut list = json.list(|json| Value::nested(json, most))?;
                list.shrink_to_fit();
                Value::List(list)
            }
            Some(b'"') => Value::Text(json.text()?.into()),
            _ => match json.word() {
                "null" => Value::Null,
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                word => match (word.parse(), word.parse()) {
                    (Ok(int), _) => Value::Int(int),
                    (_, Ok(float)) => Value::Float(float),
                    _ => return json.broken("a value is wanted"),
                },
            },
        })
    }

    /// The value of a key; null where there is none.
    pub(super) fn get(&self, key: &str) -> &Value {
        let Value::Object(object) = self else { return &NOTHING };
        object.iter().find(|(own, _)| &**own == key).map_or(&NOTHING, |(_, value)| value)
    }

    pub(super) fn is_null(&self) -> bool {
        *self == Value::Null
    }

    pub(super) fn has(&self, key: &str) -> bool {
        !self.get(key).is_null()
    }

    /// A text; empty for anything else.
    pub(super) fn text(&self) -> &str {
        match self {
            Value::Text(text) => text,
            _ => "",
        }
    }

    /// The elements of a list; none for anything else.
    pub(super) fn list(&self) -> &[Value] {
        match self {
            Value::List(list) => list,
            _ => &[],
        }
    }

    pub(super) fn entries(&self) -> &[(Box<str>, Value)] {
        match self {
            Value::Object(object) => object,
            _ => &[],
        }
    }

    pub(super) fn int(&self) -> Option<i64> {
        match *self {
            Value::Int(int) => Some(int),
            Value::Bool(truth) => Some(truth.into()),
            // Some files have whole numbers as floats.
            Value::Float(float) if float.fract() == 0.0 && float.abs() < 1e15 => Some(float as i64),
            _ => None,
        }
    }

    pub(super) fn float(&self) -> Option<f64> {
        match *self {
            Value::Float(float) => Some(float),
            Value::Int(int) => Some(int as f64),
            Value::Bool(truth) => Some(u8::from(truth).into()),
            _ => None,
        }
    }

    pub(super) fn flag(&self, otherwise: bool) -> bool {
        self.int().map_or(otherwise, |int| int != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Value> {
        let mut json = Json::new(text.as_bytes());
        let value = Value::read(&mut json).ok()?;
        json.ends().then_some(value)
    }

    #[test]
    fn values() {
        let value = read("{\"a\": [1, 2.5, true, null, \"x\"], \"kernel_initializer\": {\"b\": 1}}").unwrap();
        assert_eq!(value.entries().len(), 1);
        let list = value.get("a").list();
        assert_eq!((list[0].int(), list[1].float(), list[2].flag(false)), (Some(1), Some(2.5), true));
        assert!(list[3].is_null() && list[4].text() == "x" && value.get("b").is_null());
        assert_eq!(read("-Infinity").and_then(|value| value.float()), Some(f64::NEG_INFINITY));
    }

    #[test]
    fn bounded() {
        assert!(read(&"[".repeat(1000)).is_none());
        assert!(read("{\"a\": }").is_none() && read("").is_none() && read("[1").is_none());
    }
}
