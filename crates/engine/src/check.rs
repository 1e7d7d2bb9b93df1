//! Checking a journal: whether it is the one that was written, and folds to what is known of it.

use callboard_core::{
    entry::Entry,
    id::{Seq, SessionId},
    state::State,
};

use crate::{
    Board, Error,
    journal::{PAGE, follows, read},
    snapshot,
};

/// What came of checking a journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// How many entries were read.
    pub entries: u64,
    /// What is wrong with it, in words. Nothing where it is sound.
    pub faults: Vec<String>,
}

impl Board {
    /// Reads the whole journal of a session: whether each entry follows on the one before it by number and tag, whether
    /// it ends where the store says, and whether the newest snapshot is what its entries fold to.
    pub async fn check(&self, id: &SessionId) -> Result<Checked, Error> {
        let store = self.store();
        let row = store.row(id).await?.ok_or_else(|| Error::NoSession { session: id.clone() })?;
        let (mut state, mut checked) = (State::default(), Checked::default());
        while state.head.seq < row.head.seq {
            let page = read(&**store, id, state.head.seq, row.head.seq, PAGE).await?;
            if page.is_empty() {
                checked.faults.push(format!("entry {} is missing", state.head.seq.next()));
                return Ok(checked);
            }
            for entry in &page {
                if let Err(fault) = take_in(&mut state, entry) {
                    checked.faults.push(fault);
                    return Ok(checked);
                }
                checked.entries += 1;
            }
        }
        if state.head != row.head {
            checked.faults.push(format!("it ends with entry {} otherwise than it is listed", state.head.seq));
        } else if snapshot::load(&**store, id, row.head.seq).await?.is_some_and(|loaded| loaded.state != state) {
            checked.faults.push("a snapshot is not what the entries fold to".to_owned());
        }
        Ok(checked)
    }
}

fn take_in(state: &mut State, entry: &Entry) -> Result<(), String> {
    let Seq(seq) = entry.header.seq;
    if !follows(state.head, entry) {
        return Err(format!("entry {seq} does not follow on entry {}: its number or its tag is wrong", state.head.seq));
    }
    state.apply(entry).map_err(|error| error.to_string())
}
