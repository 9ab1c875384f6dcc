-- ON CONFLICT DO NOTHING as the first statement of a session, which loads the library while it
-- runs: it skips keys of partitions and packed days.  Within functions the library cannot know
-- of it, and the key is an error.  No key is stored twice.
\a \t
SET client_min_messages = warning;
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value bigint NOT NULL, ns integer NOT NULL,
    PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history');
SELECT zbxhist.create_partition('history', '1970-01-02'), zbxhist.create_partition('history', '1970-01-03');
INSERT INTO history SELECT i, c, c, 0 FROM generate_series(1, 2) i, generate_series(86400, 200000, 21600) c;
CALL zbxhist.pack('history', '1970-01-02');
CREATE FUNCTION store(c integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO history VALUES (1, c, 1, 0) ON CONFLICT DO NOTHING;
END $$;

\c -
INSERT INTO history VALUES (1, 86400, 1, 0) ON CONFLICT DO NOTHING;
\c -
INSERT INTO history VALUES (1, 172800, 1, 0) ON CONFLICT DO NOTHING;
\c -
PREPARE stored AS INSERT INTO history VALUES (1, $1, 1, 0) ON CONFLICT (itemid, clock, ns) DO NOTHING;
EXECUTE stored(86400);
\c -
WITH stored AS (INSERT INTO history SELECT i, 86400, 1, 0 FROM generate_series(1, 2) i ON CONFLICT DO NOTHING RETURNING 1)
SELECT count(*) FROM stored;
-- what EXPLAIN prints differs between versions
\o /dev/null
\c -
EXPLAIN ANALYZE INSERT INTO history VALUES (1, 172800, 1, 0);
\o
\set SHOW_CONTEXT never
\c -
SELECT store(86400);
SELECT store(86400);
\c -
SELECT store(172800);
SELECT store(172800);
SELECT count(*), sum(value) FROM history;
SET zbxhist.allow_packed_drop = on;
SET client_min_messages = warning;
DROP TABLE history CASCADE;
DROP FUNCTION store(integer);
