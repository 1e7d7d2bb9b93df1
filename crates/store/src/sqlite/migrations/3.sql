-- From format 2 to 3: entries can be rewritten, so it is noted when that was done last, and that the file has to be vacuumed.
ALTER TABLE session ADD COLUMN rewritten INTEGER NOT NULL DEFAULT 0;
CREATE TABLE unclean (one INTEGER PRIMARY KEY CHECK (one = 1));
