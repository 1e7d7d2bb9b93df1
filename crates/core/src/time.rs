//! Points in time. `core` never looks at a clock: its callers pass the time in.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::number::Whole;

/// A point in time in milliseconds since 1970-01-01 UTC. Written in RFC 3339; numbers of milliseconds or seconds are read too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// A time as it may be given. Schemas know it from other [`Timestamp`]s by its name: those are written in RFC 3339.
pub type GivenTime = Timestamp;

/// A text that is not a time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a time: use RFC 3339, for instance 2025-01-18T14:30:22.000Z, or milliseconds or seconds since 1970"
)]
pub struct BadTime(String);

/// A number below this is seconds, not milliseconds.
const SECONDS_BELOW: u64 = 100_000_000_000;

impl Timestamp {
    /// The time `ms` milliseconds after 1970-01-01 UTC; one outside the years -9999 to 9999 is refused.
    pub fn from_millis(ms: i64) -> Result<Self, BadTime> {
        jiff::Timestamp::from_millisecond(ms).map(|_| Self(ms)).map_err(|_| BadTime(ms.to_string()))
    }

    /// The time of a number that somebody wrote: seconds where it is below 10^11, which as milliseconds would be before March
    /// 1973, else milliseconds.
    pub fn from_number(number: i64) -> Result<Self, BadTime> {
        let is_seconds = number.unsigned_abs() < SECONDS_BELOW;
        Self::from_millis(if is_seconds { number.saturating_mul(1000) } else { number })
    }

    /// The same; where it would be outside of the calendar, the end of that.
    pub fn nearest(ms: i64) -> Self {
        Self(ms.clamp(jiff::Timestamp::MIN.as_second() * 1000, jiff::Timestamp::MAX.as_second() * 1000))
    }

    /// Milliseconds since 1970-01-01 UTC.
    pub fn as_millis(self) -> i64 {
        self.0
    }

    /// This time moved by `seconds`; what would leave the calendar stays at its end.
    pub fn plus_seconds(self, seconds: i64) -> Self {
        Self::nearest(self.0.saturating_add(seconds.saturating_mul(1000)))
    }

    /// `YYYYMMDD-HHMMSS` in UTC, as session ids begin.
    pub fn compact(self) -> String {
        self.jiff().strftime("%Y%m%d-%H%M%S").to_string()
    }

    #[expect(clippy::expect_used, reason = "another time in its place would be false")]
    fn jiff(self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.0).expect("each way to make a time keeps it within the calendar")
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.jiff())
    }
}

impl FromStr for Timestamp {
    type Err = BadTime;

    fn from_str(text: &str) -> Result<Self, BadTime> {
        let time: jiff::Timestamp = text.parse().map_err(|_| BadTime(text.chars().take(60).collect()))?;
        Ok(Self(time.as_millisecond()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a time in RFC 3339, or a number of milliseconds or seconds")]
        enum Form {
            Text(String),
            Whole(Whole),
            Seconds(f64),
        }
        match Form::deserialize(deserializer)? {
            Form::Text(text) => text.parse().map_err(de::Error::custom),
            Form::Whole(number) => Self::from_number(number.read()?).map_err(de::Error::custom),
            Form::Seconds(seconds) => {
                let milliseconds = (seconds * 1000.0).round();
                let whole = crate::number::of_float(milliseconds).and_then(|whole| i64::try_from(whole).ok());
                let is_seconds = |whole: &i64| whole.unsigned_abs() < SECONDS_BELOW.saturating_mul(1000);
                let time = whole.filter(is_seconds).map(Self::from_millis).and_then(Result::ok);
                time.ok_or_else(|| de::Error::custom(BadTime(seconds.to_string())))
            }
        }
    }
}

#[cfg(feature = "schema")]
#[allow(dead_code, reason = "these types are read by the OpenAPI document alone")]
mod schema {
    use utoipa::ToSchema;

    use super::Timestamp;
    use crate::same_schema;

    same_schema! {
        Timestamp as Time;
    }

    /// A time: RFC 3339, or milliseconds since 1970.
    #[derive(ToSchema)]
    #[serde(untagged)]
    enum Time {
        Text(Rfc3339),
        Milliseconds(Milliseconds),
    }

    #[derive(ToSchema)]
    #[schema(format = DateTime)]
    struct Rfc3339(String);

    #[derive(ToSchema)]
    #[schema(minimum = -300_000_000_000_000_i64, maximum = 250_000_000_000_000_i64)]
    struct Milliseconds(i64);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_rfc_3339_with_milliseconds_and_read_back() {
        let time = Timestamp::from_millis(1_737_210_622_007).unwrap();
        assert_eq!(serde_json::to_string(&time).unwrap(), "\"2025-01-18T14:30:22.007Z\"");
        assert_eq!(serde_json::from_str::<Timestamp>("\"2025-01-18T14:30:22.007Z\"").unwrap(), time);
        assert_eq!(serde_json::from_str::<Timestamp>("\"2025-01-18T15:30:22.007+01:00\"").unwrap(), time);
        assert_eq!(serde_json::from_str::<Timestamp>("1737210622007").unwrap(), time);
    }

    #[test]
    fn numbers_below_a_hundred_billion_are_seconds() {
        let read = |text| serde_json::from_str::<Timestamp>(text).unwrap().to_string();
        assert_eq!(read("1737210622"), "2025-01-18T14:30:22.000Z");
        assert_eq!(read("1737210622.5"), "2025-01-18T14:30:22.500Z");
        assert_eq!(read("99999999999"), "5138-11-16T09:46:39.000Z");
        assert_eq!(read("100000000000"), "1973-03-03T09:46:40.000Z");
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in ["\"yesterday\"", "\"2025-13-01T00:00:00Z\"", "9223372036854775807", "true"] {
            assert!(serde_json::from_str::<Timestamp>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn years_do_not_overflow() {
        let time = Timestamp::from_millis(0).unwrap().plus_seconds(i64::MAX);
        assert_eq!(time.to_string(), "9999-12-30T22:00:00.000Z");
    }
}
