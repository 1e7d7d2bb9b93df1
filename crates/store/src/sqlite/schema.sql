-- Ids in place of texts keep rows small. A `session.id` is never used again, so the rows of a deleted session cannot be
-- reached any more, and can be removed later, in slices.

CREATE TABLE session (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    name          TEXT    NOT NULL UNIQUE,
    seq           INTEGER NOT NULL,      -- the head
    tag           BLOB    NOT NULL,
    expires_at    INTEGER,               -- milliseconds since 1970; null is never
    due           INTEGER,               -- when a sweep looks at it: not later than expires_at, which appends move
    last_activity INTEGER NOT NULL,      -- milliseconds since 1970
    holder        TEXT,                  -- who holds the lease; null without a lease
    held_until    INTEGER,               -- when the lease expires, in milliseconds since 1970
    is_request    INTEGER NOT NULL,      -- 1 for the record of a request, 0 for a session
    used_at       INTEGER NOT NULL,      -- last_activity as of the last indexing
    rewritten     INTEGER NOT NULL DEFAULT 0 -- the head of the last batch that rewrote entries: no older snapshot is kept
);
CREATE INDEX session_by_name ON session (name) WHERE is_request = 0;
CREATE INDEX session_by_use ON session (is_request, used_at, name);
CREATE INDEX session_by_due ON session (due, name) WHERE due IS NOT NULL;
CREATE INDEX session_by_lease ON session (held_until, name) WHERE held_until IS NOT NULL;

-- Sessions that were deleted and still have rows.
CREATE TABLE dead (session INTEGER PRIMARY KEY);

-- Types of entries. They are few, fixed and not private, so all sessions share them.
CREATE TABLE type (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);

-- Subjects, actors and audiences. People chose these names, so each session has its own, and they are deleted with it.
CREATE TABLE word (
    session INTEGER NOT NULL,
    id      INTEGER NOT NULL,
    text    TEXT    NOT NULL,
    PRIMARY KEY (session, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX word_by_text ON word (session, text);

-- The entries of all sessions in the order of their commits, so that new ones fill the last page. `id` numbers changes;
-- `notice` shares the sequence.
CREATE TABLE entry (
    id       INTEGER PRIMARY KEY,
    session  INTEGER NOT NULL,
    seq      INTEGER NOT NULL,
    v        INTEGER NOT NULL,
    at       INTEGER NOT NULL,           -- milliseconds since 1970
    actor    INTEGER NOT NULL,           -- a word
    type     INTEGER NOT NULL,
    subject  INTEGER NOT NULL,           -- a word
    audience INTEGER,                    -- a word; null is `all`
    time     INTEGER,                    -- milliseconds since 1970
    keys     TEXT,                       -- a JSON array; null is none
    nonce    INTEGER,
    tag      BLOB    NOT NULL,
    data     TEXT    NOT NULL
);

-- The indexes of entries. An append writes none of these: entries are indexed ("filed") later, many at a time. Entries
-- that are not indexed yet are at the end of `entry`, in a few pages after the id `filed.through`.
CREATE TABLE filed (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    through INTEGER NOT NULL
);
INSERT INTO filed VALUES (1, 0);

CREATE TABLE by_seq (
    session INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    entry   INTEGER NOT NULL,
    PRIMARY KEY (session, seq)
) WITHOUT ROWID;

CREATE TABLE by_type (
    session INTEGER NOT NULL,
    type    INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    entry   INTEGER NOT NULL,
    PRIMARY KEY (session, type, seq)
) WITHOUT ROWID;

CREATE TABLE by_subject (
    session INTEGER NOT NULL,
    subject INTEGER NOT NULL,
    type    INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    entry   INTEGER NOT NULL,
    PRIMARY KEY (session, subject, type, seq)
) WITHOUT ROWID;

-- Only entries that have a time.
CREATE TABLE by_time (
    session INTEGER NOT NULL,
    subject INTEGER NOT NULL,
    type    INTEGER NOT NULL,
    time    INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    entry   INTEGER NOT NULL,
    PRIMARY KEY (session, subject, type, time, seq)
) WITHOUT ROWID;

-- Which entry claimed a key. `key` is the first 16 bytes of the key's SHA-256.
CREATE TABLE claim (
    session INTEGER NOT NULL,
    key     BLOB    NOT NULL,
    seq     INTEGER NOT NULL,
    PRIMARY KEY (session, key)
) WITHOUT ROWID;

-- Texts too large for entries, by their SHA-256.
CREATE TABLE value (
    session INTEGER NOT NULL,
    hash    BLOB    NOT NULL,
    text    TEXT    NOT NULL,
    PRIMARY KEY (session, hash)
);

CREATE TABLE snapshot (
    session INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    tag     BLOB    NOT NULL,
    state   BLOB    NOT NULL,
    PRIMARY KEY (session, seq)
);

-- Has a row if data was erased since the file was last vacuumed: copies of it may be in unused parts of pages.
CREATE TABLE unclean (one INTEGER PRIMARY KEY CHECK (one = 1));

-- Changes that add no entry (a session was touched or deleted), kept for about a minute so that other processes see them.
-- The newest row stays without its name, so that the numbers of changes do not go back when the newest entries are deleted.
CREATE TABLE notice (
    id   INTEGER PRIMARY KEY,
    name TEXT,
    at   INTEGER NOT NULL                -- milliseconds since 1970
);

-- For people: sqlite3 callboard.db "SELECT * FROM journal WHERE session = 'demo' ORDER BY seq"
CREATE VIEW journal AS
SELECT session.name                                                         AS session,
       entry.seq                                                            AS seq,
       strftime('%Y-%m-%dT%H:%M:%fZ', entry.at / 1000.0, 'unixepoch')       AS at,
       actor.text                                                           AS "by",
       type.name                                                            AS type,
       subject.text                                                         AS subject,
       coalesce(audience.text, 'all')                                       AS audience,
       entry.data                                                           AS data
FROM entry
JOIN session ON session.id = entry.session
JOIN type ON type.id = entry.type
JOIN word AS actor ON actor.session = entry.session AND actor.id = entry.actor
JOIN word AS subject ON subject.session = entry.session AND subject.id = entry.subject
LEFT JOIN word AS audience ON audience.session = entry.session AND audience.id = entry.audience;
