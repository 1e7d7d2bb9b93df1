-- Format 3: a batch can also rewrite entries and drop values.

-- The head of the last batch that rewrote entries: no older snapshot is kept.
ALTER TABLE session ADD COLUMN rewritten bigint NOT NULL DEFAULT 0;

-- Does what `append` does. For each batch that is appended it also rewrites entries and removes values. A batch that rewrites
-- entries removes all snapshots of its session.
CREATE FUNCTION append_and_erase(
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
    n integer := 0;
    here bigint;
BEGIN
    -- The call of `append` appends all batches before it returns the first row.
    FOR outcome, this, place, found_seq, found_tag, found_expires_at, found_last_activity IN
        SELECT * FROM append(patient, said, names, expected_seq, expected_tag, new_seq, new_tag, new_expires_at,
            lease_holder, lease_lasts, repeats_key, claim_batch, claim_seqs, claim_keys, type_hashes, type_names,
            subject_batch, subject_hashes, subject_texts, entry_batch, entry_seq, entry_at, entry_time,
            entry_type, entry_subject, entry_v, entry_tag, entry_actor, entry_audience, entry_keys, entry_nonce,
            entry_data, value_batch, value_hashes, value_texts, are_requests)
    LOOP
        n := n + 1;
        IF outcome = 'done' THEN
            SELECT s.id INTO here FROM session s WHERE s.name = names[n];
            DELETE FROM value v USING unnest(drop_batch, drop_hashes) AS gone (batch, hash)
            WHERE gone.batch = n AND v.session = here AND v.hash = gone.hash;
            UPDATE entry e SET data = new.data FROM unnest(rewrite_batch, rewrite_seqs, rewrite_data) AS new (batch, seq, data)
            WHERE new.batch = n AND e.session = here AND e.seq = new.seq;
            IF n = ANY (rewrite_batch) THEN
                DELETE FROM snapshot s WHERE s.session = here;
                UPDATE session s SET rewritten = new_seq[n] WHERE s.id = here;
            END IF;
        END IF;
        RETURN NEXT;
    END LOOP;
END
$$;
