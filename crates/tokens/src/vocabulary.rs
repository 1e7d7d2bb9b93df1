//! The vocabularies that can be part of the binary, and their names.

/// A vocabulary. `o200k_base` is part of the binary; each other one has a feature.
///
/// A vocabulary is listed only if its counts agree with those of another implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Vocabulary {
    /// `o200k_base`: OpenAI's models since GPT-4o, and `gpt-oss`, whose `o200k_harmony` differs in special tokens only.
    O200kBase,
    /// `cl100k_base`: OpenAI's GPT-4, GPT-3.5 and text embeddings.
    Cl100kBase,
    /// `qwen2`: Alibaba's Qwen 1.5, 2, 2.5 and 3, but not 3.5 and later.
    ///
    /// The text is counted as it is, as llama.cpp does. Servers with the vendor's `tokenizer.json` first compose the text
    /// (NFC), which changes the count if the text is not composed.
    Qwen2,
    /// `llama3`: Meta's Llama 3 to 3.3, but not 4.
    Llama3,
    /// `deepseek_v3`: DeepSeek V3, R1 and V4, but not the models distilled from R1.
    ///
    /// Several control or format characters in a row are counted one by one, which may give one token more than the
    /// vendor's implementation. Text that is not ASCII and has neither white space nor Chinese or Japanese characters for
    /// 8 KiB is cut there, which may change the count by one token for each cut.
    DeepseekV3,
    /// `tekken`: Mistral's models since Mistral NeMo, but not those that still use SentencePiece.
    Tekken,
}

impl Vocabulary {
    /// All vocabularies.
    pub const ALL: [Self; 6] =
        [Self::O200kBase, Self::Cl100kBase, Self::Qwen2, Self::Llama3, Self::DeepseekV3, Self::Tekken];

    /// Whether it is part of this binary.
    pub const fn is_built_in(self) -> bool {
        match self {
            Self::O200kBase => true,
            Self::Cl100kBase => cfg!(feature = "cl100k_base"),
            Self::Qwen2 => cfg!(feature = "qwen2"),
            Self::Llama3 => cfg!(feature = "llama3"),
            Self::DeepseekV3 => cfg!(feature = "deepseek_v3"),
            Self::Tekken => cfg!(feature = "tekken"),
        }
    }

    /// The vocabulary with this name, if it is part of this binary.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|vocabulary| vocabulary.is_built_in() && vocabulary.as_str() == name)
    }

    /// The name as text, for instance `o200k_base`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::O200kBase => "o200k_base",
            Self::Cl100kBase => "cl100k_base",
            Self::Qwen2 => "qwen2",
            Self::Llama3 => "llama3",
            Self::DeepseekV3 => "deepseek_v3",
            Self::Tekken => "tekken",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vocabulary_is_found_by_its_name() {
        for vocabulary in Vocabulary::ALL {
            assert_eq!(Vocabulary::named(vocabulary.as_str()), Some(vocabulary));
        }
        assert_eq!(Vocabulary::named("o200k"), None);
    }
}
