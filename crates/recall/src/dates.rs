//! Dates that a question names, and how near to them something was said.

use std::sync::LazyLock;

use callboard_core::time::Timestamp;
use jiff::{civil::Date, tz::TimeZone};
use regex::Regex;

/// What a match with a date is worth.
const WORTH: f32 = 3.0;

/// After so many days, what a near date is worth falls to a third.
const FADE_DAYS: f32 = 5.0;

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

const MONTH: &str = "(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|\
    oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";

/// Ways to write a day, and a month.
static FORMS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let forms = [
        r"\b(?P<year>\d{4})-(?P<number>\d{1,2})-(?P<day>\d{1,2})\b".to_owned(),
        format!(r"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+{MONTH}\b\.?(?:,?\s+(?P<year>\d{{4}})\b)?"),
        format!(r"\b{MONTH}\b\.?\s+(?:the\s+)?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<year>\d{{4}})\b)?"),
        format!(r"\b{MONTH}\b\.?,?\s+(?P<year>\d{{4}})\b"),
        format!(r"\b(?:in|on|of|during|since|last|this|early|late|mid)[\s-]+(?P<sure>{})\b", "may|march|mar"),
        format!(r"\b{}\b", MONTH.replace("|may", "").replace("mar(?:ch)?|", "")),
    ];
    forms.iter().filter_map(|form| Regex::new(form).ok()).collect()
});

/// A day or a month, with or without its year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    year: Option<i16>,
    month: i8,
    day: Option<i8>,
}

/// The dates that a question names.
pub(crate) fn dates(question: &str) -> Vec<Named> {
    let mut rest = question.to_lowercase();
    let mut dates = Vec::new();
    for form in FORMS.iter() {
        let mut taken = Vec::new();
        for found in form.captures_iter(&rest) {
            let number = |name| found.name(name).and_then(|text| text.as_str().parse::<i16>().ok());
            let month = found.name("month").or_else(|| found.name("sure")).and_then(|name| month(name.as_str()));
            let Some(month) = month.or_else(|| number("number").and_then(|month| i8::try_from(month).ok())) else {
                continue;
            };
            let day = number("day").and_then(|day| i8::try_from(day).ok());
            let named = Named { year: number("year"), month, day };
            if named.in_year(2000).is_some() {
                dates.push(named);
                taken.extend(found.get(0).map(|whole| whole.range()));
            }
        }
        for range in taken {
            rest.replace_range(range.clone(), &" ".repeat(range.len()));
        }
    }
    dates
}

fn month(name: &str) -> Option<i8> {
    let number = MONTHS.iter().position(|month| name.starts_with(month))?;
    i8::try_from(number + 1).ok()
}

impl Named {
    /// Its first and its last day, where the year is not named in `year`.
    fn in_year(self, year: i16) -> Option<(Date, Date)> {
        let year = self.year.unwrap_or(year);
        match self.day {
            Some(day) => Date::new(year, self.month, day).ok().map(|day| (day, day)),
            None => Date::new(year, self.month, 1).ok().map(|first| (first, first.last_of_month())),
        }
    }

    fn nearness(self, day: Date) -> f32 {
        let Some((first, last)) = self.in_year(day.year()) else { return 0.0 };
        let days = |from: Date, to: Date| (to - from).get_days().unsigned_abs();
        let fade = |days: u32| (-f32::from(u16::try_from(days).unwrap_or(u16::MAX)) / FADE_DAYS).exp();
        match self.day {
            _ if first <= day && day <= last => 1.0,
            Some(_) if day > last => 0.5 * fade(days(last, day)),
            Some(_) => 0.3 * fade(days(day, first)),
            None if day > last => 0.8 * fade(days(last, day)),
            None => 0.0,
        }
    }
}

/// What it is worth that something was said at this time; the best of all dates counts.
pub(crate) fn worth(dates: &[Named], time: Timestamp) -> f32 {
    if dates.is_empty() {
        return 0.0;
    }
    let Ok(time) = jiff::Timestamp::from_millisecond(time.as_millis()) else { return 0.0 };
    let day = time.to_zoned(TimeZone::UTC).date();
    WORTH * dates.iter().map(|named| named.nearness(day)).fold(0.0, f32::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(question: &str) -> String {
        let named = dates(question).into_iter().map(|named| {
            let part = |part: Option<i16>| part.map_or("-".to_owned(), |part| part.to_string());
            format!("{}/{}/{}", part(named.year), named.month, part(named.day.map(i16::from)))
        });
        named.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn dates_are_read_in_the_ways_people_write_them() {
        assert_eq!(days("What happened on 8 May 2023, and on June 3rd?"), "2023/5/8 -/6/3");
        assert_eq!(days("on the 5th of March, 2024-01-02, Sept. 9, 2022"), "2024/1/2 -/3/5 2022/9/9");
        assert_eq!(days("in May; during October 2023; since last december"), "2023/10/- -/5/- -/12/-");
        assert_eq!(days("May I march? It may rain. 31 February"), "-/2/-");
    }

    #[test]
    fn what_was_said_on_the_day_is_worth_most() {
        let named = dates("on 8 May 2023");
        let at = |text: &str| (worth(&named, text.parse().unwrap()) * 100.0).round() / 100.0;
        assert_eq!(at("2023-05-08T23:00:00Z"), 3.0);
        assert_eq!(at("2023-05-13T01:00:00Z"), 0.55);
        assert_eq!(at("2023-05-03T01:00:00Z"), 0.33);
        assert_eq!(at("2024-05-08T01:00:00Z"), 0.0);
    }
}
