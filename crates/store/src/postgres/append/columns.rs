//! Batches as columns, which is how the function `append` takes them.

use std::{collections::HashMap, sync::Arc};

use callboard_core::{entry::Entry, id::Seq, time::Timestamp};

use super::super::column::{self, short_hash};
use crate::{Append, Rewrite};

/// The contents of batches. `batch` columns have the number of the batch, from 1.
#[derive(Default)]
pub(super) struct Columns<'a> {
    pub(super) claims: Claims<'a>,
    /// For each batch, the first key that it claims twice, and the entry that claims it first.
    pub(super) repeated: Vec<Option<(Arc<str>, Seq)>>,
    /// Types, each once for all batches.
    pub(super) types: Words<'a>,
    /// Subjects, each once for each batch.
    pub(super) subjects: Words<'a>,
    /// Texts too large for entries.
    pub(super) value_batch: Vec<i32>,
    pub(super) value_hashes: Vec<&'a [u8]>,
    pub(super) value_texts: Vec<&'a [u8]>,
    /// New data of entries that are there.
    pub(super) rewrite_batch: Vec<i32>,
    pub(super) rewrite_seq: Vec<i64>,
    pub(super) rewrite_data: Vec<&'a [u8]>,
    /// Values that are removed.
    pub(super) drop_batch: Vec<i32>,
    pub(super) drop_hashes: Vec<&'a [u8]>,
    pub(super) batch: Vec<i32>,
    pub(super) seq: Vec<i64>,
    pub(super) at: Vec<i64>,
    pub(super) time: Vec<Option<i64>>,
    /// For each entry, the position of its type among the types, from 1.
    pub(super) kind: Vec<i32>,
    /// For each entry, the position of its subject among the subjects, from 1.
    pub(super) subject: Vec<i32>,
    pub(super) v: Vec<i32>,
    pub(super) tag: Vec<&'a [u8]>,
    pub(super) actor: Vec<String>,
    pub(super) audience: Vec<Option<String>>,
    pub(super) keys: Vec<Option<String>>,
    pub(super) nonce: Vec<Option<i64>>,
    pub(super) data: Vec<&'a [u8]>,
}

impl<'a> Columns<'a> {
    pub(super) fn of(batches: &[&'a Append]) -> Self {
        let mut columns = Self::default();
        for (batch, number) in batches.iter().zip(1..) {
            columns.repeated.push(columns.claims.take(number, &batch.entries));
            batch.entries.iter().for_each(|entry| columns.take(number, entry));
            for (hash, text) in &batch.values {
                columns.value_batch.push(number);
                columns.value_hashes.push(&hash.0);
                columns.value_texts.push(text.as_bytes());
            }
            for Rewrite { seq, data } in &batch.rewrites {
                columns.rewrite_batch.push(number);
                columns.rewrite_seq.push(column::number(*seq));
                columns.rewrite_data.push(data.as_bytes());
            }
            for hash in batch.dropped_values() {
                columns.drop_batch.push(number);
                columns.drop_hashes.push(&hash.0);
            }
        }
        columns
    }

    fn take(&mut self, batch: i32, entry: &'a Entry) {
        let Entry { header, data, tag } = entry;
        self.batch.push(batch);
        self.seq.push(column::number(header.seq));
        self.at.push(header.at.as_millis());
        self.time.push(header.time.map(Timestamp::as_millis));
        self.kind.push(self.types.place(ALL_BATCHES, &header.kind));
        self.subject.push(self.subjects.place(batch, &header.subject));
        self.v.push(header.v.into());
        self.tag.push(&tag.0);
        self.actor.push(header.by.to_string());
        self.audience.push(column::audience_text(&header.audience));
        self.keys.push(column::keys_text(&header.keys));
        self.nonce.push(header.nonce.map(Into::into));
        self.data.push(data.as_bytes());
    }
}

/// The keys that batches claim; those of a batch end before the first that it claims twice.
#[derive(Default)]
pub(super) struct Claims<'a> {
    pub(super) batch: Vec<i32>,
    pub(super) seq: Vec<i64>,
    pub(super) keys: Vec<&'a Arc<str>>,
    /// The short hashes of the keys.
    pub(super) short: Vec<Vec<u8>>,
}

impl<'a> Claims<'a> {
    /// Adds the keys of a batch. Returns the first key that it claims twice, and the entry that claims it first.
    fn take(&mut self, batch: i32, entries: &'a [Entry]) -> Option<(Arc<str>, Seq)> {
        let mut claimed: HashMap<&str, Seq> = HashMap::new();
        for header in entries.iter().map(|entry| &entry.header) {
            for key in &header.keys {
                if let Some(seq) = claimed.insert(key, header.seq) {
                    return Some((key.clone(), seq));
                }
                self.batch.push(batch);
                self.seq.push(column::number(header.seq));
                self.keys.push(key);
                self.short.push(short_hash(key).to_vec());
            }
        }
        None
    }
}

/// In the place of the number of a batch, for what belongs to no single one.
const ALL_BATCHES: i32 = 0;

/// Words, each once for each batch, and their short hashes.
#[derive(Default)]
pub(super) struct Words<'a> {
    places: HashMap<(i32, &'a str), i32>,
    pub(super) batch: Vec<i32>,
    pub(super) hashes: Vec<Vec<u8>>,
    pub(super) texts: Vec<&'a [u8]>,
}

impl<'a> Words<'a> {
    fn place(&mut self, batch: i32, text: &'a str) -> i32 {
        *self.places.entry((batch, text)).or_insert_with(|| {
            self.batch.push(batch);
            self.hashes.push(short_hash(text).to_vec());
            self.texts.push(text.as_bytes());
            i32::try_from(self.texts.len()).unwrap_or(i32::MAX)
        })
    }
}
