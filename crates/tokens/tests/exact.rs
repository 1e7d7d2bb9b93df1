//! Exact counts agree with implementations other than the one that makes them.

mod texts;

use callboard_core::count::{Counting, Tokens};
use callboard_tokens::{Vocabulary, counter};
use proptest::{collection::vec, prelude::*};

/// Counts of o200k_base, cl100k_base, qwen2, llama3, deepseek_v3 and tekken. The first two are of bpe-openai; the others
/// were made with OpenAI's tiktoken and Hugging Face's tokenizers from the files that the vendors publish.
const KNOWN: &[(&str, [u64; 6])] = &[
    ("", [0; 6]),
    ("Hello, world!", [4; 6]),
    ("<|endoftext|>", [7; 6]),
    ("<|im_start|>user\n", [8; 6]),
    ("  if x == 12345:\n\n\treturn 'ok'\r\n", [12, 12, 15, 12, 14, 17]),
    ("The company reads the callboard; it's 9:41.", [13, 14, 15, 14, 14, 15]),
    ("Приве\u{301}т, мир! 文字と「かな」 한국어", [16, 20, 16, 16, 15, 16]),
    ("👩\u{200d}👩\u{200d}👧 na\u{308}ive e\u{301} \u{a0}\u{3000}x", [16, 22, 16, 19, 16, 24]),
];

#[test]
fn known_texts_have_their_known_counts() {
    for (text, counts) in KNOWN {
        for (vocabulary, count) in Vocabulary::ALL.into_iter().zip(counts) {
            assert_eq!(counter(vocabulary).count(text), Tokens(*count), "{vocabulary:?} {text:?}");
        }
    }
}

#[test]
fn a_counter_knows_its_vocabulary_and_is_exact() {
    for vocabulary in Vocabulary::ALL {
        let counter = counter(vocabulary);
        assert_eq!((counter.vocabulary(), counter.counting()), (vocabulary.as_str(), Counting::Exact));
    }
}

/// A task deep within an async runtime has little left of the 2 MiB of its thread.
#[test]
fn a_thread_counts_with_little_stack() {
    for vocabulary in Vocabulary::ALL {
        let count = move || counter(vocabulary).count("zqxjkvq wvgqzj");
        let counted = std::thread::Builder::new().stack_size(256 << 10).spawn(count).unwrap().join().unwrap();
        assert_eq!(counted, count());
    }
}

#[test]
fn threads_that_count_at_once_agree() {
    let count = || counter(Vocabulary::O200kBase).count("Hello, world!");
    let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(count)).collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), Tokens(4));
    }
}

/// Texts of some kilobytes: they are counted in several chunks.
fn long_text() -> impl Strategy<Value = String> {
    (vec(texts::text(), 1..40), 1..20_usize).prop_map(|(texts, times)| texts.concat().repeat(times))
}

proptest! {
    #[test]
    fn o200k_base_agrees_with_another_implementation(text in texts::text()) {
        prop_assert_eq!(counter(Vocabulary::O200kBase).count(&text).0, bpe_openai::o200k_base().count(&text) as u64);
    }

    #[test]
    fn cl100k_base_agrees_with_another_implementation(text in texts::text()) {
        prop_assert_eq!(counter(Vocabulary::Cl100kBase).count(&text).0, bpe_openai::cl100k_base().count(&text) as u64);
    }

    /// Voyage's third vocabulary is Qwen's, with the vendor's normalisation.
    #[test]
    fn qwen2_agrees_with_another_implementation_on_normalised_text(text in texts::text()) {
        let other = bpe_openai::voyage3_base();
        let text = other.normalize(text.as_str());
        prop_assert_eq!(counter(Vocabulary::Qwen2).count(text.as_str()).0, other.count(text.as_str()) as u64);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_long_text_counts_the_same_in_chunks(text in long_text()) {
        for vocabulary in Vocabulary::ALL {
            let name = if vocabulary == Vocabulary::Tekken { "mistral_v3" } else { vocabulary.as_str() };
            let whole = tiktoken::get_encoding(name).unwrap().count(&text) as u64;
            prop_assert_eq!(counter(vocabulary).count(&text).0, whole, "{}", vocabulary.as_str());
        }
    }
}
