-- Format 1. Free texts are stored as bytes (`bytea`), since a text of Postgres cannot contain NUL. Texts of any length are
-- found by the first 16 bytes of their SHA-256. A `session.id` is never used again, so the rows of a deleted session cannot
-- be reached any more, and can be removed later, in slices.

CREATE TABLE session (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    seq           bigint NOT NULL,                 -- the head
    expires_at    bigint,                          -- milliseconds since 1970; null is never
    last_activity bigint NOT NULL,                 -- milliseconds since 1970
    change        bigint NOT NULL,                 -- the transaction that changed it last
    held_until    bigint,                          -- when the lease expires; null without a lease
    tag           bytea  NOT NULL,                 -- of the head
    name          text   COLLATE "C" NOT NULL UNIQUE,
    holder        text   COLLATE "C"               -- who holds the lease
);
CREATE INDEX session_by_expiry ON session (expires_at, name) WHERE expires_at IS NOT NULL;
CREATE INDEX session_by_change ON session (change);
CREATE INDEX session_by_lease ON session (held_until, name) WHERE held_until IS NOT NULL;

-- Deleted sessions: kept until their rows are removed, and for at least a minute, so that all servers see the deletion.
CREATE TABLE dead (
    session bigint  PRIMARY KEY,
    change  bigint  NOT NULL,                      -- the transaction that deleted it
    at      bigint  NOT NULL,                      -- milliseconds since 1970, by the clock of the database
    emptied boolean NOT NULL DEFAULT false,        -- whether its rows are removed
    name    text    COLLATE "C" NOT NULL
);
CREATE INDEX dead_by_change ON dead (change);
CREATE INDEX dead_with_rows ON dead (session) WHERE NOT emptied;
CREATE INDEX dead_without_rows ON dead (at) WHERE emptied;

-- Types of entries. They are few, fixed and not private, so all sessions share them.
CREATE TABLE type (
    id   integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hash bytea   NOT NULL UNIQUE,
    name bytea   NOT NULL
);

-- Subjects. People chose these names, so each session has its own, and they are deleted with it.
CREATE TABLE subject (
    session bigint  NOT NULL,
    id      integer NOT NULL,
    hash    bytea   NOT NULL,
    text    bytea   NOT NULL,
    PRIMARY KEY (session, id),
    UNIQUE (session, hash)
);

CREATE TABLE entry (
    session  bigint  NOT NULL,
    seq      bigint  NOT NULL,
    at       bigint  NOT NULL,                     -- milliseconds since 1970
    time     bigint,                               -- milliseconds since 1970
    type     integer NOT NULL,
    subject  integer NOT NULL,
    v        integer NOT NULL,
    tag      bytea   NOT NULL,
    actor    text    NOT NULL,
    audience text,                                 -- null is `all`
    keys     text,                                 -- a JSON array; null is none
    nonce    bigint,
    data     bytea   NOT NULL,
    PRIMARY KEY (session, seq)
);
CREATE INDEX entry_by_type ON entry (session, type, seq);
CREATE INDEX entry_by_subject ON entry (session, subject, type, seq);
CREATE INDEX entry_by_time ON entry (session, subject, type, time, seq) WHERE time IS NOT NULL;

-- Which entry claimed a key.
CREATE TABLE claim (
    session bigint NOT NULL,
    seq     bigint NOT NULL,
    key     bytea  NOT NULL,
    PRIMARY KEY (session, key)
);

-- Texts too large for entries, by their SHA-256.
CREATE TABLE value (
    session bigint NOT NULL,
    hash    bytea  NOT NULL,
    text    bytea  NOT NULL,
    PRIMARY KEY (session, hash)
);

CREATE TABLE snapshot (
    session bigint NOT NULL,
    seq     bigint NOT NULL,
    tag     bytea  NOT NULL,
    state   bytea  NOT NULL,
    PRIMARY KEY (session, seq)
);

-- Numbers the handles on this data, so that each knows its own notifications.
CREATE SEQUENCE node;

-- The time by which sessions expire: that of a test (`said`), else that of the database.
CREATE FUNCTION moment(said bigint) RETURNS bigint LANGUAGE sql AS $$
    SELECT coalesce(said, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)
$$;

-- The number of this transaction.
CREATE FUNCTION this_change() RETURNS bigint LANGUAGE sql AS $$
    SELECT pg_current_xact_id()::text::bigint
$$;

