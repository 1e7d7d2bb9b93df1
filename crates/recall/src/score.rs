//! Scores: how well each passage answers a question.

use callboard_core::{id::Seq, recall::RecallRole};

use crate::{
    dense,
    index::Index,
    postings::Posting,
    sight::Sight,
    signals::{Found, Signals},
    terms::{Asked, Field, asked},
    texts::{Class, Kind, Text, to_u32},
    vectors::Vector,
};

/// How soon more of a term adds little (BM25's k1).
const SATURATION: f32 = 1.0;

/// How much the length of a passage counts (BM25's b).
const LENGTH: f32 = 0.6;

/// How many terms of a question count at most: those that tell most. A long text has more, which tell little and cost much.
const MOST_TERMS: usize = 32;

const OF_SCAFFOLDING: f32 = 0.3;
const OF_PAIR: f32 = 0.25;
const OF_IDENTIFIER: f32 = 0.5;

/// What of an index one viewer sees.
pub struct Scope<'a> {
    /// The index.
    pub index: &'a Index,
    /// For a class, from which entry on the viewer sees it; `None` where it sees nothing of it.
    pub from: &'a (dyn Fn(&Class) -> Option<Seq> + 'a),
    /// As of which entry; the newest where it is absent.
    pub at: Option<Seq>,
}

/// What is asked.
pub struct IndexQuery<'a> {
    /// The question, in words.
    pub text: &'a str,
    /// Its vector, by the model of the vectors of the indexes; without it, terms alone count. A question without a term has
    /// no use for one.
    pub vector: Option<&'a Vector>,
    /// How many hits are wanted.
    pub limit: usize,
    /// Whose words are asked about; taken from the question where it is absent.
    pub prefer: Option<RecallRole>,
    /// Which classes are wanted; the others count in all statistics, but are no hits.
    pub wants: &'a dyn Fn(&Class) -> bool,
    /// Which entries are not wanted again.
    pub skips: &'a dyn Fn(usize, Seq) -> bool,
}

/// A passage that may answer the question.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// In which of the scopes it is.
    pub scope: usize,
    /// Its entry.
    pub seq: Seq,
    /// What decides who sees it.
    pub class: Class,
    /// Who says it.
    pub speaker: Option<String>,
    /// Where it stands in the text of its entry, in bytes.
    pub bytes: std::ops::Range<usize>,
    /// How well it answers; the more the better.
    pub score: f32,
    /// Why it is a hit.
    pub why: HitWhy,
    /// The entry just before it, where it means little without that: it answers a question, or is short.
    pub before: Option<Seq>,
}

/// Why a passage is a hit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HitWhy {
    /// Terms of the question that stand in it, as they are compared.
    pub terms: Vec<String>,
    /// Terms of the question that stand near it.
    pub near: Vec<String>,
    /// What its speaker, whose words it has, and its date add to the score.
    pub speaker: f32,
    /// See above.
    pub role: f32,
    /// See above.
    pub date: f32,
    /// What vectors add to the score: how near it and its neighbours are to what the question means.
    pub meaning: f32,
}

/// A passage of so few words means little without what was said just before it.
const FEW_WORDS: u16 = 8;

/// A scope while it is searched.
struct Searched<'a> {
    index: &'a Index,
    sight: std::sync::Arc<Sight>,
    /// For each term of the question, where it stands.
    postings: Vec<Vec<Posting>>,
    /// For each passage what it has in common with the question.
    common: Vec<Common>,
    /// The messages that only repeat the question.
    repeats: Vec<u32>,
    /// The scores of all passages.
    scores: Vec<f32>,
    /// How often one term stands in each passage, with what its neighbours lend it.
    counts: Vec<f32>,
    /// The passages with such a count.
    counted: Vec<u32>,
}

/// What a passage and a question have in common.
#[derive(Clone, Copy, Default)]
struct Common {
    /// How many words of the passage are words of the question.
    words: u32,
    /// How many terms of the question stand in the passage.
    terms: u32,
}

