-- Format 1. What people wrote is kept as the bytes that were decided, in `bytea`: a text of Postgres can hold no NUL.
-- What may be of any length is found by the first 16 bytes of its SHA-256. `session.id` is never used again, so whatever
-- belongs to a session that was deleted can be out of reach at once and be removed later, in slices.

CREATE TABLE session (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    seq           bigint NOT NULL,                 -- the head
    expires_at    bigint,                          -- milliseconds since 1970; null is never
    last_activity bigint NOT NULL,                 -- milliseconds since 1970
    change        bigint NOT NULL,                 -- the transaction that changed it last
    held_until    bigint,                          -- when the lease on it runs out; null is that there is none
    tag           bytea  NOT NULL,                 -- of the head
    name          text   COLLATE "C" NOT NULL UNIQUE,
    holder        text   COLLATE "C"               -- who has the lease
);
CREATE INDEX session_by_expiry ON session (expires_at, name) WHERE expires_at IS NOT NULL;
CREATE INDEX session_by_change ON session (change);
CREATE INDEX session_by_lease ON session (held_until, name) WHERE held_until IS NOT NULL;

-- Sessions that were deleted: until their rows are removed, and for about a minute, so that all servers hear of it.
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

-- Types of entries. They are few, fixed and say nothing of anybody, so all sessions share them.
CREATE TABLE type (
    id   integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hash bytea   NOT NULL UNIQUE,
    name bytea   NOT NULL
);

-- Subjects: names that people gave, so each session has its own and takes them along.
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

-- Gives each handle on this data a number, so that it knows its own notifications.
CREATE SEQUENCE node;

-- The time that decides about expiry: what a test says, else that of the database.
CREATE FUNCTION moment(said bigint) RETURNS bigint LANGUAGE sql AS $$
    SELECT coalesce(said, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)
$$;

-- The number of this transaction.
CREATE FUNCTION this_change() RETURNS bigint LANGUAGE sql AS $$
    SELECT pg_current_xact_id()::text::bigint
$$;

-- Appends a batch whole or not at all, in one call. Whoever holds the row of a session holds all that belongs to it.
-- `outcome` is `done`; `conflict`, with the row that was found; `taken`, with the place in `claim_keys` and the entry
-- that claimed it; or `repeated`, where the caller has seen that the batch repeats a key and no earlier one is taken.
-- `lease_holder` is null where the lease on the session stays as it is; `lease_lasts` is null where there is none from now
-- on.
CREATE FUNCTION append(
    wanted text, said bigint, expected_seq bigint, expected_tag bytea, new_tag bytea, new_expires_at bigint,
    claim_keys bytea[], claim_seqs bigint[], repeats_key boolean,
    type_hashes bytea[], type_names bytea[], subject_hashes bytea[], subject_texts bytea[],
    entry_at bigint[], entry_time bigint[], entry_type integer[], entry_subject integer[], entry_v integer[],
    entry_tag bytea[], entry_actor text[], entry_audience text[], entry_keys text[],
    entry_nonce bigint[], entry_data bytea[],
    value_hashes bytea[], value_texts bytea[], lease_holder text, lease_lasts bigint,
    OUT outcome text, OUT this bigint, OUT place bigint,
    OUT found_seq bigint, OUT found_tag bytea, OUT found_expires_at bigint, OUT found_last_activity bigint
) LANGUAGE plpgsql AS $$
DECLARE
    here bigint;
    there boolean;
    lives boolean;
    now_ms bigint;
    new_seq bigint := expected_seq + cardinality(entry_at);
