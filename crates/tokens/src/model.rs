//! What is known about models, by their names.

use Vocabulary::{Cl100kBase, DeepseekV3, Llama3, O200kBase, Qwen2, Tekken};
use callboard_core::count::TokenCounter;

use crate::{Vocabulary, counter, upper_bound};

/// The counter for `model`: exact if its vocabulary is known and part of the binary, else the [`upper_bound`].
///
/// The name may have a provider, an owner or a folder before it and a tag after it: `openai:gpt-4o`,
/// `Qwen/Qwen2.5-Coder-1.5B-Instruct`, `models/qwen2.5-0.5b-instruct-q4_k_m.gguf`, `llama3.1:8b`. Case does not matter.
/// A name that stands for changing models, such as `qwen-max`, is unknown.
pub fn for_model(model: &str) -> &'static dyn TokenCounter {
    find(model).and_then(|family| family.vocabulary).map_or_else(upper_bound, counter)
}

/// How many tokens `model` can read and write together, as its vendor states; if that depends on the size of the model or on
/// settings, the lowest number. `None` if it is unknown. Names are read as by [`for_model`].
pub fn context_window(model: &str) -> Option<u64> {
    find(model)?.context_window
}

/// Models whose names have the same prefix.
struct Family {
    prefix: &'static str,
    vocabulary: Option<Vocabulary>,
    context_window: Option<u64>,
}

fn find(model: &str) -> Option<&'static Family> {
    let name = model.trim().rsplit(['/', '\\']).next()?.to_lowercase();
    let behind_colons = name.match_indices(':').filter_map(|(at, _)| name.get(at + 1..));
    std::iter::once(name.as_str()).chain(behind_colons).find_map(|name| FAMILIES.iter().find(|family| family.has(name)))
}

impl Family {
    /// Whether `name` begins with the prefix, and the prefix ends where a word or number of the name ends.
    fn has(&self, name: &str) -> bool {
        let goes_on = |rest: &str| {
            self.prefix.ends_with(|c: char| c.is_alphanumeric()) && rest.starts_with(|c: char| c.is_alphanumeric())
        };
        name.strip_prefix(self.prefix).is_some_and(|rest| !goes_on(rest))
    }
}

const fn family(prefix: &'static str, vocabulary: Option<Vocabulary>, context_window: Option<u64>) -> Family {
    Family { prefix, vocabulary, context_window }
}

