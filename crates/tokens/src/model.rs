//! What is known about models, by their names.

use Vocabulary::{Cl100kBase, DeepseekV3, Llama3, O200kBase, Qwen2, Tekken};
use callboard_core::count::{Factor, TokenCounter};

use crate::{Vocabulary, counter, upper_bound};

/// The counter for `model`: exact if its vocabulary is part of the binary; that of a vocabulary like its own if one is
/// known, whose counts are to be multiplied by [`factor_for`]; else the [`upper_bound`].
///
/// The name may have a provider, an owner or a folder before it and a tag after it: `openai:gpt-4o`,
/// `Qwen/Qwen2.5-Coder-1.5B-Instruct`, `models/qwen2.5-0.5b-instruct-q4_k_m.gguf`, `llama3.1:8b`. Case does not matter.
/// A name that stands for changing models, such as `qwen-max`, is unknown.
pub fn for_model(model: &str) -> &'static dyn TokenCounter {
    counted(model).map_or_else(upper_bound, |counted| counter(counted.vocabulary()))
}

/// What a token of the vocabulary that [`for_model`] counts in comes to for `model`, where that is not its own
/// vocabulary: an estimate for all models of its family, rather too high than too low. What a provider reports of real
/// prompts is better. Names are read as by [`for_model`].
pub fn factor_for(model: &str) -> Option<Factor> {
    match counted(model)? {
        Counted::Exactly(_) => None,
        Counted::Like(_, factor) => Some(factor),
    }
}

/// Whether the tokens of `model` are counted exactly. Names are read as by [`for_model`].
pub fn is_exact(model: &str) -> bool {
    matches!(counted(model), Some(Counted::Exactly(_)))
}

/// How many tokens `model` can read and write together, as its vendor states; if that depends on the size of the model or on
/// settings, the lowest number. `None` if it is unknown. Names are read as by [`for_model`].
pub fn context_window(model: &str) -> Option<u64> {
    find(model)?.context_window
}

/// Models whose names begin alike.
struct Family {
    prefixes: &'static [&'static str],
    counted: Option<Counted>,
    context_window: Option<u64>,
}

/// How the tokens of a family are counted.
#[derive(Clone, Copy)]
enum Counted {
    /// In its own vocabulary.
    Exactly(Vocabulary),
    /// In another vocabulary, times a factor.
    Like(Vocabulary, Factor),
}

impl Counted {
    fn vocabulary(self) -> Vocabulary {
        match self {
            Self::Exactly(vocabulary) | Self::Like(vocabulary, _) => vocabulary,
        }
    }
}

/// How the tokens of a model are counted by this program: what was built without its vocabulary takes `o200k_base`.
fn counted(model: &str) -> Option<Counted> {
    let counted = find(model)?.counted?;
    Some(match counted.vocabulary().is_built_in() {
        true => counted,
        false => Counted::Like(O200kBase, Factor::thousandths(SMALL)),
    })
}

fn find(model: &str) -> Option<&'static Family> {
    let name = model.trim().rsplit(['/', '\\']).next()?.to_lowercase();
    let behind_colons = name.match_indices(':').filter_map(|(at, _)| name.get(at + 1..));
    let family =
        |name: &str| FAMILIES.iter().max_by_key(|family| family.fits(name)).filter(|family| family.fits(name) > 0);
    std::iter::once(name.as_str()).chain(behind_colons).find_map(family)
}

impl Family {
    /// How long the longest prefix is with which `name` begins, and which ends where a word or number of the name ends.
    fn fits(&self, name: &str) -> usize {
        let begins = |prefix: &&&str| {
            let rest = name.strip_prefix(**prefix);
            let is_in_word = prefix.ends_with(char::is_alphanumeric);
            rest.is_some_and(|rest| !(is_in_word && rest.starts_with(char::is_alphanumeric)))
        };
        self.prefixes.iter().filter(begins).map(|prefix| prefix.len()).max().unwrap_or(0)
    }
}

const fn family(
    prefixes: &'static [&'static str],
    vocabulary: Option<Vocabulary>,
    context_window: Option<u64>,
) -> Family {
    let counted = match vocabulary {
        Some(vocabulary) => Some(Counted::Exactly(vocabulary)),
        None => None,
    };
    Family { prefixes, counted, context_window }
}

/// A family whose tokens are about `thousandths` thousandths of those of a vocabulary that is part of the binary.
const fn like(
    prefixes: &'static [&'static str],
    base: Vocabulary,
    thousandths: u32,
    context_window: Option<u64>,
) -> Family {
    Family { prefixes, counted: Some(Counted::Like(base, Factor::thousandths(thousandths))), context_window }
}

// The factors were measured on English conversations, Markdown, Rust, Python, Japanese and Chinese, against `o200k_base`,
// and about a tenth was added to the highest. Where a family's vocabulary is not public, one that is stands in for it.

/// The vocabulary of Claude 2, the last that is public, had 1.06 to 1.20. Newer ones are said to have more.
const CLAUDE: u32 = 1350;

/// The vocabulary of Gemma 3, which is Gemini's too, had 1.00 to 1.20.
const GEMMA: u32 = 1300;

/// Vocabularies with 32,000 tokens, such as that of Llama 2, had 1.15 to 1.40.
const SMALL: u32 = 1550;

