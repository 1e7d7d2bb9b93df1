//! Whole numbers in requests. To JSON Schema `5.0` is the same as `5`, and many programs write it so.

use std::fmt;

use serde::{Deserialize, Deserializer, de};

/// Reads a whole number, also one written as `5.0`.
///
/// # Errors
/// A number that is not whole, or does not fit into `T`, is refused.
pub fn whole<'de, D: Deserializer<'de>, T: TryFrom<i128>>(deserializer: D) -> Result<T, D::Error> {
    Whole::deserialize(deserializer)?.read()
}

/// The same for a number that may be absent.
///
/// # Errors
/// A number that is not whole, or does not fit into `T`, is refused.
pub fn whole_or_none<'de, D: Deserializer<'de>, T: TryFrom<i128>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Option::<Whole>::deserialize(deserializer)?.map(Whole::read).transpose()
}

/// A float as a whole number.
pub fn of_float(float: f64) -> Option<i128> {
    #[allow(clippy::cast_possible_truncation, reason = "it is whole, and in range")]
    let whole = |float: f64| float as i128;
    Some(float).filter(|float| float.fract() == 0.0 && float.abs() < 1e30).map(whole)
}

/// A number in any form that JSON has.
pub(crate) struct Whole(i128);

impl Whole {
    pub(crate) fn read<T: TryFrom<i128>, E: de::Error>(self) -> Result<T, E> {
        T::try_from(self.0).map_err(|_| E::custom(format!("the number {} is out of range", self.0)))
    }
}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reading)
    }
}

struct Reading;

impl de::Visitor<'_> for Reading {
    type Value = Whole;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number")
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Whole, E> {
        Ok(Whole(number.into()))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Whole, E> {
        Ok(Whole(number.into()))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Whole, E> {
        of_float(number).map(Whole).ok_or_else(|| E::invalid_value(de::Unexpected::Float(number), &self))
    }
}

#[cfg(test)]
mod tests {
    use crate::{count::Tokens, limits::Limits, prompt::profile::Profile, session::Ttl, time::Timestamp};

    #[test]
    fn a_whole_number_may_be_written_with_a_fraction_of_nothing() {
        let limits: Limits = serde_json::from_str(r#"{"turns": 5.0, "tokens": 1e3, "seconds": null}"#).unwrap();
        assert_eq!(limits, Limits { turns: Some(5), tokens: Some(1000), seconds: None, pages: None });
        let profile = r#"{"budget": 10.0, "parts": {"task": {"min": 1.0, "priority": -2.0}}}"#;
        let plain = r#"{"budget": 10, "parts": {"task": {"min": 1, "priority": -2}}}"#;
        let read = |json| serde_json::from_str::<Profile>(json).unwrap();
        assert_eq!(read(profile), read(plain));
        assert_eq!(serde_json::from_str::<Tokens>("7.0").unwrap(), Tokens(7));
        assert_eq!(serde_json::from_str::<Ttl>("7.0").unwrap(), serde_json::from_str("7").unwrap());
        assert_eq!(serde_json::from_str::<Timestamp>("-7.0").unwrap().as_millis(), -7000);
    }

    #[test]
    fn what_is_no_whole_number_in_range_is_refused() {
        for wrong in ["5.5", "-1", "-1.0", "1e300", "18446744073709551616", "\"5\"", "true", "[]"] {
            assert!(serde_json::from_str::<Tokens>(wrong).is_err(), "{wrong}");
        }
        assert_eq!(serde_json::from_str::<Tokens>("18446744073709551615").unwrap(), Tokens(u64::MAX));
    }
}
