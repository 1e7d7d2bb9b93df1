//! Prices of models, as the operator of a server states them.

use std::collections::BTreeMap;

use callboard_core::count::Usage;
use serde::Deserialize;

/// What models cost. A million tokens is the unit of all prices.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// The currency of all of them, such as `USD`.
    pub currency: String,
    /// The prices by the names of models, such as `openai:gpt-4o`; a name without a provider is of any provider.
    pub models: BTreeMap<String, Price>,
}

/// What a model costs.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// A million tokens of prompts.
    pub prompt: f64,
    /// A million tokens of answers.
    pub completion: f64,
    /// A million tokens of prompts that the provider had in its cache. Providers' reports of these are not recorded yet, so that all
    /// tokens of prompts count as new.
    #[serde(default)]
    pub cached_prompt: Option<f64>,
}

impl Prices {
    /// What is wrong with them, if anything.
    pub fn fault(&self) -> Option<String> {
        let is_currency = self.currency.len() == 3 && self.currency.bytes().all(|byte| byte.is_ascii_uppercase());
        if !is_currency {
            return Some(format!("currency: write three capital letters such as \"USD\", not {:?}", self.currency));
        }
        let is_wrong = |price: f64| !price.is_finite() || price < 0.0;
        for (model, Price { prompt, completion, cached_prompt }) in &self.models {
            let cached_prompt = cached_prompt.unwrap_or_default();
            let prices = [("prompt", *prompt), ("completion", *completion), ("cached_prompt", cached_prompt)];
            if let Some((field, _)) = prices.into_iter().find(|(_, price)| is_wrong(*price)) {
                return Some(format!("models.{model:?}.{field}: write a number of 0 or more"));
            }
        }
        None
    }

    /// What `usage` of a model costs, where its price is known.
    pub(crate) fn of(&self, model: &str, usage: Usage) -> Option<f64> {
        let bare = model.split_once(':').map_or(model, |(_, name)| name);
        let price = self.models.get(model).or_else(|| self.models.get(bare))?;
        #[allow(clippy::cast_precision_loss, reason = "no model takes more tokens than a float counts exactly")]
        let millions = |tokens: u64| tokens as f64 / 1e6;
        Some(millions(usage.prompt_tokens) * price.prompt + millions(usage.completion_tokens) * price.completion)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prices() -> Prices {
        serde_json::from_value(serde_json::json!({
            "currency": "USD",
            "models": {"openai:gpt-4o": {"prompt": 2.5, "completion": 10}, "small": {"prompt": 0.1, "completion": 0.2}},
        }))
        .unwrap()
    }

    #[test]
    fn a_price_is_that_of_the_model_with_its_provider_or_without() {
        let usage = Usage { prompt_tokens: 1_000_000, completion_tokens: 500_000 };
        assert_eq!(prices().of("openai:gpt-4o", usage), Some(7.5));
        assert_eq!(prices().of("any:small", usage), Some(0.2));
        assert_eq!(prices().of("gpt-4o", usage), None);
    }

    #[test]
    fn prices_that_are_none_are_named() {
        assert_eq!(prices().fault(), None);
        let wrong = Prices { currency: "dollars".to_owned(), ..prices() };
        assert!(wrong.fault().unwrap().starts_with("currency: "));
        let mut wrong = prices();
        wrong.models.get_mut("small").unwrap().prompt = -1.0;
        assert_eq!(wrong.fault().unwrap(), "models.\"small\".prompt: write a number of 0 or more");
    }
}
