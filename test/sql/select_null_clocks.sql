-- Rows without a clock, in a table that allows them, or whose NOT NULL constraint is not valid
-- (PostgreSQL 18).  They are read as from a plain table.
\a \t
LOAD 'zbxhist';
SET client_min_messages = warning;
CREATE TABLE plain (itemid bigint NOT NULL, clock integer, value double precision NOT NULL, ns integer);
INSERT INTO plain SELECT i, nullif(c, 0) * 40000, i + c, nullif(c % 3, 0) FROM generate_series(1, 5) i, generate_series(0, 9) c;
CREATE TABLE history (LIKE plain);
CREATE UNIQUE INDEX ON history (itemid, clock, ns);
ALTER TABLE history ALTER clock SET NOT NULL, ALTER ns SET NOT NULL;
SELECT zbxhist.create_parent('history', pack_after => NULL, premake => 0);
SELECT zbxhist.create_partition('history', '1970-01-03');
INSERT INTO history SELECT itemid, clock, value, coalesce(ns, 0) FROM plain WHERE clock >= 100000;
UPDATE plain SET ns = 0 WHERE ns IS NULL AND clock >= 100000;
ALTER TABLE history ALTER clock DROP NOT NULL, ALTER ns DROP NOT NULL;
INSERT INTO history SELECT * FROM plain WHERE clock IS NULL OR clock < 100000;
SELECT count(*) FROM ONLY history WHERE clock IS NULL;
DO $$
BEGIN
    IF current_setting('server_version_num')::integer >= 180000 THEN
        EXECUTE 'ALTER TABLE history ADD CONSTRAINT clock_known NOT NULL clock NOT VALID';
        EXECUTE 'ALTER TABLE history ADD CONSTRAINT ns_known NOT NULL ns NOT VALID';
    END IF;
END $$;

CREATE FUNCTION rows_of(query text, name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT string_agg(x::text, '' '' ORDER BY x::text COLLATE "C") FROM (%s) x', format(query, name)) INTO result;
    RETURN result;
END $$;
SELECT query FROM unnest(ARRAY[
    'SELECT DISTINCT ON (itemid) itemid, clock FROM %s ORDER BY itemid, clock DESC',
    'SELECT DISTINCT ON (itemid) itemid, clock FROM %s ORDER BY itemid, clock DESC NULLS LAST',
    'SELECT DISTINCT ON (itemid) itemid, clock FROM %s ORDER BY itemid, clock',
    'SELECT itemid, max(clock), min(clock), count(clock), count(*) FROM %s GROUP BY itemid',
    'SELECT h.* FROM generate_series(1, 6) i, LATERAL (SELECT clock FROM %s h WHERE h.itemid = i ORDER BY clock DESC LIMIT 2) h',
    'SELECT h.* FROM generate_series(1, 6) i, LATERAL (SELECT clock FROM %s h WHERE h.itemid = i ORDER BY clock LIMIT 2) h',
    'SELECT * FROM %s WHERE itemid = 3',
    'SELECT clock FROM %s WHERE itemid = 3 AND clock > 0 ORDER BY clock, ns']) AS t (query)
 WHERE rows_of(query, 'history') IS DISTINCT FROM rows_of(query, 'plain');
SELECT rows_of('SELECT itemid, max(clock), count(*) FROM %s GROUP BY itemid', 'history');
DROP TABLE history, plain CASCADE;
DROP FUNCTION rows_of;
