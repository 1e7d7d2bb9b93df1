//! English: the stems of words, and lists of those that say nothing, that only ask, and that mean the same.

use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use rustc_hash::{FxHashMap, FxHashSet};

/// Words that stand in nearly every text.
const STOP: &str = "a about after again all also am an and any are as at be been before being both but by can could d did do \
    does doing done down during each few for from had has have he her here him his how i if in into is it its just ll m \
    may me might more most my no not of off on once only or other our out over own re s same she should so some such t \
    than that the their then there these they this to too under up us ve very was we were what when where which who \
    whom whose why will with would you your";

/// Words that belong to a question more than to what is asked about.
const SCAFFOLDING: &str = "walk through order list mention mentioned item items summary summarize summarise comprehensive \
    complete overview conversation conversations discussion discussions discuss discussed chat chats session sessions \
    recall remember describe explain detail details different various aspect aspects throughout across bring brought \
    many much way ways thing things specific specifically related include including overall";

/// Forms that no stemmer joins. Each counts as the first of its line.
const SAME: &str = "go goes went gone going | buy bought | bring brought | take took taken | make made | get got gotten | \
    give gave given | see saw seen | come came | think thought | find found | feel felt | lose lost | win won | meet met | \
    teach taught | write wrote written | run ran running | begin began begun | eat ate eaten | drink drank drunk | \
    drive drove driven | fly flew flown | grow grew grown | know knew known | leave left | keep kept | tell told | \
    say said | speak spoke spoken | spend spent | sell sold | send sent | build built | sing sang sung | swim swam swum | \
    sleep slept | hear heard | hold held | fall fell fallen | break broke broken | choose chose chosen | catch caught | \
    wear wore worn | draw drew drawn | ride rode ridden | fight fought | learn learnt | dream dreamt | pay paid | sit sat | \
    stand stood | understand understood | throw threw thrown | become became | forget forgot forgotten | hide hid hidden | \
    rise rose risen | shake shook shaken | steal stole stolen | lead led | light lit | lend lent | seek sought | \
    shoot shot | show shown | child children kid kids | person people | man men | woman women | wife wives | life lives | \
    foot feet | mom mother mum | dad father | photo photograph picture pic | movie film | bike bicycle | tv television | \
    fav favorite favourite";

/// Words before a colon at the beginning of a message that are no names of speakers.
const LABELS: &str = "answer caution error example fixme hint http https info note output ps question reminder result \
    summary task tip todo update warning";

static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));
static STOP_WORDS: LazyLock<FxHashSet<&str>> = LazyLock::new(|| STOP.split_whitespace().collect());
static SCAFFOLDING_TERMS: LazyLock<FxHashSet<String>> =
    LazyLock::new(|| SCAFFOLDING.split_whitespace().map(stem).collect());
static SAME_TERMS: LazyLock<FxHashMap<String, String>> = LazyLock::new(|| {
    let lines = SAME.split('|').map(|line| line.split_whitespace().map(snowball).collect::<Vec<_>>());
    let pairs = lines.flat_map(|line| {
        let first = line.first().cloned().unwrap_or_default();
        line.into_iter().map(move |form| (form, first.clone()))
    });
    pairs.collect()
});

/// Whether a word in lower case says nothing.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(word)
}

/// Whether a term belongs to a question more than to what is asked about.
pub(crate) fn is_scaffolding(term: &str) -> bool {
    SCAFFOLDING_TERMS.contains(term)
}

/// The stem of a word, or of the word that it is a form of.
pub(crate) fn stem(word: &str) -> String {
    let stem = snowball(word);
    SAME_TERMS.get(&stem).cloned().unwrap_or(stem)
}

fn snowball(word: &str) -> String {
    STEMMER.stem(word).into_owned()
}

/// Whether a word is no name, though it stands before a colon.
pub(crate) fn is_label(word: &str) -> bool {
    LABELS.split_whitespace().any(|label| label.eq_ignore_ascii_case(word))
}
