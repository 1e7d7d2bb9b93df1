//! The file with the prices of models.

use std::path::Path;

use callboard_server::Prices;

use crate::{failure::Failure, terminal};

/// How such a file looks.
const EXAMPLE: &str = "write it as TOML, prices for a million tokens: currency = \"USD\", then for each model \
    [models.\"openai:gpt-4o\"], prompt = 2.5, completion = 10; or the same as JSON";

/// Reads prices from a file: JSON where its name ends so, else TOML.
pub(super) fn read(path: &Path) -> Result<Prices, Failure> {
    let failed = |what: String| {
        Failure::failed("invalid", format!("{} is no file for --prices: {what}", path.display())).hint(EXAMPLE)
    };
    let text = terminal::file(path)?;
    let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let prices = parse(&text, is_json).map_err(failed)?;
    prices.fault().map_or(Ok(prices), |fault| Err(failed(fault)))
}

/// Each message says in which line something is wrong.
fn parse(text: &str, is_json: bool) -> Result<Prices, String> {
    match is_json {
        true => serde_json::from_str(text).map_err(|error| error.to_string()),
        false => toml::from_str(text).map_err(|error: toml::de::Error| error.to_string().trim_end().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_read_says_in_which_line() {
        let error = parse("currency = \"USD\"\n[models.small]\nprompt = 1\ncompletion = \"two\"\n", false).unwrap_err();
        assert!(error.contains("line 4"), "{error}");
        let error = parse("{\"currency\": \"USD\",\n\"models\": {\"small\": {\"promt\": 1}}}", true).unwrap_err();
        assert!(error.contains("line 2") && error.contains("promt"), "{error}");
    }
}
