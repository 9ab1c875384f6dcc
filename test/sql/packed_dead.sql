-- Rows of statements that were rolled back: an index scan remembers those that it has met
-- until it moves on, even if memory contexts are reset meanwhile.  Every kind of read gives
-- the rows of a plain table.
\a \t
LOAD 'zbxhist';
SET client_min_messages = warning;
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history', pack_after => NULL);
SELECT zbxhist.create_partition('history', day) FROM unnest('{1970-01-02, 1970-01-03}'::date[]) day;
-- several items share their times
INSERT INTO history
SELECT i, c, i + c / 8.0, hashint8(CASE i % 5 WHEN 4 THEN i * 1000000 + c ELSE c END) & 536870911
  FROM generate_series(1, 40) i, generate_series(86400, 259199, 240) c;
CREATE TABLE plain AS SELECT * FROM history;
CALL zbxhist.pack('history', '1970-01-02');

-- each row of the packed day and of the partition once more, three times, and no such row
CREATE PROCEDURE leave_dead_rows() LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. 3 LOOP
        BEGIN
            UPDATE zbxhist_packed.history_p19700102 SET payload = payload;
            UPDATE history_p19700103 SET clock = clock;
            INSERT INTO history SELECT itemid, clock, value, ns - 1 FROM plain WHERE clock < 90000;
            RAISE EXCEPTION USING ERRCODE = 'ZZ999';
        EXCEPTION
            WHEN SQLSTATE 'ZZ999' THEN NULL;
        END;
    END LOOP;
END $$;
CREATE FUNCTION digest(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    IF statement ~ 'history' THEN
        CALL leave_dead_rows();
    END IF;
    EXECUTE format('SELECT count(*) || '' '' || sum(hashtextextended(x::text, 0)) FROM (%s) x', statement) INTO result;
    RETURN result;
END $$;

SELECT digest(format(query, 'history')) = digest(format(query, 'plain')) AS same, query FROM unnest(ARRAY[
    'SELECT * FROM %s WHERE itemid IN (SELECT generate_series(1, 40))',
    'SELECT h.* FROM generate_series(1, 40) i, LATERAL (SELECT * FROM %s h WHERE h.itemid = i) h',
    'SELECT h.* FROM generate_series(1, 40) i, LATERAL (SELECT * FROM %s h WHERE h.itemid = i ORDER BY clock DESC LIMIT 500) h',
    'SELECT h.* FROM generate_series(1, 40) i, LATERAL (SELECT * FROM %s h WHERE h.itemid = i ORDER BY clock LIMIT 500) h',
    'SELECT DISTINCT ON (itemid) * FROM %s ORDER BY itemid, clock DESC',
    'SELECT itemid, max(clock), min(ns), count(*) FROM %s WHERE clock > 100000 GROUP BY itemid',
    'SELECT count(value), sum(ns) FROM %s']) query;
CALL leave_dead_rows();
SELECT count(*) FROM (
    (SELECT i, r.clock, r.ns, r.value FROM generate_series(1, 40) i, LATERAL zbxhist.range(NULL::history, i, 0, 300000) r
     EXCEPT ALL SELECT itemid, clock, ns, value FROM plain)
    UNION ALL
    (SELECT itemid, clock, ns, value FROM plain
     EXCEPT ALL SELECT i, r.clock, r.ns, r.value FROM generate_series(1, 40) i, LATERAL zbxhist.range(NULL::history, i, 0, 300000) r)) difference;
CALL leave_dead_rows();
WITH changed AS (UPDATE history SET value = value + 1 WHERE itemid % 2 = 0 RETURNING 1) SELECT count(*) FROM changed;
CALL leave_dead_rows();
WITH gone AS (DELETE FROM history WHERE itemid IN (1, 2, 4) RETURNING 1) SELECT count(*) FROM gone;
CALL leave_dead_rows();
INSERT INTO history SELECT * FROM plain WHERE itemid IN (3, 7) ON CONFLICT DO NOTHING;
CALL zbxhist.unpack('history', '1970-01-02');
SELECT count(*), count(*) FILTER (WHERE h.value = p.value + (p.itemid + 1) % 2) AS right_values
  FROM history h FULL JOIN (SELECT * FROM plain WHERE itemid NOT IN (1, 2, 4)) p USING (itemid, clock, ns);

CALL zbxhist.undo('history');
DROP TABLE history, plain;
DROP PROCEDURE leave_dead_rows;
DROP FUNCTION digest;