BEGIN
    LOOP
        SELECT s.id, s.seq, s.tag, s.expires_at, s.last_activity
        INTO here, found_seq, found_tag, found_expires_at, found_last_activity
        FROM session s WHERE s.name = wanted FOR NO KEY UPDATE;
        there := FOUND;
        now_ms := moment(said);
        lives := there AND (found_expires_at IS NULL OR found_expires_at > now_ms);
        IF NOT lives THEN
            found_seq := NULL;
        END IF;
        IF coalesce(found_seq, 0) <> expected_seq
            OR (CASE WHEN lives THEN found_tag ELSE '\x00000000000000000000000000000000' END) <> expected_tag THEN
            outcome := 'conflict';
            RETURN;
        END IF;
        IF lives AND cardinality(claim_keys) > 0 THEN
            -- One look into the index for each: a join may be turned round, and then reads all keys of the session.
            SELECT k.place, k.seq INTO place, found_seq
            FROM (
                SELECT key.place, (SELECT c.seq FROM claim c WHERE c.session = here AND c.key = key.key) AS seq
                FROM unnest(claim_keys) WITH ORDINALITY AS key (key, place)
            ) k
            WHERE k.seq IS NOT NULL ORDER BY k.place LIMIT 1;
            IF FOUND THEN
                outcome := 'taken';
                RETURN;
            END IF;
        END IF;
        IF repeats_key THEN
            outcome := 'repeated';
            RETURN;
        END IF;
        this := this_change();
        IF lives THEN
            UPDATE session SET seq = new_seq, tag = new_tag, expires_at = new_expires_at,
                last_activity = now_ms, change = this
            WHERE id = here;
            EXIT;
        END IF;
        IF there THEN
            DELETE FROM session WHERE id = here;
            INSERT INTO dead (session, change, at, name) VALUES (here, this, moment(NULL), wanted);
        END IF;
        INSERT INTO session (seq, tag, expires_at, last_activity, change, name)
        VALUES (new_seq, new_tag, new_expires_at, now_ms, this, wanted)
        ON CONFLICT (name) DO NOTHING RETURNING id INTO here;
        -- Where somebody else has made it since we looked, we look again.
        EXIT WHEN FOUND;
    END LOOP;

    -- In the order of their hashes: two that name the same new types wait for each other in one direction only.
    INSERT INTO type (hash, name)
    SELECT new.hash, new.name FROM unnest(type_hashes, type_names) AS new (hash, name)
    WHERE (SELECT t.id FROM type t WHERE t.hash = new.hash) IS NULL
    ORDER BY new.hash ON CONFLICT DO NOTHING;

    INSERT INTO subject (session, id, hash, text)
    SELECT here, (SELECT coalesce(max(s.id), 0) FROM subject s WHERE s.session = here) + row_number() OVER (),
        new.hash, new.text
    FROM unnest(subject_hashes, subject_texts) AS new (hash, text)
    WHERE (SELECT s.id FROM subject s WHERE s.session = here AND s.hash = new.hash) IS NULL;

    INSERT INTO entry (session, seq, at, time, type, subject, v, tag, actor, audience, keys, nonce, data)
    SELECT here, expected_seq + e.n, e.at, e.time,
        (SELECT t.id FROM type t WHERE t.hash = type_hashes[e.type]),
        (SELECT s.id FROM subject s WHERE s.session = here AND s.hash = subject_hashes[e.subject]),
        e.v, e.tag, e.actor, e.audience, e.keys, e.nonce, e.data
    FROM unnest(entry_at, entry_time, entry_type, entry_subject, entry_v,
            entry_tag, entry_actor, entry_audience, entry_keys, entry_nonce,
            entry_data)
        WITH ORDINALITY AS e (at, time, type, subject, v, tag, actor, audience, keys, nonce, data, n);

    IF cardinality(claim_keys) > 0 THEN
        INSERT INTO claim (session, seq, key)
        SELECT here, new.seq, new.key FROM unnest(claim_seqs, claim_keys) AS new (seq, key);
    END IF;
    IF cardinality(value_hashes) > 0 THEN
        INSERT INTO value (session, hash, text)
        SELECT here, new.hash, new.text FROM unnest(value_hashes, value_texts) AS new (hash, text)
        ON CONFLICT DO NOTHING;
    END IF;
    IF lease_holder IS NOT NULL THEN
        UPDATE session SET holder = lease_holder, held_until = now_ms + lease_lasts WHERE id = here;
    END IF;
    outcome := 'done';
END
$$;

-- Renews the leases of `who`, gives it up to `most` of those that have run out, and names what it has then; where they are
-- to last no time, it lets go of all. A row that somebody writes to at this moment is left to the next call, so that
-- nobody waits.
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

-- Puts up to `most` sessions that have expired out of reach: those that nobody holds at this moment.
CREATE FUNCTION sweep(said bigint, most bigint) RETURNS TABLE (name text, this bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    now_ms bigint := moment(said);
BEGIN
    RETURN QUERY
    WITH expired AS MATERIALIZED (
        -- Who was touched since the statement began is looked at again under the lock.
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

-- Removes about `most` rows of sessions that were deleted and says whether there may be more.
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
        -- These are large: one takes as long as many of the others.
        DELETE FROM value WHERE ctid = ANY (ARRAY(SELECT v.ctid FROM value v WHERE v.session = here LIMIT rest / 50));
        GET DIAGNOSTICS removed = ROW_COUNT;
        rest := rest - removed * 50;
        DELETE FROM snapshot WHERE ctid = ANY (ARRAY(SELECT s.ctid FROM snapshot s WHERE s.session = here LIMIT rest / 50));
        GET DIAGNOSTICS removed = ROW_COUNT;
        rest := rest - removed * 50;
        -- Less than that is left where a limit was reached: then there may be more.
        IF rest >= 50 THEN
            UPDATE dead SET emptied = true WHERE session = here;
        END IF;
        rest := rest - 10;
    END LOOP;
    RETURN true;
END
$$;

-- Bytes as people read them.
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
