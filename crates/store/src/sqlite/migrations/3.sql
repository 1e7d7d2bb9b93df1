-- From format 2 to 3: entries can be rewritten. `rewritten` is the head of the last batch that did so; `unclean` says that the
-- file has to be vacuumed.
ALTER TABLE session ADD COLUMN rewritten INTEGER NOT NULL DEFAULT 0;
CREATE TABLE unclean (one INTEGER PRIMARY KEY CHECK (one = 1));
