//! Snapshots.

use callboard_core::{
    entry::Head,
    id::{Seq, SessionId},
};

use super::{
    column::{self, get},
    database::{Database, Params},
    sessions::LIVE_SESSION_ID,
};
use crate::{Error, Snapshot, store::SNAPSHOTS_KEPT};

/// See [`Store::put_snapshot`](crate::Store::put_snapshot).
pub(super) async fn put(database: &Database, session: &SessionId, at: Head, state: &[u8]) -> Result<(), Error> {
    // A deletion or a rewrite of entries waits for this lock. If it came first, there is no such row, and nothing is
    // written.
    let sql = "WITH here AS MATERIALIZED (
            SELECT n.id FROM session n
            WHERE n.name = $1 AND (n.expires_at IS NULL OR n.expires_at > moment($2)) AND n.rewritten <= $3
            FOR NO KEY UPDATE
        ), kept AS (
            INSERT INTO snapshot (session, seq, tag, state)
            SELECT e.session, e.seq, e.tag, $5 FROM entry e
            WHERE e.session = (SELECT id FROM here) AND e.seq = $3 AND e.tag = $4
                AND (SELECT count(*) FROM snapshot k WHERE k.session = e.session AND k.seq > $3) <= $6
            ON CONFLICT (session, seq) DO UPDATE SET tag = excluded.tag, state = excluded.state
            RETURNING session, seq
        )
        DELETE FROM snapshot s USING kept
        WHERE s.session = kept.session AND s.seq <> kept.seq AND s.seq NOT IN (
            SELECT k.seq FROM snapshot k WHERE k.session = kept.session AND k.seq <> kept.seq
            ORDER BY k.seq DESC LIMIT $6)";
    let others = column::limit(SNAPSHOTS_KEPT - 1);
    let params: Params<'_> =
        &[&session.as_str(), &database.test_time(), &column::number(at.seq), &&at.tag.0[..], &state, &others];
    database.rows("keeping a snapshot", sql, params, |_| Ok(())).await.map(drop)
}

/// See [`Store::snapshot`](crate::Store::snapshot).
pub(super) async fn newest(database: &Database, session: &SessionId, at: Seq) -> Result<Option<Snapshot>, Error> {
    let sql = format!(
        "SELECT s.seq, s.tag, s.state FROM snapshot s WHERE s.session = {LIVE_SESSION_ID} AND s.seq <= $3
         ORDER BY s.seq DESC LIMIT 1"
    );
    let params: Params<'_> = &[&session.as_str(), &database.test_time(), &column::number(at)];
    let snapshot = |row: &_| Ok((column::head(row, 0)?, get::<&[u8]>(row, 2)?.into()));
    database.first_row("reading a snapshot", &sql, params, snapshot).await
}