/// Finds the passages that answer a question best, the best first: of each message its best one, of other texts all.
/// Statistics are over all scopes together.
pub fn search(scopes: &[Scope<'_>], query: &IndexQuery<'_>) -> Vec<Hit> {
    let (asked, signals) = (asked(query.text), Signals::of(query.text, query.prefer));
    let mut searched: Vec<Searched<'_>> = scopes.iter().map(Searched::new).collect();
    let passages = searched.iter().map(|scope| f64::from(scope.sight.count)).sum::<f64>();
    for term in &asked {
        for scope in &mut searched {
            scope.read(term);
        }
    }
    let terms = asked.iter().filter(|it| it.field == Field::Word).count();
    for scope in &mut searched {
        scope.note_repeats(terms);
    }
    for (number, term) in telling(&asked, &searched, passages) {
        for scope in &mut searched {
            scope.count(number, term);
        }
        let found = searched.iter().map(|scope| scope.counted.len()).sum::<usize>();
        let idf = idf(passages, found);
        let is_pair = term.field == Field::Pair;
        let average = (searched.iter().map(|scope| scope.sight.sum(is_pair)).sum::<f64>() / passages.max(1.0)) as f32;
        for scope in &mut searched {
            scope.score(term, idf, average);
        }
    }
    // Words that say nothing mean nothing either: else every passage would answer them.
    let vector = query.vector.filter(|_| !asked.is_empty());
    let meant = vector.map(|vector| (vector, dense::weight(terms)));
    if let Some((vector, weight)) = meant {
        for scope in &mut searched {
            dense::add(&scope.index.vectors, &scope.sight, vector, weight, &mut scope.scores);
        }
    }
    let mut best: Vec<Candidate> = Vec::new();
    for (number, scope) in searched.iter().enumerate() {
        scope.candidates(number, query, &signals, false, &mut best);
    }
    if best.is_empty() && signals.names_date() {
        // No word of the question stands anywhere: what was said at its date is the answer.
        for (number, scope) in searched.iter().enumerate() {
            scope.candidates(number, query, &signals, true, &mut best);
        }
    }
    stand_back(&mut best, &searched, meant.is_some(), query.limit);
    keep_best(&mut best, query.limit);
    best.iter().filter_map(|found| searched.get(found.scope)?.hit(found, &asked, meant)).collect()
}

/// Puts passages that have the words of a question from others alone behind those, unless they answer a question, and messages
/// that only repeat the question behind all others. Where vectors count, a passage can answer without any word.
fn stand_back(best: &mut Vec<Candidate>, searched: &[Searched<'_>], by_meaning: bool, limit: usize) {
    if !by_meaning {
        let is_said_to_it = |found: &&Candidate| {
            found.has != Has::Question
                && searched.get(found.scope).is_some_and(|scope| scope.answers_repeat(found.passage))
        };
        // What was said to the same question before it was asked again has not answered it.
        let newest = best.iter().filter(is_said_to_it).map(|found| (found.scope, found.seq)).max();
        // What only borrows can but lose: most of it is behind enough others as it is.
        let enough = enough(best, limit);
        best.retain(|found| found.has != Has::Borrowed || found.score >= enough);
        let found = &*best;
        let lenders: Vec<Vec<f32>> = (0..).zip(searched).map(|(number, scope)| scope.lenders(number, found)).collect();
        let lowest = lowest(found, |has| has == Has::Words);
        for found in best.iter_mut().filter(|found| found.has == Has::Borrowed) {
            let (Some(scope), Some(lenders)) = (searched.get(found.scope), lenders.get(found.scope)) else { continue };
            let is_outdated = scope.answers_repeat(found.passage) && newest != Some((found.scope, found.seq));
            let most = match scope.sight.answers(found.passage) {
                true if is_outdated => lowest,
                true => f32::INFINITY,
                false => scope.most_for_neighbour(found.passage, lenders, lowest),
            };
            found.score = found.score.min(most);
        }
    }
    let lowest = lowest(best, |has| has != Has::Question);
    for found in best.iter_mut().filter(|found| found.has == Has::Question) {
        found.score = found.score.min(lowest);
    }
}

/// The lowest score of what has what counts.
fn lowest(best: &[Candidate], counts: impl Fn(Has) -> bool) -> f32 {
    best.iter().filter(|found| counts(found.has)).map(|found| found.score).fold(f32::INFINITY, f32::min)
}

/// The score that so many passages with words of their own reach.
fn enough(best: &[Candidate], limit: usize) -> f32 {
    let mut scores: Vec<f32> = best.iter().filter(|found| found.has == Has::Words).map(|found| found.score).collect();
    match limit.checked_sub(1) {
        Some(last) if last < scores.len() => *scores.select_nth_unstable_by(last, |a, b| b.total_cmp(a)).1,
        _ => f32::NEG_INFINITY,
    }
}

/// Keeps the best so many, the best first.
fn keep_best(best: &mut Vec<Candidate>, limit: usize) {
    let order = |a: &Candidate, b: &Candidate| {
        let place = |it: &Candidate| (it.has, it.scope, it.seq, it.passage);
        b.score.total_cmp(&a.score).then_with(|| place(a).cmp(&place(b)))
    };
    if limit < best.len() {
        best.select_nth_unstable_by(limit, order);
        best.truncate(limit);
    }
    best.sort_unstable_by(order);
}

/// Whether a question has nothing that can be looked for.
pub fn is_blank(question: &str) -> bool {
    asked(question).is_empty() && !Signals::of(question, Some(RecallRole::Any)).names_date()
}

/// The terms of a question that count, with their numbers.
fn telling<'a>(asked: &'a [Asked], searched: &[Searched<'_>], passages: f64) -> Vec<(usize, &'a Asked)> {
    let mut all: Vec<(usize, &Asked)> = asked.iter().enumerate().collect();
    if all.len() <= MOST_TERMS {
        return all;
    }
    let told = |(number, term): &(usize, &Asked)| {
        let found = searched.iter().filter_map(|scope| scope.postings.get(*number)).map(Vec::len).sum::<usize>();
        // What stands nowhere tells nothing of where the answer is.
        if found == 0 { 0.0 } else { term.worth() * idf(passages, found) }
    };
    all.sort_by(|one, other| told(other).total_cmp(&told(one)).then(one.0.cmp(&other.0)));
    all.truncate(MOST_TERMS);
    all.sort_by_key(|(number, _)| *number);
    all
}

/// How much a term tells that stands in `found` of all passages.
fn idf(passages: f64, found: usize) -> f32 {
    ((passages - found as f64 + 0.5) / (found as f64 + 0.5)).ln_1p() as f32
}

impl Asked {
    /// How much it counts beside other terms.
    fn worth(&self) -> f32 {
        match self.field {
            Field::Word if self.is_scaffolding => OF_SCAFFOLDING,
            Field::Word => 1.0,
            Field::Pair => OF_PAIR,
            Field::Identifier => OF_IDENTIFIER,
        }
    }
}

/// What may become a hit.
struct Candidate {
    scope: usize,
    passage: u32,
    seq: Seq,
    score: f32,
    signals: Found,
    has: Has,
}

/// What a passage has of the question; of those with the same score, the first comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Has {
    /// Words of its own.
    Words,
    /// Only what its neighbours lend it.
    Borrowed,
    /// Nothing but the question.
    Question,
}

impl<'a> Searched<'a> {
    fn new(scope: &Scope<'a>) -> Self {
        let index = scope.index;
        let (scores, counts) = (vec![0.0; index.passages()], vec![0.0; index.passages()]);
        Self {
            index,
            sight: index.sight(scope.from, scope.at),
            postings: Vec::new(),
            common: vec![Common::default(); index.passages()],
            repeats: Vec::new(),
            scores,
            counts,
            counted: Vec::new(),
        }
    }

    /// Reads in which of the passages that are seen the next term stands.
    fn read(&mut self, term: &Asked) {
        let mut postings = self.index.postings.of(term.key);
        postings.retain(|posting| self.sight.sees(posting.passage));
        for posting in postings.iter().filter(|_| term.field == Field::Word) {
            if let Some(common) = self.common.get_mut(posting.passage as usize) {
                common.words += u32::from(posting.count);
                common.terms += 1;
            }
        }
        self.postings.push(postings);
    }

    /// Notes which messages only repeat the question, which has so many words: all their words are words of it, and they ask,
    /// or have several, which are more than half of it.
    fn note_repeats(&mut self, asked: usize) {
        let (texts, asked) = (&self.index.texts, to_u32(asked));
        let all = (0_u32..).zip(&texts.passages).zip(&self.common);
        let repeating = all.filter(|((_, passage), common)| {
            let is_enough = |asks: bool| asks || common.terms > 1 && 2 * common.terms > asked;
            let repeats = |text: &Text| text.kind == Kind::Message && is_enough(text.ends_asking);
            let is_within = common.terms > 0 && common.words >= u32::from(passage.terms);
            is_within && texts.texts.get(passage.text as usize).is_some_and(repeats)
        });
        self.repeats = repeating.map(|((number, _), _)| number).collect();
    }

    /// Counts how often a term stands in each passage, with what its neighbours lend it.
    fn count(&mut self, number: usize, term: &Asked) {
        let Some(postings) = self.postings.get(number) else { return };
        let (counts, counted) = (&mut self.counts, &mut self.counted);
        let mut add = |passage: u32, often: f32| {
            if let Some(count) = counts.get_mut(passage as usize) {
                if *count == 0.0 {
                    counted.push(passage);
                }
                *count += often;
            }
        };
        for Posting { passage, count } in postings {
            let often = f32::from(*count);
            // Who asks the same says nothing of what was said before.
            let repeats = self.repeats.binary_search(passage).is_ok();
            match term.field {
                Field::Identifier => add(*passage, often),
                Field::Word | Field::Pair => self.sight.lend(*passage, |to, weight| {
                    if !repeats || to >= *passage {
                        add(to, weight * often);
                    }
                }),
            }
        }
    }

    /// Adds what the counted term is worth to the scores.
    fn score(&mut self, term: &Asked, idf: f32, average: f32) {
        let is_pair = term.field == Field::Pair;
        let worth = term.worth();
        for passage in self.counted.drain(..) {
            let (Some(count), Some(score)) =
                (self.counts.get_mut(passage as usize), self.scores.get_mut(passage as usize))
            else {
                continue;
            };
            let often = std::mem::take(count);
            let length = match term.field {
                Field::Identifier => SATURATION,
                Field::Word | Field::Pair => {
                    1.0 - LENGTH + LENGTH * self.sight.length(passage, is_pair) / average.max(f32::MIN_POSITIVE)
                }
            };
            *score += worth * idf * (SATURATION + 1.0) * often / (often + SATURATION * length);
        }
    }

    /// What of this scope may be a hit: what has a word of the question, or, `by_date`, what is of a date that it names.
    fn candidates(
        &self,
        scope: usize,
        query: &IndexQuery<'_>,
        signals: &Signals,
        by_date: bool,
        found: &mut Vec<Candidate>,
    ) {
        let wanted: Vec<bool> = self.index.texts.classes.iter().map(query.wants).collect();
        for text in &self.index.texts.texts {
            let range = text.passages.start as usize..text.passages.end as usize;
            let scores = self.scores.get(range).unwrap_or_default();
            let is_of_date = by_date && self.sight.sees(text.passages.start) && signals.date(text) > 0.0;
            let scored = (text.passages.clone()).zip(scores).filter(|(_, score)| **score > 0.0 || is_of_date);
            let best = scored.clone().reduce(|best, next| if next.1 > best.1 { next } else { best });
            let Some((best, lexical)) = best else { continue };
            if !wanted.get(text.class as usize).is_some_and(|wanted| *wanted) || (query.skips)(scope, text.seq) {
                continue;
            }
            let seq = text.seq;
            match text.kind {
                Kind::Message => {
                    let signals = signals.of_message(text, self.index.texts.speaker_of(text));
                    let (score, has) = (lexical + signals.sum(), self.has(best));
                    found.push(Candidate { scope, passage: best, seq, score, signals, has });
                }
                Kind::Text => {
                    let signals = Found { date: signals.date(text), ..Found::default() };
                    found.extend(scored.map(|(passage, lexical)| Candidate {
                        scope,
                        passage,
                        seq,
                        score: lexical + signals.sum(),
                        signals,
                        has: self.has(passage),
                    }));
                }
            }
        }
    }

    /// What a passage has of the question.
    fn has(&self, passage: u32) -> Has {
        match self.common.get(passage as usize) {
            _ if self.repeats(passage) => Has::Question,
            Some(common) if common.terms > 0 => Has::Words,
            _ => Has::Borrowed,
        }
    }

    /// For each text of this scope the best score of what has words of its own.
    fn lenders(&self, scope: usize, best: &[Candidate]) -> Vec<f32> {
        let mut scores = vec![f32::NEG_INFINITY; self.index.texts.texts.len()];
        for found in best.iter().filter(|found| found.scope == scope && found.has == Has::Words) {
            let Some(passage) = self.index.texts.passages.get(found.passage as usize) else { continue };
            if let Some(score) = scores.get_mut(passage.text as usize) {
                *score = f32::max(*score, found.score);
            }
        }
        scores
    }

    /// The most that a passage without words of its own can count: the best score of the texts that lend it theirs, and where
    /// those only repeat the question, the `lowest` of what has words of its own.
    fn most_for_neighbour(&self, passage: u32, lenders: &[f32], lowest: f32) -> f32 {
        let (mut most, mut is_of_repeats) = (f32::NEG_INFINITY, true);
        self.sight.borrow(passage, |lender, _| {
            let text = self.index.texts.passages.get(lender as usize).map(|lender| lender.text as usize);
            let score = text.and_then(|text| lenders.get(text)).copied();
            most = f32::max(most, score.unwrap_or(f32::NEG_INFINITY));
            let lends = self.common.get(lender as usize).is_some_and(|common| common.terms > 0);
            is_of_repeats &= !lends || self.repeats(lender);
        });
        match most.is_infinite() {
            true if is_of_repeats => lowest,
            true => f32::INFINITY,
            false => most,
        }
    }

    /// Whether a passage is of a message that only repeats the question.
    fn repeats(&self, passage: u32) -> bool {
        self.repeats.binary_search(&passage).is_ok()
    }

    /// Whether a passage answers such a message.
    fn answers_repeat(&self, passage: u32) -> bool {
        let asked = || self.sight.before(passage).is_some_and(|asked| self.repeats(asked));
        !self.repeats.is_empty() && self.sight.answers(passage) && asked()
    }

    fn hit(&self, found: &Candidate, asked: &[Asked], meant: Option<(&Vector, f32)>) -> Option<Hit> {
        let passage = self.index.texts.passages.get(found.passage as usize)?;
        let text = self.index.texts.texts.get(passage.text as usize)?;
        let before = self.sight.before(found.passage);
        let before = before.and_then(|number| self.index.texts.passages.get(number as usize));
        let before = before.and_then(|before| self.index.texts.texts.get(before.text as usize));
        let needs = self.sight.answers(found.passage) || passage.words < FEW_WORDS;
        let before = before.filter(|before| needs && before.seq != text.seq).map(|before| before.seq);
        let mut why = HitWhy {
            speaker: found.signals.speaker,
            role: found.signals.role,
            date: found.signals.date,
            meaning: meant.map_or(0.0, |(vector, weight)| {
                dense::of(&self.index.vectors, &self.sight, vector, weight, found.passage)
            }),
            ..HitWhy::default()
        };
        for (term, postings) in asked.iter().zip(&self.postings) {
            let stands = |number: u32| postings.binary_search_by_key(&number, |posting| posting.passage).is_ok();
            if stands(found.passage) {
                why.terms.push(term.text.clone());
            } else if term.field == Field::Word {
                let mut is_near = false;
                self.sight.lend(found.passage, |other, _| is_near |= stands(other));
                why.near.extend(is_near.then(|| term.text.clone()));
            }
        }
        Some(Hit {
            scope: found.scope,
            seq: found.seq,
            class: self.index.texts.classes.get(text.class as usize)?.clone(),
            speaker: self.index.texts.speaker_of(text).map(str::to_owned),
            bytes: passage.start as usize..passage.end as usize,
            score: found.score,
            why,
            before,
        })
    }
}
