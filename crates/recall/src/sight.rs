//! Sight: the passages that one viewer sees, in the order in which they stand beside each other. All statistics are over
//! these alone, so nothing of a result depends on what is hidden.

use callboard_core::id::Seq;
use rustc_hash::FxHashMap;

use crate::{
    texts::{Indexed, Kind, Text, Texts, to_u32},
    window::{FARTHEST_WORDS, REACH, backward, forward},
};

/// Messages so many milliseconds apart are of two sittings, between which nothing is lent.
const SITTING_MS: i64 = 4 * 60 * 60 * 1000;

/// In how many parts a term is counted in lengths, so that sums are the same in any order.
const LENGTH_UNIT: f64 = 256.0;

/// The passages that a viewer sees.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sight {
    /// From which entry on the viewer sees each class.
    from: Vec<Option<Seq>>,
    /// How many texts of the index were looked at.
    texts: usize,
    /// Passages that stand beside each other: those of a thread, or of one text.
    lanes: Vec<Lane>,
    /// The lane of each thread, by the number of its subject, and its last message.
    threads: FxHashMap<u32, (u32, u32)>,
    /// For each passage where it stands; [`NOWHERE`] if it is not seen.
    places: Vec<Place>,
    /// For each passage, how many terms and pairs it has with what its neighbours lend it.
    lengths: Vec<[f32; 2]>,
    /// How many passages are seen.
    pub(crate) count: u32,
    /// The sums of all lengths.
    sums: [u64; 2],
}

#[derive(Clone, Debug, Default)]
struct Lane {
    seats: Vec<Seat>,
}

/// A passage in a lane.
#[derive(Clone, Copy, Debug)]
struct Seat {
    passage: u32,
    words: u32,
    terms: u16,
    /// Whether what stands before it lends it nothing.
    begins_sitting: bool,
    /// Whether the message just before it asks and its own does not.
    answers: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    lane: u32,
    seat: u32,
}

const NOWHERE: Place = Place { lane: u32::MAX, seat: u32::MAX };

impl Sight {
    /// Whether it becomes the sight of `from` when it is extended.
    pub(crate) fn begins(&self, from: &[Option<Seq>]) -> bool {
        from.get(..self.from.len()).is_some_and(|begin| *begin == self.from)
    }

    /// How much memory it takes, about.
    pub(crate) fn bytes(&self) -> usize {
        self.places.len() * (size_of::<Place>() + size_of::<[f32; 2]>()) + self.count as usize * size_of::<Seat>()
    }

    /// Whether all texts were looked at.
    pub(crate) fn has_all(&self, index: &Texts) -> bool {
        (self.texts, self.from.len()) == (index.texts.len(), index.classes.len())
    }

    /// It with the texts that the index got since. Each class is seen from an entry on.
    pub(crate) fn extended(mut self, index: &Texts, from: Vec<Option<Seq>>, at: Option<Seq>) -> Self {
        self.from = from;
        self.places.resize(index.passages.len(), NOWHERE);
        self.lengths.resize(index.passages.len(), [0.0; 2]);
        let numbered = (0..).zip(&index.texts).skip(self.texts);
        let mut seen: Vec<(u32, &Text)> = numbered.filter(|(_, text)| self.is_seen(text, at)).collect();
        if !seen.is_sorted_by_key(|(_, text)| text.seq) {
            seen.sort_by_key(|(_, text)| text.seq);
        }
        for (number, text) in seen {
            self.add(index, number, text);
        }
        self.texts = index.texts.len();
        self
    }

    fn is_seen(&self, text: &Text, at: Option<Seq>) -> bool {
        let reaches = self.from.get(text.class as usize).copied().flatten().is_some_and(|from| text.seq >= from);
        let is_known = at.is_none_or(|at| text.seq <= at);
        let stands = text.until.is_none_or(|until| at.is_some_and(|at| until > at));
        reaches && is_known && stands && !text.erased
    }

    /// Adds the passages of a text to its lane.
    fn add(&mut self, index: &Texts, number: u32, text: &Text) {
        let subject = index.subject_of(text);
        let thread = self.threads.get(&subject).copied().filter(|_| text.kind == Kind::Message);
        let lane = thread.map_or(to_u32(self.lanes.len()), |(lane, _)| lane);
        if thread.is_none() {
            self.lanes.push(Lane::default());
        }
        if text.kind == Kind::Message {
            self.threads.insert(subject, (lane, number));
        }
        let before = thread.and_then(|(_, last)| index.texts.get(last as usize));
        let gap = before.map(|before| text.time.as_millis().saturating_sub(before.time.as_millis()).saturating_abs());
        for (place, number) in text.passages.clone().enumerate() {
            let Some(Indexed { words, terms, .. }) = index.passages.get(number as usize) else { continue };
            self.sit(
                lane,
                Seat {
                    passage: number,
                    words: u32::from(*words),
                    terms: *terms,
                    begins_sitting: place == 0 && gap.is_some_and(|gap| gap > SITTING_MS),
                    answers: place == 0 && !text.asks && before.is_some_and(|before| before.asks),
                },
            );
        }
    }

