//! Queries: numbers, times and lists, which are texts in a URL; and how optional fields are read.

use callboard_core::time::{BadTime, Timestamp};
use serde::{Deserialize, Deserializer, de::Error};
use utoipa::IntoParams;

/// Selects a page of a list that is sorted by name.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// The most items to return. If absent: all.
    #[serde(default, deserialize_with = "number")]
    #[param(value_type = Option<u64>, minimum = 0)]
    pub limit: Option<usize>,
    /// The `next_cursor` of the previous page. If absent: the first page.
    #[param(pattern = "^([0-9a-f]{2})+$")]
    pub cursor: Option<String>,
}

/// Selects a page of a list that is sorted by name, as of an entry.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageAtQuery {
    /// The most items to return. If absent: all.
    #[serde(default, deserialize_with = "number")]
    #[param(value_type = Option<u64>, minimum = 0)]
    pub limit: Option<usize>,
    /// The `next_cursor` of the previous page. If absent: the first page.
    #[param(pattern = "^([0-9a-f]{2})+$")]
    pub cursor: Option<String>,
    /// As of this entry. If absent: as of now. Only the user may set it.
    #[serde(default, deserialize_with = "number")]
    #[param(minimum = 1)]
    pub at: Option<u64>,
}

/// Selects an entry as of which something is read.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AtQuery {
    /// As of this entry. If absent: as of now. Only the user may set it.
    #[serde(default, deserialize_with = "number")]
    #[param(minimum = 1)]
    pub at: Option<u64>,
}

/// The words of a list that is separated by commas.
pub fn words(list: Option<&str>) -> impl Iterator<Item = &str> {
    list.unwrap_or_default().split(',').map(str::trim).filter(|word| !word.is_empty())
}

/// The whole number in a text of a URL or header; `5.0` is one.
pub fn whole<T: TryFrom<i128>>(text: &str) -> Option<T> {
    let float = || text.parse().ok().and_then(callboard_core::number::of_float);
    let number = Some(text).filter(|text| !text.starts_with('+'))?.parse().ok().or_else(float)?;
    T::try_from(number).ok()
}

/// A list; an empty one where it is null.
pub(crate) fn list_or_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    Option::<Vec<T>>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Reads a number from the text of a query.
pub(crate) fn number<'de, D: Deserializer<'de>, T: TryFrom<i128>>(deserializer: D) -> Result<Option<T>, D::Error> {
    let text: Option<String> = Deserialize::deserialize(deserializer)?;
    let read = |text: String| {
        let wrong = || D::Error::custom(format!("{text:?} is not a whole number of 0 or more"));
        whole(&text).ok_or_else(wrong)
    };
    text.map(read).transpose()
}

/// Reads `true` or `false` from the text of a query.
pub(crate) fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(|_| D::Error::custom(format!("{text:?} is not `true` or `false`")))
}

/// Reads a time from the text of a query: RFC 3339, or milliseconds since 1970.
pub(crate) fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    let text: Option<String> = Deserialize::deserialize(deserializer)?;
    text.map(|text| read_time(&text).map_err(D::Error::custom)).transpose()
}

/// Reads a time: RFC 3339, or milliseconds since 1970.
pub fn read_time(text: &str) -> Result<Timestamp, BadTime> {
    match whole(text) {
        Some(number) => Timestamp::from_number(number),
        None => text.parse(),
    }
}
