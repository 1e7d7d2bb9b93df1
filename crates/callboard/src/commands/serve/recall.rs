//! The file that says what recall asks elsewhere: sources of passages, and a model that gives texts their vectors.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use callboard_engine::{RecallSettings, core::recall::Source};
use callboard_model::{
    ApiKey, Embedder, Embeddings, EmbeddingsSettings, HttpSource, Retries, SettingsError, SourceSettings, Timeouts,
    open_folder,
};
use callboard_server::{Prefixes, embedder, passage_source};
use serde::Deserialize;

use crate::{config, failure::Failure, terminal};

/// How long an endpoint for embeddings may take for one request.
const EMBEDDER_TIMEOUT: Duration = Duration::from_secs(60);
const LONGEST_TIMEOUT_MS: u64 = 60_000;
const LARGEST_ANSWER: usize = 64 << 20;
const LONGEST_NAME: usize = 64;

/// What recall asks elsewhere: sources, and what gives texts their vectors.
type Elsewhere = (Vec<HttpSource>, Option<(Arc<dyn Embedder>, Prefixes)>);

/// The file. A key that is not here is an error that says where it stands.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RecallFile {
    embedder: Option<EmbedderOptions>,
    #[serde(rename = "source")]
    sources: Vec<SourceOptions>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct EmbedderOptions {
    base_url: Option<String>,
    model: Option<String>,
    api_key_env: Option<String>,
    folder: Option<PathBuf>,
    question_prefix: String,
    passage_prefix: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceOptions {
    name: String,
    url: String,
    #[serde(default = "usual_timeout")]
    timeout_ms: u64,
    #[serde(default = "usual_size")]
    max_bytes: usize,
    #[serde(default)]
    headers_from_env: BTreeMap<String, String>,
}

fn usual_timeout() -> u64 {
    2000
}

fn usual_size() -> usize {
    1 << 20
}

/// The settings with what the file says. Asks nothing.
pub(crate) fn read(path: &Path, settings: RecallSettings) -> Result<RecallSettings, Failure> {
    let text = terminal::file(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let (sources, model) = parse(&text, folder, &config::secret).map_err(|wrong| {
        Failure::failed("invalid", format!("{} is no file for --recall: {wrong}", path.display()))
            .hint("see docs/recall-sources.md")
    })?;
    let sources = sources.into_iter().map(passage_source).collect();
    let embedder = model.map(|(model, prefixes)| embedder(model, prefixes));
    Ok(RecallSettings { embedder, sources, ..settings })
}

/// What a file says. `secret` gives the value of a variable.
fn parse(text: &str, folder: &Path, secret: &dyn Fn(&str) -> Option<ApiKey>) -> Result<Elsewhere, String> {
    let file: RecallFile = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
    let embedder = file.embedder.map(|it| it.make(folder, secret)).transpose();
    let embedder = embedder.map_err(|wrong| format!("the embedder: {wrong}"))?;
    let mut names = BTreeSet::new();
    let mut sources = Vec::new();
    for source in &file.sources {
        let wrong = |wrong: String| format!("the source `{}`: {wrong}", source.name);
        if !names.insert(&source.name) {
            return Err(wrong("two sources have this name".to_owned()));
        }
        sources.push(source.make(secret).map_err(wrong)?);
    }
    Ok((sources, embedder))
}

impl EmbedderOptions {
    fn make(
        self,
        folder: &Path,
        secret: &dyn Fn(&str) -> Option<ApiKey>,
    ) -> Result<(Arc<dyn Embedder>, Prefixes), String> {
        let Self { base_url, model, api_key_env, folder: of_model, question_prefix, passage_prefix } = self;
        let prefixes = Prefixes { question: question_prefix, passage: passage_prefix };
        let embedder: Arc<dyn Embedder> = match (of_model, base_url, model, api_key_env) {
            (Some(of_model), None, None, None) => open_folder(&folder.join(of_model)).map_err(shown)?,
            (None, Some(base_url), Some(model), api_key_env) => {
                let key = api_key_env.map(|name| value(&name, secret)).transpose()?;
                let timeouts = Timeouts { idle: EMBEDDER_TIMEOUT, whole: EMBEDDER_TIMEOUT, ..Timeouts::default() };
                // A question waits for it; passages are tried again later anyway.
                let retries = Retries { tries: 2, first_wait: Duration::from_millis(250), ..Retries::default() };
                let proxy = config::proxy();
                let settings = EmbeddingsSettings { base_url, model, key, proxy, timeouts, retries };
                Arc::new(Embeddings::new(&settings).map_err(shown)?)
            }
            _ => return Err("give base_url and model of an endpoint, or the folder of a model".to_owned()),
        };
        Ok((embedder, prefixes))
    }
}

impl SourceOptions {
    fn make(&self, secret: &dyn Fn(&str) -> Option<ApiKey>) -> Result<HttpSource, String> {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
        if self.name.is_empty() || self.name.len() > LONGEST_NAME || !self.name.bytes().all(is_plain) {
            return Err(format!("a name has 1 to {LONGEST_NAME} of a to z, 0 to 9, _ and -"));
        }
        if Source::ALL.iter().any(|own| own.as_str() == self.name) {
            return Err("Callboard's own passages have this name: use another".to_owned());
        }
        if !(1..=LONGEST_TIMEOUT_MS).contains(&self.timeout_ms) {
            return Err(format!("timeout_ms must be 1 to {LONGEST_TIMEOUT_MS}"));
        }
        if !(1..=LARGEST_ANSWER).contains(&self.max_bytes) {
            return Err(format!("max_bytes must be 1 to {LARGEST_ANSWER}"));
        }
        let header = |(header, name): (&String, &String)| Ok::<_, String>((header.clone(), value(name, secret)?));
        HttpSource::new(&SourceSettings {
            name: self.name.clone(),
            url: self.url.clone(),
            timeout: Duration::from_millis(self.timeout_ms),
            max_bytes: self.max_bytes,
            headers: self.headers_from_env.iter().map(header).collect::<Result<_, _>>()?,
            proxy: config::proxy(),
        })
        .map_err(shown)
    }
}

fn value(name: &str, secret: &dyn Fn(&str) -> Option<ApiKey>) -> Result<ApiKey, String> {
    secret(name).ok_or_else(|| format!("the environment has no variable {name}, or it is empty"))
}

fn shown(error: SettingsError) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Elsewhere, String> {
        parse(text, Path::new("/nowhere"), &|name| (name == "TOKEN").then(|| ApiKey::new("secret")).flatten())
    }

    #[test]
    fn a_file_names_sources_and_an_embedder() {
        let all = "[embedder]\nbase_url = 'http://127.0.0.1:8080/v1'\nmodel = 'small'\napi_key_env = 'TOKEN'\n\
                   question_prefix = 'query: '\n\
                   [[source]]\nname = 'wiki'\nurl = 'https://wiki.example/passages'\ntimeout_ms = 500\nmax_bytes = 65536\n\
                   headers_from_env = {Authorization = 'TOKEN'}\n\
                   [[source]]\nname = 'tickets'\nurl = 'http://127.0.0.1:9000'\n";
        let (sources, embedder) = parsed(all).unwrap();
        let (embedder, prefixes) = embedder.unwrap();
        assert_eq!((embedder.model(), &*prefixes.question, &*prefixes.passage), ("small", "query: ", ""));
        assert_eq!(sources.iter().map(HttpSource::name).collect::<Vec<_>>(), ["wiki", "tickets"]);
        let (sources, embedder) = parsed("").unwrap();
        assert!(sources.is_empty() && embedder.is_none());
    }

    #[test]
    fn what_is_wrong_in_a_file_is_told_with_its_place() {
        let source = |more: &str| format!("[[source]]\nname = 'wiki'\nurl = 'http://127.0.0.1:9000'\n{more}\n");
        let cases = [
            ("[[source]]\nname = 'wiki'\n".to_owned(), "missing field `url`"),
            (source("uri = 'x'"), "line 4"),
            (source("[[source]]\nname = 'wiki'\nurl = 'http://127.0.0.1'"), "`wiki`: two sources have this name"),
            (source("").replace("'wiki'", "'Wiki'"), "a to z"),
            (source("").replace("'wiki'", "''"), "1 to 64"),
            (source("").replace("'wiki'", "'message'"), "own passages have this name"),
            (source("timeout_ms = 0"), "`wiki`: timeout_ms must be 1 to 60000"),
            (source("timeout_ms = -1"), "line 4"),
            (source("max_bytes = 0"), "max_bytes must be"),
            (source("headers_from_env = {Authorization = 'MISSING'}"), "no variable MISSING"),
            (source("headers_from_env = {'two words' = 'TOKEN'}"), "`two words` cannot be a header"),
            (source("").replace("http://", ""), "does not begin with http://"),
            ("[embedder]\nmodel = 'small'".to_owned(), "the embedder: give base_url and model"),
            ("[embedder]\nfolder = 'm'\nmodel = 'small'".to_owned(), "or the folder of a model"),
            ("[embedder]\nfolder = 'm'".to_owned(), "/nowhere/m"),
        ];
        for (text, reason) in cases {
            let wrong = parsed(&text).err().unwrap_or_else(|| panic!("this was taken: {text}"));
            assert!(wrong.contains(reason), "{reason}: {wrong}");
        }
    }
}
