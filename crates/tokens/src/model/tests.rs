use super::*;

#[test]
fn a_model_is_counted_in_its_vocabulary_and_an_unknown_one_by_its_bytes() {
    let cases = [
        (
            "o200k_base",
            "gpt-4o gpt-4o-mini-2024-07-18 GPT-4.1-nano gpt-5 gpt-5.2-codex o1 o3 o3-mini o4-mini gpt-oss:20b",
        ),
        ("cl100k_base", "gpt-4 gpt-4-0613 gpt-4-turbo gpt-3.5-turbo-0125 gpt-35-turbo text-embedding-3-small"),
        ("qwen2", "Qwen2.5-Coder-1.5B-Instruct qwen2.5-coder-1.5b-instruct-q4_k_m.gguf qwen3:8b qwen2-vl-7b QwQ-32B"),
        ("llama3", "llama3 llama3.1 llama3.1:8b Llama-3.3-70B-Instruct Meta-Llama-3.1-8B-Instruct"),
        ("deepseek_v3", "deepseek-chat deepseek-v3.1 DeepSeek-R1 deepseek-r1:671b"),
        ("tekken", "mistral-nemo Ministral-8B-Instruct-2410 Mistral-Small-24B-Instruct-2501 devstral-small-2505"),
        ("o200k_base", "claude-sonnet-4-5 gemini-2.5-pro gemma3:4b llama2 codellama mixtral-8x7b mistral-7b grok-4"),
        ("qwen2", "qwen3.5-9b qwen-max deepseek-r1:8b DeepSeek-R1-Distill-Qwen-7B"),
        ("llama3", "llama-4-scout"),
        ("cl100k_base", "phi-4"),
        ("bytes", "deepseek-coder gpt-2 gpt-4.9 gpt-41 o10 x"),
    ];
    for (vocabulary, models) in cases {
        for model in models.split(' ') {
            assert_eq!(for_model(model).vocabulary(), vocabulary, "{model}");
        }
    }
    assert_eq!(for_model("").vocabulary(), "bytes");
}

#[test]
fn a_model_is_estimated_where_another_vocabulary_stands_in_for_its_own() {
    for model in ["claude-sonnet-4-5", "anthropic/claude-opus-4-1", "gemini-3-pro", "phi4", "mistral-large-latest"] {
        assert!(!is_exact(model) && factor_for(model).is_some_and(|factor| factor > Factor::ONE), "{model}");
    }
    assert!(is_exact("gpt-4o") && factor_for("gpt-4o").is_none());
    assert!(!is_exact("nobody-knows-it") && factor_for("nobody-knows-it").is_none());
}

#[test]
fn what_stands_before_and_behind_a_name_does_not_matter() {
    for model in ["openai:gpt-4o", "openrouter:openai/gpt-4o:free", "ft:gpt-4o:acme::abc", "azure/GPT-4o", " gpt-4o "] {
        assert_eq!(for_model(model).vocabulary(), "o200k_base", "{model}");
    }
    for model in ["Qwen/Qwen2.5-7B", r"C:\models\qwen2.5-7b.gguf", "/models/qwen2.5-7b.gguf", "ollama:qwen2.5:7b"] {
        assert_eq!(for_model(model).vocabulary(), "qwen2", "{model}");
    }
}

#[test]
fn a_well_known_model_has_a_window() {
    let cases = [
        ("gpt-4o-mini", Some(128_000)),
        ("gpt-4", Some(8_192)),
        ("anthropic:claude-sonnet-4-5", Some(200_000)),
        ("qwen2.5-coder-1.5b-instruct-q4_k_m.gguf", Some(32_768)),
        ("llama3.1", Some(131_072)),
        ("llama3", Some(8_192)),
        ("nobody-knows-it", None),
    ];
    for (model, window) in cases {
        assert_eq!(context_window(model), window, "{model}");
    }
}

#[test]
fn no_family_hides_another() {
    for family in FAMILIES {
        for prefix in family.prefixes {
            assert!(find(prefix).is_some_and(|found| found.prefixes.contains(prefix)), "{prefix}");
        }
    }
}
