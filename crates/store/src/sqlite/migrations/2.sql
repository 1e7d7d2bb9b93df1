-- From format 1 to 2: sessions are distinguished from records of requests, and found by last use. Existing records count as
-- sessions until they expire, within a day.
ALTER TABLE session ADD COLUMN is_request INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN used_at INTEGER NOT NULL DEFAULT 0;
UPDATE session SET used_at = last_activity;
CREATE INDEX session_by_name ON session (name) WHERE is_request = 0;
CREATE INDEX session_by_use ON session (is_request, used_at, name);
