-- Free texts are stored as bytes (`bytea`), since a text of Postgres cannot contain NUL. Texts of any length are found by the
-- first 16 bytes of their SHA-256. A `session.id` is never used again, so the rows of a deleted session cannot be reached any
-- more, and can be removed later, in slices.

CREATE TABLE session (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    seq           bigint NOT NULL,                 -- the head
    expires_at    bigint,                          -- milliseconds since 1970; null is never
    last_activity bigint NOT NULL,                 -- milliseconds since 1970
    change        bigint NOT NULL,                 -- the transaction that changed it last
    held_until    bigint,                          -- when the lease expires; null without a lease
    tag           bytea  NOT NULL,                 -- of the head
    name          text   COLLATE "C" NOT NULL UNIQUE,
    holder        text   COLLATE "C",              -- who holds the lease
    is_request    boolean NOT NULL DEFAULT false,  -- whether it is the record of a request
    rewritten     bigint NOT NULL DEFAULT 0        -- the head of the last batch that rewrote entries: no older snapshot is kept
);
CREATE INDEX session_by_name ON session (name) WHERE NOT is_request;
CREATE INDEX session_by_use ON session (is_request, last_activity);
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

-- Appends batches of many sessions in one call, each completely or not at all. Returns the outcome of each. The lock on the
-- row of a session covers all its data. Only a `patient` call waits for a locked row. The names are in order, so that two
-- calls that create the same sessions wait for each other in one direction only.
-- `outcome` is one of: `done`; `conflict`, with the row that was found; `taken`, with the position in `claim_keys` and the
-- entry that claimed it; `repeated`, if the batch repeats a key (the caller says so in `repeats_key`) and no earlier key is
-- taken; `held`, if the session is locked or being created by another call. All but `done` have written nothing.
-- A null `lease_holder` leaves the lease as it is; a null `lease_lasts` with a holder removes it. A batch that rewrites entries
-- removes all snapshots of its session.
CREATE FUNCTION append(
    patient boolean, said bigint,
    names text[], expected_seq bigint[], expected_tag bytea[], new_seq bigint[], new_tag bytea[], new_expires_at bigint[],
    lease_holder text[], lease_lasts bigint[], repeats_key boolean[],
    claim_batch integer[], claim_seqs bigint[], claim_keys bytea[],
    type_hashes bytea[], type_names bytea[],
    subject_batch integer[], subject_hashes bytea[], subject_texts bytea[],
    entry_batch integer[], entry_seq bigint[], entry_at bigint[], entry_time bigint[],
    entry_type integer[], entry_subject integer[], entry_v integer[], entry_tag bytea[],
    entry_actor text[], entry_audience text[], entry_keys text[], entry_nonce bigint[], entry_data bytea[],
    value_batch integer[], value_hashes bytea[], value_texts bytea[],
    are_requests boolean[],
    rewrite_batch integer[], rewrite_seqs bigint[], rewrite_data bytea[],
    drop_batch integer[], drop_hashes bytea[]
) RETURNS TABLE (
    outcome text, this bigint, place bigint,
    found_seq bigint, found_tag bytea, found_expires_at bigint, found_last_activity bigint
) LANGUAGE plpgsql AS $$
DECLARE
    now_ms bigint;
    here bigint;
    lives boolean;
    -- The session of each batch, as it was found. In the end `heres` has the ids of those that are appended to, else nulls.
    heres bigint[];
    seqs bigint[];
    tags bytea[];
    expires_ats bigint[];
    last_activities bigint[];
    type_ids integer[];
    subject_ids integer[];