    /// Adds a passage at the end of a lane, and adds up what it and its neighbours lend each other.
    fn sit(&mut self, lane: u32, seat: Seat) {
        let Some(held) = self.lanes.get_mut(lane as usize) else { return };
        let at = held.seats.len();
        if let Some(place) = self.places.get_mut(seat.passage as usize) {
            *place = Place { lane, seat: to_u32(at) };
        }
        held.seats.push(seat);
        let near: Vec<_> = held.before(at).collect();
        for (distance, (other, gap)) in near.iter().enumerate().rev() {
            self.lengthen(seat.passage, *other, forward(*gap, other.words, distance == 0 && seat.answers));
        }
        self.lengthen(seat.passage, seat, 1.0);
        for (other, gap) in near {
            self.lengthen(other.passage, seat, backward(gap, seat.words));
        }
        self.count += 1;
    }

    /// Adds what `lender` lends to the length of a passage.
    fn lengthen(&mut self, passage: u32, lender: Seat, weight: f32) {
        let Some(lengths) = self.lengths.get_mut(passage as usize) else { return };
        let lent = [f32::from(lender.terms), f32::from(lender.terms.saturating_sub(1))];
        for ((length, sum), lent) in lengths.iter_mut().zip(&mut self.sums).zip(lent) {
            let unit = |length: f32| (f64::from(length) * LENGTH_UNIT).round() as u64;
            let before = unit(*length);
            *length += weight * lent;
            *sum = *sum + unit(*length) - before;
        }
    }

    /// Whether a passage is seen.
    pub(crate) fn sees(&self, passage: u32) -> bool {
        self.places.get(passage as usize).is_some_and(|place| *place != NOWHERE)
    }

    /// Whether the passage `first` or a later one is seen.
    pub(crate) fn sees_from(&self, first: usize) -> bool {
        self.places.iter().skip(first).any(|place| *place != NOWHERE)
    }

    /// The lane of a passage, and where and how it stands in it.
    fn find(&self, passage: u32) -> Option<(&Lane, usize, Seat)> {
        let place = self.places.get(passage as usize)?;
        let (lane, at) = (self.lanes.get(place.lane as usize)?, place.seat as usize);
        Some((lane, at, *lane.seats.get(at)?))
    }

    /// Calls `lent` with each passage to which `passage` lends its words, itself included, and how much of them.
    pub(crate) fn lend(&self, passage: u32, mut lent: impl FnMut(u32, f32)) {
        let Some((lane, at, from)) = self.find(passage) else { return };
        lent(passage, 1.0);
        for (seat, gap) in lane.before(at) {
            lent(seat.passage, backward(gap, from.words));
        }
        for (distance, (seat, gap)) in lane.after(at).enumerate() {
            lent(seat.passage, forward(gap, from.words, distance == 0 && seat.answers));
        }
    }

    /// Calls `lender` with each passage that lends its words to `passage`, itself included, and how much of them.
    pub(crate) fn borrow(&self, passage: u32, mut lender: impl FnMut(u32, f32)) {
        let Some((lane, at, to)) = self.find(passage) else { return };
        lender(passage, 1.0);
        for (distance, (seat, gap)) in lane.before(at).enumerate() {
            lender(seat.passage, forward(gap, seat.words, distance == 0 && to.answers));
        }
        for (seat, gap) in lane.after(at) {
            lender(seat.passage, backward(gap, seat.words));
        }
    }

    /// How many terms, or pairs, a passage has with what it is lent.
    pub(crate) fn length(&self, passage: u32, is_pairs: bool) -> f32 {
        let [terms, pairs] = self.lengths.get(passage as usize).copied().unwrap_or_default();
        if is_pairs { pairs } else { terms }
    }

    /// The sum of all lengths, in terms or pairs.
    pub(crate) fn sum(&self, is_pairs: bool) -> f64 {
        let [terms, pairs] = self.sums;
        (if is_pairs { pairs } else { terms }) as f64 / LENGTH_UNIT
    }

    /// Whether the message just before a passage asks what it answers.
    pub(crate) fn answers(&self, passage: u32) -> bool {
        self.find(passage).is_some_and(|(_, _, seat)| seat.answers)
    }

    /// The passage that stands just before one.
    pub(crate) fn before(&self, passage: u32) -> Option<u32> {
        let (lane, at, _) = self.find(passage)?;
        Some(lane.seats.get(at.checked_sub(1)?)?.passage)
    }
}

impl Lane {
    /// What stands near before the passage at `at`, from the nearest on.
    fn before(&self, at: usize) -> impl Iterator<Item = (Seat, u32)> {
        let seats = self.seats.get(..=at).unwrap_or_default().iter().rev();
        near(seats.clone().skip(1).zip(seats.map(|behind| behind.begins_sitting)))
    }

    /// What stands near behind the passage at `at`, from the nearest on.
    fn after(&self, at: usize) -> impl Iterator<Item = (Seat, u32)> {
        let seats = self.seats.get(at + 1..).unwrap_or_default().iter();
        near(seats.map(|seat| (seat, seat.begins_sitting)))
    }
}

/// Those of these passages that are near and of the same sitting, each with how many words stand between. Each comes with
/// whether a sitting begins between it and the one that comes before it here.
fn near<'a>(seats: impl Iterator<Item = (&'a Seat, bool)>) -> impl Iterator<Item = (Seat, u32)> {
    let mut gap = 0;
    seats.take(REACH).map_while(move |(seat, is_apart)| {
        let between = gap;
        gap += seat.words;
        (between < FARTHEST_WORDS && !is_apart).then_some((*seat, between))
    })
}
