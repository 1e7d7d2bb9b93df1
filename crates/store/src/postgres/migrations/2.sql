-- Format 2: sessions are distinguished from records of requests, and found by last use. Existing records count as sessions
-- until they expire, within a day.

ALTER TABLE session ADD COLUMN is_request boolean NOT NULL DEFAULT false;
CREATE INDEX session_by_name ON session (name) WHERE NOT is_request;
CREATE INDEX session_by_use ON session (is_request, last_activity);

DROP FUNCTION IF EXISTS append;

-- Appends batches of many sessions in one call, each completely or not at all. Returns the outcome of each. The lock on the
-- row of a session covers all its data. Only a `patient` call waits for a locked row. The names are in order, so that two
-- calls that create the same sessions wait for each other in one direction only.
-- `outcome` is one of: `done`; `conflict`, with the row that was found; `taken`, with the position in `claim_keys` and the
-- entry that claimed it; `repeated`, if the batch repeats a key (the caller says so in `repeats_key`) and no earlier key is
-- taken; `held`, if the session is locked or being created by another call. All but `done` have written nothing.
-- A null `lease_holder` leaves the lease as it is; a null `lease_lasts` with a holder removes it.
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
    are_requests boolean[] DEFAULT NULL
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
                lease_holder[n], now_ms + lease_lasts[n], coalesce(are_requests[n], false))
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
END
$$;
