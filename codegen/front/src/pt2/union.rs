//! The unions of torch's schema: objects with one key, which says what the value is. Keys of later versions are kept by name.

use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::Deserialize;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// What an object with one key means.
pub(super) trait Union: Sized {
    /// The meaning of the value behind a key.
    fn of<'de, A: MapAccess<'de>>(key: &str, map: &mut A) -> Result<Self, A::Error>;
}

/// Reads a union.
pub(super) struct Reader<T>(pub(super) PhantomData<T>);

impl<'de, T: Union> Visitor<'de> for Reader<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with one key")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let key: Cow<'de, str> = map.next_key()?.ok_or_else(|| A::Error::custom("an object has no key"))?;
        let value = T::of(&key, &mut map)?;
        // Old versions write all keys, of which the others are null.
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(value)
    }
}

/// Lets serde read a union.
macro_rules! deserialize {
    ($($union:ty),*) => {$(
        impl<'de> serde::Deserialize<'de> for $union {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_map($crate::pt2::union::Reader(std::marker::PhantomData))
            }
        }
    )*};
}
pub(super) use deserialize;

/// Leaves out a value.
pub(super) fn skip<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    map.next_value::<IgnoredAny>().map(|_| ())
}

/// A float, which is a text where JSON has no number for it.
pub(super) struct Float(pub(super) f64);

impl<'de> Deserialize<'de> for Float {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfFloat;
        impl Visitor<'_> for OfFloat {
            type Value = Float;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<Float, E> {
                Ok(Float(number))
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Float, E> {
                Ok(Float(number as f64))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Float, E> {
                Ok(Float(number as f64))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Float, E> {
                text.parse().map(Float).map_err(|_| E::custom(format!("{text:?} is no number")))
            }
        }
        deserializer.deserialize_any(OfFloat)
    }
}