/// Vocabularies with 100,000 tokens or more of vendors who do not say how they count.
const LARGE: u32 = 1300;

/// Of the prefixes that fit the longest counts.
const FAMILIES: &[Family] = &[
    family(&["gpt-5-chat", "gpt-4.5", "gpt-4o", "chatgpt-4o", "o1-mini", "o1-preview"], Some(O200kBase), Some(128_000)),
    family(&["gpt-5."], Some(O200kBase), None),
    family(&["gpt-5"], Some(O200kBase), Some(400_000)),
    family(&["gpt-4.1"], Some(O200kBase), Some(1_047_576)),
    family(&["gpt-oss"], Some(O200kBase), Some(131_072)),
    family(&["codex-mini", "o1", "o3", "o4-mini"], Some(O200kBase), Some(200_000)),
    family(&["gpt-4-turbo", "gpt-4-0125", "gpt-4-1106"], Some(Cl100kBase), Some(128_000)),
    family(&["gpt-4-32k"], Some(Cl100kBase), Some(32_768)),
    family(&["gpt-4."], None, None),
    family(&["gpt-4", "text-embedding-3", "text-embedding-ada-002"], Some(Cl100kBase), Some(8_192)),
    family(&["gpt-3.5-turbo-instruct"], Some(Cl100kBase), Some(4_096)),
    family(&["gpt-3.5-turbo", "gpt-35-turbo"], Some(Cl100kBase), Some(16_385)),
    like(&["claude-instant", "claude-2"], O200kBase, CLAUDE, Some(100_000)),
    like(&["claude-2.1", "claude-"], O200kBase, CLAUDE, Some(200_000)),
    like(&["gemini-1.5-pro"], O200kBase, GEMMA, Some(2_097_152)),
    like(&["gemini-1.5-flash", "gemini-2.0-flash", "gemini-2.5-"], O200kBase, GEMMA, Some(1_048_576)),
    like(&["gemini-"], O200kBase, GEMMA, None),
    like(&["gemma-2", "gemma2", "gemma"], O200kBase, GEMMA, Some(8_192)),
    like(&["gemma-3-1b", "gemma3:1b", "gemma3n"], O200kBase, GEMMA, Some(32_768)),
    like(&["gemma-3", "gemma3"], O200kBase, GEMMA, Some(131_072)),
    like(&["phi-4-mini", "phi4-mini"], O200kBase, 1050, Some(131_072)),
    like(&["phi-4", "phi4"], Cl100kBase, 1050, Some(16_384)),
    like(&["phi-3", "phi3"], O200kBase, SMALL, Some(4_096)),
    family(&["qwen1.5", "qwen2.5", "qwen2", "qwen3-embedding", "qwen3", "qwq-32b"], Some(Qwen2), Some(32_768)),
    family(&["qwen3-coder-30b", "qwen3-coder-480b"], Some(Qwen2), Some(262_144)),
    family(&["qwen3-coder"], Some(Qwen2), None),
    like(&["qwen3-max", "qwen3.", "qwen-"], Qwen2, 1100, None),
    like(&["llama-4", "llama4"], Llama3, 1100, None),
    like(&["llama-2", "llama2"], O200kBase, SMALL, Some(4_096)),
    like(&["codellama"], O200kBase, SMALL, Some(16_384)),
    like(&["tinyllama"], O200kBase, SMALL, Some(2_048)),
    family(
        &["llama-3.1", "llama-3.2", "llama-3.3", "llama3.1", "llama3.2", "llama3.3", "meta-llama-3.1"],
        Some(Llama3),
        Some(131_072),
    ),
    family(&["llama-3", "llama3", "meta-llama-3"], Some(Llama3), Some(8_192)),
    family(
        &["deepseek-chat", "deepseek-reasoner", "deepseek-v3", "deepseek-r1:671b", "deepseek-r1"],
        Some(DeepseekV3),
        Some(131_072),
    ),
    family(&["deepseek-v4"], Some(DeepseekV3), None),
    like(&["deepseek-r1-distill", "deepseek-r1:"], Qwen2, 1200, None),
    like(&["deepseek-r1-0528-qwen3"], Qwen2, 1050, None),
    family(
        &[
            "mistral-nemo",
            "open-mistral-nemo",
            "ministral-3b",
            "ministral-8b",
            "pixtral-12b",
            "mistral-small-2503",
            "mistral-small-2506",
            "mistral-small-3.1",
            "mistral-small-3.2",
            "mistral-small3.1",
            "mistral-small3.2",
            "devstral-small-2505",
            "devstral-small-2507",
        ],
        Some(Tekken),
        Some(131_072),
    ),
    family(&["mistral-small-24b", "mistral-small-2501"], Some(Tekken), Some(32_768)),
    like(&["mixtral", "codestral"], O200kBase, SMALL, Some(32_768)),
    like(&["mistral-7b"], O200kBase, SMALL, Some(8_192)),
    like(&["mistral-", "ministral-", "magistral-", "devstral-", "pixtral-"], Tekken, 1200, None),
    like(&["grok-", "command-", "kimi-", "glm-", "minimax-"], O200kBase, LARGE, None),
    like(&["smollm2"], O200kBase, SMALL, Some(8_192)),
];

#[cfg(test)]
mod tests;