/// The first family with a fitting prefix counts, so a longer prefix comes before a shorter one.
const FAMILIES: &[Family] = &[
    family("gpt-5-chat", Some(O200kBase), Some(128_000)),
    family("gpt-5.", Some(O200kBase), None),
    family("gpt-5", Some(O200kBase), Some(400_000)),
    family("gpt-4.1", Some(O200kBase), Some(1_047_576)),
    family("gpt-4.5", Some(O200kBase), Some(128_000)),
    family("gpt-4o", Some(O200kBase), Some(128_000)),
    family("chatgpt-4o", Some(O200kBase), Some(128_000)),
    family("gpt-oss", Some(O200kBase), Some(131_072)),
    family("codex-mini", Some(O200kBase), Some(200_000)),
    family("o1-mini", Some(O200kBase), Some(128_000)),
    family("o1-preview", Some(O200kBase), Some(128_000)),
    family("o1", Some(O200kBase), Some(200_000)),
    family("o3", Some(O200kBase), Some(200_000)),
    family("o4-mini", Some(O200kBase), Some(200_000)),
    family("gpt-4-turbo", Some(Cl100kBase), Some(128_000)),
    family("gpt-4-0125", Some(Cl100kBase), Some(128_000)),
    family("gpt-4-1106", Some(Cl100kBase), Some(128_000)),
    family("gpt-4-32k", Some(Cl100kBase), Some(32_768)),
    family("gpt-4.", None, None),
    family("gpt-4", Some(Cl100kBase), Some(8_192)),
    family("gpt-3.5-turbo-instruct", Some(Cl100kBase), Some(4_096)),
    family("gpt-3.5-turbo", Some(Cl100kBase), Some(16_385)),
    family("gpt-35-turbo", Some(Cl100kBase), Some(16_385)),
    family("text-embedding-3", Some(Cl100kBase), Some(8_192)),
    family("text-embedding-ada-002", Some(Cl100kBase), Some(8_192)),
    family("claude-instant", None, Some(100_000)),
    family("claude-2.1", None, Some(200_000)),
    family("claude-2", None, Some(100_000)),
    family("claude-", None, Some(200_000)),
    family("gemini-1.5-pro", None, Some(2_097_152)),
    family("gemini-1.5-flash", None, Some(1_048_576)),
    family("gemini-2.0-flash", None, Some(1_048_576)),
    family("gemini-2.5-", None, Some(1_048_576)),
    family("qwen1.5", Some(Qwen2), Some(32_768)),
    family("qwen2.5", Some(Qwen2), Some(32_768)),
    family("qwen2", Some(Qwen2), Some(32_768)),
    family("qwen3-coder-30b", Some(Qwen2), Some(262_144)),
    family("qwen3-coder-480b", Some(Qwen2), Some(262_144)),
    family("qwen3-coder", Some(Qwen2), None),
    family("qwen3-embedding", Some(Qwen2), Some(32_768)),
    family("qwen3-max", None, None),
    family("qwen3.", None, None),
    family("qwen3", Some(Qwen2), Some(32_768)),
    family("qwq-32b", Some(Qwen2), Some(32_768)),
    family("llama-3.1", Some(Llama3), Some(131_072)),
    family("llama-3.2", Some(Llama3), Some(131_072)),
    family("llama-3.3", Some(Llama3), Some(131_072)),
    family("llama-3", Some(Llama3), Some(8_192)),
    family("llama3.1", Some(Llama3), Some(131_072)),
    family("llama3.2", Some(Llama3), Some(131_072)),
    family("llama3.3", Some(Llama3), Some(131_072)),
    family("llama3", Some(Llama3), Some(8_192)),
    family("meta-llama-3.1", Some(Llama3), Some(131_072)),
    family("meta-llama-3", Some(Llama3), Some(8_192)),
    family("deepseek-chat", Some(DeepseekV3), Some(131_072)),
    family("deepseek-reasoner", Some(DeepseekV3), Some(131_072)),
    family("deepseek-v3", Some(DeepseekV3), Some(131_072)),
    family("deepseek-v4", Some(DeepseekV3), None),
    family("deepseek-r1-distill", None, None),
    family("deepseek-r1-0528-qwen3", None, None),
    family("deepseek-r1:671b", Some(DeepseekV3), Some(131_072)),
    family("deepseek-r1:", None, None),
    family("deepseek-r1", Some(DeepseekV3), Some(131_072)),
    family("mistral-nemo", Some(Tekken), Some(131_072)),
    family("open-mistral-nemo", Some(Tekken), Some(131_072)),
    family("ministral-3b", Some(Tekken), Some(131_072)),
    family("ministral-8b", Some(Tekken), Some(131_072)),
    family("pixtral-12b", Some(Tekken), Some(131_072)),
    family("mistral-small-24b", Some(Tekken), Some(32_768)),
    family("mistral-small-2501", Some(Tekken), Some(32_768)),
    family("mistral-small-2503", Some(Tekken), Some(131_072)),
    family("mistral-small-2506", Some(Tekken), Some(131_072)),
    family("mistral-small-3.1", Some(Tekken), Some(131_072)),
    family("mistral-small-3.2", Some(Tekken), Some(131_072)),
    family("mistral-small3.1", Some(Tekken), Some(131_072)),
    family("mistral-small3.2", Some(Tekken), Some(131_072)),
    family("devstral-small-2505", Some(Tekken), Some(131_072)),
    family("devstral-small-2507", Some(Tekken), Some(131_072)),
];

#[cfg(test)]
mod tests;