-- Renews the leases of `who`, gives it up to `most` expired leases, and returns the sessions of all leases that it then has.
-- If `lasts` is 0, it releases all of them. Locked rows are left to the next call, so that nobody waits.
CREATE FUNCTION lease(said bigint, who text, lasts bigint, most bigint) RETURNS TABLE (name text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    now_ms bigint := moment(said);
BEGIN
    IF NOT EXISTS (SELECT 1 FROM session WHERE held_until IS NOT NULL) THEN
        RETURN;
    END IF;
    UPDATE session SET held_until = now_ms + lasts, holder = CASE WHEN lasts = 0 THEN '' ELSE who END
    WHERE id = ANY (ARRAY(
        SELECT s.id FROM session s WHERE s.held_until IS NOT NULL AND s.holder = who FOR NO KEY UPDATE SKIP LOCKED));
    IF lasts = 0 THEN
        RETURN;
    END IF;
    UPDATE session SET held_until = now_ms + lasts, holder = who
    WHERE id = ANY (ARRAY(
        SELECT s.id FROM session s
        WHERE s.held_until IS NOT NULL AND s.held_until <= now_ms AND s.holder <> who
            AND (s.expires_at IS NULL OR s.expires_at > now_ms)
        ORDER BY s.held_until, s.name LIMIT most FOR NO KEY UPDATE SKIP LOCKED));
    RETURN QUERY
    SELECT s.name FROM session s
    WHERE s.held_until IS NOT NULL AND s.holder = who AND (s.expires_at IS NULL OR s.expires_at > now_ms)
    ORDER BY s.name;
END
$$;

-- Marks up to `most` expired sessions as deleted. Locked ones are left to the next call.
CREATE FUNCTION sweep(said bigint, most bigint) RETURNS TABLE (name text, this bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    now_ms bigint := moment(said);
BEGIN
    RETURN QUERY
    WITH expired AS MATERIALIZED (
        -- If a row was touched since the statement began, the condition is checked again under the lock.
        SELECT s.id, s.name, s.expires_at FROM session s
        WHERE s.expires_at IS NOT NULL AND s.expires_at <= now_ms
        ORDER BY s.expires_at, s.name LIMIT most FOR UPDATE SKIP LOCKED
    ), gone AS (
        DELETE FROM session s USING expired e WHERE s.id = e.id RETURNING s.id, s.name, s.expires_at
    ), noted AS (
        INSERT INTO dead (session, change, at, name) SELECT g.id, this_change(), moment(NULL), g.name FROM gone g
    )
    SELECT g.name, this_change() FROM gone g ORDER BY g.expires_at, g.name;
END
$$;

-- Removes about `most` rows of deleted sessions. Returns whether there may be more.
CREATE FUNCTION reclaim(most integer) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    here bigint;
    rest integer := most;
    removed integer;
BEGIN
    WHILE rest > 0 LOOP
        SELECT d.session INTO here FROM dead d WHERE NOT d.emptied
        ORDER BY d.session LIMIT 1 FOR UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            DELETE FROM dead WHERE emptied AND at <= moment(NULL) - 60000;
            RETURN false;
        END IF;

        DELETE FROM entry WHERE ctid = ANY (ARRAY(SELECT e.ctid FROM entry e WHERE e.session = here LIMIT rest));
        GET DIAGNOSTICS removed = ROW_COUNT;
        rest := rest - removed;
        DELETE FROM claim WHERE ctid = ANY (ARRAY(SELECT c.ctid FROM claim c WHERE c.session = here LIMIT rest));
        GET DIAGNOSTICS removed = ROW_COUNT;
        rest := rest - removed;
        DELETE FROM subject WHERE ctid = ANY (ARRAY(SELECT s.ctid FROM subject s WHERE s.session = here LIMIT rest));
        GET DIAGNOSTICS removed = ROW_COUNT;
        rest := rest - removed;
        -- These rows are large: removing one takes as long as removing fifty others.
        DELETE FROM value WHERE ctid = ANY (ARRAY(SELECT v.ctid FROM value v WHERE v.session = here LIMIT rest / 50));
        GET DIAGNOSTICS removed = ROW_COUNT;
        rest := rest - removed * 50;
        DELETE FROM snapshot WHERE ctid = ANY (ARRAY(SELECT s.ctid FROM snapshot s WHERE s.session = here LIMIT rest / 50));
        GET DIAGNOSTICS removed = ROW_COUNT;
        rest := rest - removed * 50;
        -- Less is left if a limit was reached. Then there may be more rows.
        IF rest >= 50 THEN
            UPDATE dead SET emptied = true WHERE session = here;
        END IF;
        rest := rest - 10;
    END LOOP;
    RETURN true;
END
$$;

-- Bytes as readable text.
CREATE FUNCTION readable(bytes bytea) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN convert_from(bytes, 'UTF8');
EXCEPTION WHEN OTHERS THEN
    RETURN encode(bytes, 'escape');
END
$$;

-- For people: SELECT * FROM callboard.journal WHERE session = 'demo' ORDER BY seq
CREATE VIEW journal AS
SELECT session.name                                   AS session,
       entry.seq                                      AS seq,
       to_timestamp(entry.at / 1000.0)                AS at,
       entry.actor                                    AS "by",
       readable(type.name)                            AS type,
       readable(subject.text)                         AS subject,
       coalesce(entry.audience, 'all')                AS audience,
       readable(entry.data)                           AS data
FROM entry
JOIN session ON session.id = entry.session
JOIN type ON type.id = entry.type
JOIN subject ON subject.session = entry.session AND subject.id = entry.subject;
