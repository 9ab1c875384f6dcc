--
-- Runs of an hour are merged: fewer are left, with the same rows, and their space
-- is used again.
--
LOAD 'zbxhist';
SET client_min_messages = error;
SET extra_float_digits = 1;
CREATE TABLE history (
    itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0, value double precision NOT NULL DEFAULT 0,
    ns integer NOT NULL DEFAULT 0, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history', '1 hour', retention => '100 years', pack_after => '1 hour', ingest => 'runs');
SELECT zbxhist_internal.create_runs('history', 1000000800, 1000004400) AS day \gset
CREATE VIEW hour AS SELECT * FROM history WHERE clock BETWEEN 1000000800 AND 1000004399;
CREATE FUNCTION store(statements integer, from_clock integer, items integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. statements LOOP
        INSERT INTO history SELECT g, from_clock + i, hashint4(g * i), i FROM generate_series(1, items) g;
    END LOOP;
END
$$;

-- too few; then enough, if each of a transaction's counts
BEGIN;
SELECT store(63, 1000000800, 10);
SELECT zbxhist_internal.merge_runs(:'day');
SELECT store(1, 1000000863, 10);
SELECT count(*), sum(nrows), min(nrows) FROM :day;
SELECT count(*) AS rows, sum(hashtextextended(h::text, 0)::numeric) AS checksum FROM hour h \gset
SELECT zbxhist_internal.merge_runs(:'day');
SELECT count(*), sum(nrows), min(first_itemid), max(last_itemid), min(first_clock), max(last_clock) FROM :day;
SELECT count(*) = :rows AND sum(hashtextextended(h::text, 0)::numeric) = :checksum AS same FROM hour h;
SELECT zbxhist_internal.merge_runs(:'day');
SAVEPOINT a;
\set VERBOSITY terse
INSERT INTO history VALUES (11, 1000000900, 1, 0), (10, 1000000863, 1, 63);
ROLLBACK TO a;
INSERT INTO history VALUES (10, 1000000863, 1, 64);
INSERT INTO history VALUES (10, 1000000864, 1, 64);
ROLLBACK TO a;
\set VERBOSITY default
COMMIT;
SELECT count(*) = :rows AND sum(hashtextextended(h::text, 0)::numeric) = :checksum AS same FROM hour h;

-- what goes back is as if it had not been
BEGIN;
SELECT store(64, 1000001000, 10);
SAVEPOINT a;
SELECT zbxhist_internal.merge_runs(:'day');
ROLLBACK TO a;
SELECT count(*) FROM :day;
SELECT count(*) FROM hour;
ROLLBACK;
SELECT count(*) = :rows AND sum(hashtextextended(h::text, 0)::numeric) = :checksum AS same FROM hour h;

-- larger ones are left alone until there are many of them; in one transaction, so that no
-- worker merges them meanwhile
BEGIN;
SELECT format('INSERT INTO history SELECT g, %s, g * %s / 8.0, hashint4(g) & 65535 FROM generate_series(1, 20000) g', 1000002000 + i, i)
  FROM generate_series(1, 24) i \gexec
SELECT count(*) AS rows, sum(hashtextextended(h::text, 0)::numeric) AS checksum FROM hour h \gset
SELECT zbxhist_internal.merge_runs(:'day') >= 0;
SELECT count(DISTINCT xmin::text) < 24, sum(nrows) FROM :day;
SELECT count(*) = :rows AND sum(hashtextextended(h::text, 0)::numeric) = :checksum AS same FROM hour h;
SELECT zbxhist_internal.merge_runs(:'day');
-- each page has few items
SELECT bool_and(last_itemid - first_itemid < 5000) FROM :day WHERE nrows > 640;
COMMIT;

-- small batches are not left alone for long
BEGIN;
DELETE FROM hour;
SELECT store(64, 1000000800 + 100 * i, 10) IS NULL, zbxhist_internal.merge_runs(:'day') FROM generate_series(1, 5) i;
SELECT count(*) AS rows, sum(hashtextextended(h::text, 0)::numeric) AS checksum FROM hour h \gset
SELECT count(DISTINCT batch) FROM :day;
SELECT zbxhist_internal.merge_runs(:'day');
SELECT batch >> 28 & 15 AS level, sum(nrows) FROM :day GROUP BY batch ORDER BY batch;
SELECT count(*) = :rows AND sum(hashtextextended(h::text, 0)::numeric) = :checksum AS same FROM hour h;
SELECT zbxhist_internal.merge_runs(:'day');
ROLLBACK;

-- the space is used again
VACUUM (TRUNCATE false) :day;
SELECT pg_relation_size(:'day') AS size \gset
BEGIN;
SELECT format('INSERT INTO history SELECT g, %s, g * %s / 8.0, hashint4(g) & 65535 FROM generate_series(1, 20000) g', 1000003000 + i, i)
  FROM generate_series(1, 10) i \gexec
SELECT pg_relation_size(:'day') <= :size;
COMMIT;

-- maintenance does it; such rows are packed in the end as others are
SELECT store(100, 1000000900, 3);
CALL zbxhist.run_maintenance('history');
SELECT kind, state, rows FROM zbxhist.partitions WHERE parent = 'history'::regclass AND from_clock = 1000000800;
SELECT count(*), count(DISTINCT (itemid, clock, ns)) FROM hour;
SELECT count(*) FROM zbxhist.verify('history');

-- an hour that has ended becomes one batch, once
CREATE TABLE history_uint (
    itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0, value numeric(20) NOT NULL DEFAULT 0,
    ns integer NOT NULL DEFAULT 0, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history_uint', '1 hour', retention => '100 years', pack_after => '1 hour', ingest => 'runs');
DO $$
BEGIN
    EXECUTE (SELECT coalesce(string_agg(format('DROP TABLE %s', p.partition), '; '), '') FROM zbxhist.partitions p
              WHERE p.parent = 'history_uint'::regclass AND p.kind = 'heap');
END
$$;
CREATE FUNCTION store_ended(statements integer, from_clock integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. statements LOOP
        INSERT INTO history_uint SELECT g, from_clock + i, g * i, i FROM generate_series(1, 10) g;
    END LOOP;
END
$$;
SELECT extract(epoch FROM now())::bigint / 3600 * 3600 - 7200 AS ended \gset
SELECT zbxhist_internal.create_runs('history_uint', :ended, :ended + 3600) AS ended_day \gset
BEGIN;
SELECT store_ended(70, :ended);
SELECT zbxhist_internal.merge_runs(:'ended_day');
SELECT count(*), sum(nrows), min(batch >> 28 & 15) AS level FROM :ended_day;
SELECT zbxhist_internal.merge_runs(:'ended_day');
INSERT INTO history_uint VALUES (1, :ended + 1, 1, 0);
INSERT INTO history_uint VALUES (2, :ended + 1, 1, 0);
SELECT zbxhist_internal.merge_runs(:'ended_day');
SELECT batch >> 28 & 15 AS level, sum(nrows) FROM :ended_day GROUP BY batch;
SELECT store_ended(2, :ended + 100);
SELECT zbxhist_internal.merge_runs(:'ended_day');
SELECT count(*) FILTER (WHERE batch IS NULL) AS late, sum(nrows) FROM :ended_day;
COMMIT;
SELECT count(*), sum(value) FROM history_uint;

-- text that is out of line is merged as well, on all levels
CREATE TABLE history_text (
    itemid bigint NOT NULL, clock integer NOT NULL, value text NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE twin (LIKE history_text);
SELECT zbxhist.create_parent('history_text', '1 hour', retention => '100 years', pack_after => '1 hour', ingest => 'runs');
SELECT zbxhist_internal.create_runs('history_text', 1000000800, 1000004400) AS texts \gset
CREATE FUNCTION store_text(first integer, last integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN first .. last LOOP
        WITH stored AS (
            INSERT INTO twin
            SELECT g, 1000000800 + i, (SELECT string_agg(md5((g * i + s)::text), '')
                                         FROM generate_series(1, CASE WHEN g IN (1, 3) THEN 900 ELSE g END) s), i
              FROM generate_series(1, 5) g
            RETURNING *)
        INSERT INTO history_text SELECT * FROM stored;
    END LOOP;
END
$$;
CREATE FUNCTION same_texts() RETURNS boolean LANGUAGE sql AS $$
    SELECT NOT EXISTS (SELECT * FROM twin EXCEPT ALL SELECT * FROM history_text WHERE clock < 1000004400)
       AND NOT EXISTS (SELECT * FROM history_text WHERE clock < 1000004400 EXCEPT ALL SELECT * FROM twin)
       AND NOT EXISTS (SELECT FROM generate_series(0, 6) g
                        WHERE (SELECT array_agg(value ORDER BY clock, ns) FROM twin WHERE itemid = g)
                              IS DISTINCT FROM (SELECT array_agg(value ORDER BY clock, ns) FROM history_text WHERE itemid = g))
       AND (SELECT sum(hashtext(value)) FROM twin WHERE itemid IN (1, 2, 4)) = (SELECT sum(hashtext(value)) FROM history_text WHERE itemid IN (1, 2, 4))
$$;
CREATE VIEW long AS SELECT batch IS NULL AS stored, batch >> 28 & 15 AS level FROM :texts WHERE nrows = 1 AND pg_column_size(run) > 10000;
BEGIN;
SELECT store_text(1, 70);
SELECT stored, level, count(*) FROM long GROUP BY 1, 2 ORDER BY 1, 2;
SELECT zbxhist_internal.merge_runs(:'texts');
SELECT stored, level, count(*) FROM long GROUP BY 1, 2 ORDER BY 1, 2;
SELECT count(*) < 20 FROM :texts WHERE batch IS NULL;
SELECT same_texts();
UPDATE history_text SET value = value || '!' WHERE itemid = 3 AND clock = 1000000810;
UPDATE twin SET value = value || '!' WHERE itemid = 3 AND clock = 1000000810;
DELETE FROM history_text WHERE itemid IN (1, 2) AND clock = 1000000811;
DELETE FROM twin WHERE itemid IN (1, 2) AND clock = 1000000811;
SELECT same_texts();
CREATE FUNCTION merge_texts(texts regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 10 .. 23 LOOP
        PERFORM store_text(i * 10, i * 10 + 9);
        PERFORM zbxhist_internal.merge_runs(texts, 5);
    END LOOP;
    -- of each batch so many at once that they have some bytes
    WHILE zbxhist_internal.merge_runs(texts, 2, 20000) > 0 LOOP
    END LOOP;
END
$$;
SELECT merge_texts(:'texts');
SELECT stored, max(level) > 1 AS is_higher, sum(count(*)) OVER () FROM long GROUP BY 1;
SELECT same_texts();
COMMIT;
SELECT count(*) FROM zbxhist.verify('history_text');

-- a batch that is read for a second item, others that it was made of looked for in vain meanwhile
SELECT zbxhist_internal.create_runs('history', 1000008000, 1000011600) AS some_runs \gset
CREATE FUNCTION store_levels(runs regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    FOR s IN 1 .. 30 LOOP
        INSERT INTO history (itemid, clock, ns, value) SELECT g, 1000008000 + s, 0, s FROM generate_series(1, 20) g;
        FOR i IN 1 .. CASE WHEN s % 6 = 0 THEN 2 ELSE (s + 1) % 2 END LOOP
            PERFORM zbxhist_internal.merge_runs(runs, 2);
        END LOOP;
    END LOOP;
END
$$;
BEGIN;
SELECT store_levels(:'some_runs');
SELECT itemid, count(*), sum(value) FROM history WHERE itemid IN (7, 8) AND clock BETWEEN 1000008000 AND 1000011599 GROUP BY itemid ORDER BY itemid;
ROLLBACK;

-- no table of runs
SELECT zbxhist_internal.merge_runs('history');
SET zbxhist.allow_packed_drop = on;
DROP VIEW hour, long;
DROP TABLE history, history_uint, history_text, twin CASCADE;
DROP FUNCTION store, store_ended, store_text, same_texts, merge_texts, store_levels;
RESET client_min_messages;