BEGIN
    IF patient THEN
        PERFORM FROM session s WHERE s.name = ANY (names) ORDER BY s.name FOR NO KEY UPDATE;
    END IF;
    -- The rows are locked in the order of the names.
    SELECT array_agg(s.id), array_agg(s.seq), array_agg(s.tag), array_agg(s.expires_at), array_agg(s.last_activity)
    INTO heres, seqs, tags, expires_ats, last_activities
    FROM unnest(names) AS wanted (name) LEFT JOIN LATERAL (
        SELECT s.id, s.seq, s.tag, s.expires_at, s.last_activity FROM session s WHERE s.name = wanted.name
        FOR NO KEY UPDATE SKIP LOCKED
    ) s ON true;
    now_ms := moment(said);
    this := this_change();
    FOR n IN 1 .. cardinality(names) LOOP
        here := heres[n];
        heres[n] := NULL;
        lives := here IS NOT NULL AND (expires_ats[n] IS NULL OR expires_ats[n] > now_ms);
        found_seq := CASE WHEN lives THEN seqs[n] END;
        found_tag := tags[n];
        found_expires_at := expires_ats[n];
        found_last_activity := last_activities[n];
        outcome := 'done';
        IF here IS NULL AND EXISTS (SELECT FROM session s WHERE s.name = names[n]) THEN
            outcome := 'held';
        ELSIF coalesce(found_seq, 0) <> expected_seq[n]
            OR (CASE WHEN lives THEN found_tag ELSE '\x00000000000000000000000000000000' END) <> expected_tag[n] THEN
            outcome := 'conflict';
        ELSE
            IF lives AND n = ANY (claim_batch) THEN
                -- One lookup in the index for each: the planner could reverse a join, and then read all keys of the session.
                SELECT k.place, k.seq INTO place, found_seq
                FROM (
                    SELECT key.place, (SELECT c.seq FROM claim c WHERE c.session = here AND c.key = key.key) AS seq
                    FROM unnest(claim_batch, claim_keys) WITH ORDINALITY AS key (batch, key, place) WHERE key.batch = n
                ) k
                WHERE k.seq IS NOT NULL ORDER BY k.place LIMIT 1;
                IF FOUND THEN
                    outcome := 'taken';
                END IF;
            END IF;
            IF outcome = 'done' AND repeats_key[n] THEN
                outcome := 'repeated';
            END IF;
        END IF;
        IF outcome = 'done' AND NOT lives THEN
            IF here IS NOT NULL THEN
                DELETE FROM session WHERE id = here;
                INSERT INTO dead (session, change, at, name) VALUES (here, this, moment(NULL), names[n]);
            END IF;
            INSERT INTO session (seq, tag, expires_at, last_activity, change, name, holder, held_until, is_request)
            VALUES (new_seq[n], new_tag[n], new_expires_at[n], now_ms, this, names[n],
                lease_holder[n], now_ms + lease_lasts[n], are_requests[n])
            ON CONFLICT (name) DO NOTHING RETURNING id INTO here;
            IF NOT FOUND THEN
                -- Another call has created it meanwhile.
                outcome := 'held';
            END IF;
        END IF;
        IF outcome = 'done' THEN
            heres[n] := here;
        END IF;
        RETURN NEXT;
    END LOOP;
    IF cardinality(array_remove(heres, NULL)) = 0 THEN
        RETURN;
    END IF;

    -- New sessions have these values already.
    UPDATE session s SET seq = new.seq, tag = new.tag, expires_at = new.expires_at, last_activity = now_ms, change = this,
        holder = coalesce(new.holder, s.holder),
        held_until = CASE WHEN new.holder IS NULL THEN s.held_until ELSE now_ms + new.lasts END
    FROM unnest(heres, new_seq, new_tag, new_expires_at, lease_holder, lease_lasts)
        AS new (id, seq, tag, expires_at, holder, lasts)
    WHERE s.id = new.id AND s.seq <> new.seq;

    type_ids := ARRAY(SELECT (SELECT t.id FROM type t WHERE t.hash = new.hash) FROM unnest(type_hashes) AS new (hash));
    IF array_position(type_ids, NULL) IS NOT NULL THEN
        -- In the order of the hashes, so that two calls with the same new types wait for each other in one direction only.
        INSERT INTO type (hash, name)
        SELECT new.hash, new.name FROM unnest(type_hashes, type_names, type_ids) AS new (hash, name, id)
        WHERE new.id IS NULL ORDER BY new.hash ON CONFLICT DO NOTHING;
        type_ids :=
            ARRAY(SELECT (SELECT t.id FROM type t WHERE t.hash = new.hash) FROM unnest(type_hashes) AS new (hash));
    END IF;

    subject_ids := ARRAY(
        SELECT (SELECT s.id FROM subject s WHERE s.session = heres[new.batch] AND s.hash = new.hash)
        FROM unnest(subject_batch, subject_hashes) AS new (batch, hash));
    IF array_position(subject_ids, NULL) IS NOT NULL THEN
        INSERT INTO subject (session, id, hash, text)
        SELECT heres[new.batch],
            (SELECT coalesce(max(s.id), 0) FROM subject s WHERE s.session = heres[new.batch])
                + row_number() OVER (PARTITION BY new.batch),
            new.hash, new.text
        FROM unnest(subject_batch, subject_hashes, subject_texts, subject_ids) AS new (batch, hash, text, id)
        WHERE new.id IS NULL AND heres[new.batch] IS NOT NULL;
        subject_ids := ARRAY(
            SELECT (SELECT s.id FROM subject s WHERE s.session = heres[new.batch] AND s.hash = new.hash)
            FROM unnest(subject_batch, subject_hashes) AS new (batch, hash));
    END IF;

    INSERT INTO entry (session, seq, at, time, type, subject, v, tag, actor, audience, keys, nonce, data)
    SELECT heres[e.batch], e.seq, e.at, e.time, type_ids[e.type], subject_ids[e.subject],
        e.v, e.tag, e.actor, e.audience, e.keys, e.nonce, e.data
    FROM unnest(entry_batch, entry_seq, entry_at, entry_time, entry_type, entry_subject, entry_v,
            entry_tag, entry_actor, entry_audience, entry_keys, entry_nonce, entry_data)
        AS e (batch, seq, at, time, type, subject, v, tag, actor, audience, keys, nonce, data)
    WHERE heres[e.batch] IS NOT NULL;

    IF cardinality(claim_keys) > 0 THEN
        INSERT INTO claim (session, seq, key)
        SELECT heres[new.batch], new.seq, new.key FROM unnest(claim_batch, claim_seqs, claim_keys) AS new (batch, seq, key)
        WHERE heres[new.batch] IS NOT NULL;
    END IF;
    IF cardinality(value_hashes) > 0 THEN
        INSERT INTO value (session, hash, text)
        SELECT heres[new.batch], new.hash, new.text
        FROM unnest(value_batch, value_hashes, value_texts) AS new (batch, hash, text)
        WHERE heres[new.batch] IS NOT NULL ON CONFLICT DO NOTHING;
    END IF;
    IF cardinality(drop_batch) = 0 AND cardinality(rewrite_batch) = 0 THEN
        RETURN;
    END IF;
    FOR n IN 1 .. cardinality(names) LOOP
        here := heres[n];
        IF here IS NOT NULL THEN
            DELETE FROM value v USING unnest(drop_batch, drop_hashes) AS gone (batch, hash)
            WHERE gone.batch = n AND v.session = here AND v.hash = gone.hash;
            UPDATE entry e SET data = new.data FROM unnest(rewrite_batch, rewrite_seqs, rewrite_data) AS new (batch, seq, data)
            WHERE new.batch = n AND e.session = here AND e.seq = new.seq;
            IF n = ANY (rewrite_batch) THEN
                DELETE FROM snapshot s WHERE s.session = here;
                UPDATE session s SET rewritten = new_seq[n] WHERE s.id = here;
            END IF;
        END IF;
    END LOOP;
END
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
