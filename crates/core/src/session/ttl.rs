//! How long a session lives without being used.

use std::{fmt, num::NonZeroU64, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::{number, time::Timestamp};

/// How long a session lives without being used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ttl {
    /// It never expires.
    #[default]
    Never,
    /// It expires after this many seconds.
    #[serde(untagged)]
    Seconds(NonZeroU64),
}

/// The units of durations: each with its name and its seconds, the largest first.
const UNITS: [(char, &str, u64); 4] =
    [('d', "day", 24 * 60 * 60), ('h', "hour", 60 * 60), ('m', "minute", 60), ('s', "second", 1)];

impl Ttl {
    /// 24 hours: how long sessions live that are made at a server.
    pub const DAY: Self = match NonZeroU64::new(24 * 60 * 60) {
        Some(seconds) => Self::Seconds(seconds),
        None => Self::Never,
    };

    /// When a session that is used at `now` expires. Years do not overflow.
    pub fn expires_at(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Seconds(seconds) => Some(now.plus_seconds(i64::try_from(seconds.get()).unwrap_or(i64::MAX))),
            Self::Never => None,
        }
    }
}

/// A text that is no time to live.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a time to live: use a whole number of seconds above 0, a duration such as 90d, 36h or 15m, or \"never\""
)]
pub struct BadTtl(String);

impl FromStr for Ttl {
    type Err = BadTtl;

    fn from_str(text: &str) -> Result<Self, BadTtl> {
        if text == "never" {
            return Ok(Self::Never);
        }
        let unit = UNITS.iter().find_map(|(unit, _, seconds)| Some((text.strip_suffix(*unit)?, *seconds)));
        let (number, unit) = unit.unwrap_or((text, 1));
        let seconds = number.parse::<NonZeroU64>().ok().and_then(|number| number.checked_mul(NonZeroU64::new(unit)?));
        seconds.map(Self::Seconds).ok_or_else(|| BadTtl(text.to_owned()))
    }
}

/// For people: `24 hours`, `90 seconds`, `never`.
impl fmt::Display for Ttl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Seconds(seconds) = self else { return f.write_str("never") };
        // A day is said as 24 hours, two days as 2 days.
        let seconds = seconds.get();
        let fits = |(_, _, unit): &&(char, &str, u64)| seconds % unit == 0 && (*unit < 86_400 || seconds > *unit);
        let (_, name, unit) = UNITS.iter().find(fits).copied().unwrap_or(('s', "second", 1));
        let number = seconds / unit;
        write!(f, "{number} {name}{}", if number == 1 { "" } else { "s" })
    }
}

impl<'de> Deserialize<'de> for Ttl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => text.parse().map_err(de::Error::custom),
            value => {
                let seconds = number::whole(&value).ok().and_then(NonZeroU64::new);
                seconds.map(Self::Seconds).ok_or_else(|| de::Error::custom(BadTtl(value.to_string())))
            }
        }
    }
}

#[cfg(feature = "schema")]
#[allow(dead_code, reason = "these types are read by the OpenAPI document alone")]
mod schema {
    use utoipa::ToSchema;

    use super::Ttl;
    use crate::same_schema;

    same_schema! {
        Ttl as TtlForm;
    }

    /// A number of seconds above 0, a duration such as `90d`, `36h` or `15m`, or `never`.
    #[derive(ToSchema)]
    #[serde(untagged)]
    #[schema(as = Ttl)]
    enum TtlForm {
        Seconds(Seconds),
        Duration(Duration),
        Never(Never),
    }

    #[derive(ToSchema)]
    #[schema(pattern = "^[1-9][0-9]{0,9}[smhd]$")]
    struct Duration(String);

    #[derive(ToSchema)]
    #[schema(minimum = 1)]
    struct Seconds(u64);

    #[derive(ToSchema)]
    #[serde(rename_all = "snake_case")]
    enum Never {
        Never,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_to_live_is_seconds_a_duration_or_never() {
        let shown = |text: &str| text.parse::<Ttl>().map(|ttl| ttl.to_string());
        for (text, shown_as) in [
            ("never", "never"),
            ("60", "1 minute"),
            ("61s", "61 seconds"),
            ("15m", "15 minutes"),
            ("36h", "36 hours"),
            ("24h", "24 hours"),
            ("1d", "24 hours"),
            ("90d", "90 days"),
        ] {
            assert_eq!(shown(text).as_deref(), Ok(shown_as), "{text}");
            let json = serde_json::to_string(&text.parse::<Ttl>().unwrap()).unwrap();
            assert_eq!(serde_json::from_str::<Ttl>(&json).unwrap(), text.parse().unwrap());
            assert_eq!(serde_json::from_str::<Ttl>(&format!("{text:?}")).unwrap(), text.parse().unwrap());
        }
        for wrong in ["", "0", "0d", "-1", "1.5h", "1w", "h", "soon", "999999999999999999d"] {
            assert!(shown(wrong).is_err(), "{wrong}");
        }
        for wrong in ["0", "-1", "1.5", "null", "[]"] {
            assert!(serde_json::from_str::<Ttl>(wrong).is_err(), "{wrong}");
        }
    }
}
