--
-- Statements of all forms, and values at the ends of their types: a table of runs
-- answers as a plain one with the same key, and has its rows.
--
\set SHOW_CONTEXT never
\set VERBOSITY terse
LOAD 'zbxhist';
SET client_min_messages = warning;
SET timezone = 'UTC';
SET zbxhist.allow_packed_drop = on;
CREATE SCHEMA runs_statements; SET search_path = runs_statements;
CREATE TABLE plain (itemid bigint NOT NULL, clock integer NOT NULL, value double precision, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE history (LIKE plain INCLUDING ALL);
SELECT zbxhist.create_parent('history');
SELECT count(zbxhist_internal.create_runs('history', h * 3600, h * 3600 + 3600)) FROM unnest('{240,-2,596522}'::integer[]) h;
CREATE FUNCTION alike(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    side text; said text[]; n bigint; wrong bigint;
BEGIN
    FOREACH side IN ARRAY ARRAY['plain', 'history'] LOOP
        BEGIN
            EXECUTE replace(statement, '$T', side);
            GET DIAGNOSTICS n = ROW_COUNT;
            said := said || n::text;
        EXCEPTION WHEN OTHERS THEN
            said := said || (SQLSTATE || ' ' || replace(SQLERRM, side, 'T'));
        END;
    END LOOP;
    SELECT count(*) INTO wrong FROM ((SELECT t::text FROM plain t EXCEPT ALL SELECT t::text FROM history t) UNION ALL (SELECT t::text FROM history t EXCEPT ALL SELECT t::text FROM plain t)) x;
    RETURN CASE WHEN said[1] = said[2] THEN said[1] ELSE 'DIFFERS: ' || array_to_string(said, ' <> ') END || CASE wrong WHEN 0 THEN '' ELSE ' WRONG ROWS ' || wrong END;
END $$;
-- as often as somebody else has the table's lock
CREATE FUNCTION merge(runs regclass) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE merged bigint := -1;
BEGIN
    FOR i IN 1 .. 1000 LOOP
        merged := zbxhist_internal.merge_runs(runs, 2);
        EXIT WHEN merged >= 0;
        PERFORM pg_sleep(0.01);
    END LOOP;
    RETURN merged;
END $$;
BEGIN;
-- values at the ends of their types
SELECT alike($$INSERT INTO $T VALUES (1, 864000, 'NaN', 0), (1, 864000, 'Infinity', 1), (1, 864000, '-Infinity', 2), (1, 864000, '-0', 3), (1, 864000, NULL, 4), (1, 864000, 5e-324, 5)$$);
SELECT alike($$INSERT INTO $T VALUES (9223372036854775807, 864000, 1, 0), (-9223372036854775808, 864000, 2, 0), (9223372036854775806, 867599, 3, 1), (0, 864001, 0, 0)$$);
SELECT alike($$INSERT INTO $T VALUES (2, 864000, 1, 1000000000), (2, 864000, 1, 2147483647), (2, 864000, 1, -2147483648), (2, 864000, 1, 999999999), (2, 864001, 1, -1)$$);
SELECT alike($$INSERT INTO $T VALUES (2, 864000, 1, 2147483647)$$);
SELECT alike($$INSERT INTO $T VALUES (3, -7200, 1, 0), (3, -3601, 1, 0), (3, -1, 1, 0), (3, 0, 1, 0), (3, -2147483648, 1, 0)$$);
SELECT alike($$INSERT INTO $T VALUES (4, 2147479200, 1, 0), (4, 2147482799, 1, 0), (4, 2147482800, 1, 0), (4, 2147483647, 1, 2147483647)$$);
SELECT alike($$INSERT INTO $T VALUES (3, -7200, 2, 0)$$);
SELECT alike($$INSERT INTO $T VALUES (4, 2147482799, 2, 0)$$);
-- from itself, from nothing
SELECT alike($$INSERT INTO $T SELECT * FROM $T$$);
SELECT alike($$INSERT INTO $T SELECT itemid, clock, value, 10 + ns FROM $T WHERE ns BETWEEN 0 AND 1000 AND itemid BETWEEN 0 AND 100$$);
SELECT alike($$INSERT INTO $T SELECT * FROM $T WHERE false$$);
SELECT alike($$INSERT INTO $T (itemid, clock, ns) SELECT 5, 864000 + i, 0 FROM generate_series(1, 400) i$$);
SELECT alike($$WITH d AS (DELETE FROM $T WHERE itemid = 5 AND clock < 864100 RETURNING *) INSERT INTO $T SELECT itemid + 1, clock, value, ns FROM d$$);
SELECT alike($$WITH d AS (DELETE FROM $T WHERE itemid = 5 AND clock < 864150 RETURNING *) INSERT INTO $T SELECT * FROM d$$);
-- keys of rows that are in runs are not changed, nor does MERGE come to them
SAVEPOINT keys;
UPDATE history SET ns = ns + 1 WHERE itemid = 5;
ROLLBACK TO keys;
SELECT alike($$DELETE FROM $T WHERE clock < 0$$);
SELECT alike($$DELETE FROM $T WHERE itemid = 5 AND ctid IN (SELECT ctid FROM $T WHERE itemid = 5 AND clock < 864300 ORDER BY clock LIMIT 7)$$);
SELECT alike($$DELETE FROM $T WHERE ctid = ANY (ARRAY(SELECT ctid FROM $T WHERE itemid = 6 ORDER BY clock LIMIT 3)) AND itemid = 6$$);
MERGE INTO history t USING (VALUES (5, 864200)) s (i, c) ON t.itemid = s.i AND t.clock = s.c WHEN MATCHED THEN DELETE;
ROLLBACK TO keys;
SELECT alike($$DELETE FROM $T USING (VALUES (5, 864300)) v (i, c) WHERE itemid = i AND clock = c$$);
PREPARE p(bigint, integer, float8, integer) AS INSERT INTO history VALUES ($1, $2, $3, $4), ($1, $2 + 1, $3, $4);
PREPARE q(bigint, integer, float8, integer) AS INSERT INTO plain VALUES ($1, $2, $3, $4), ($1, $2 + 1, $3, $4);
EXECUTE p(7, 864000, 'NaN', 1); EXECUTE q(7, 864000, 'NaN', 1);
EXECUTE p(7, 864010, NULL, 1); EXECUTE q(7, 864010, NULL, 1);
SELECT count(*) FROM ONLY history;
SAVEPOINT a;
SET LOCAL session_replication_role = replica;
INSERT INTO history VALUES (8, 864000, 1, 1), (8, 864001, 1, 1);
SAVEPOINT b;
INSERT INTO history VALUES (8, 864000, 1, 1);
ROLLBACK TO b;
SAVEPOINT b;
INSERT INTO history VALUES (7, 864000, 1, 1);
ROLLBACK TO b;
SET LOCAL session_replication_role = origin;
SAVEPOINT b;
INSERT INTO history VALUES (8, 864000, 1, 1);
ROLLBACK TO a;
-- a trigger comes and goes
CREATE FUNCTION double() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.value := 2 * NEW.value; RETURN NEW; END';
CREATE TRIGGER doubled BEFORE INSERT ON history FOR EACH ROW EXECUTE FUNCTION double();
CREATE TRIGGER doubled BEFORE INSERT ON plain FOR EACH ROW EXECUTE FUNCTION double();
SELECT alike($$INSERT INTO $T VALUES (9, 864000, 4, 1), (9, 864001, 5, 1)$$);
DROP TRIGGER doubled ON history; DROP TRIGGER doubled ON plain;
SELECT alike($$INSERT INTO $T VALUES (9, 864002, 4, 1), (9, 864003, 5, 1)$$);
SELECT alike($$INSERT INTO $T VALUES (9, 864000, 4, 1)$$);
SELECT merge(day) > 0 FROM zbxhist.packed_day WHERE parent = 'history'::regclass AND runs ORDER BY from_clock;
SELECT alike('SELECT 1');
SELECT alike($$UPDATE $T SET value = value WHERE itemid > 9000000000000000000$$);
SELECT alike($$INSERT INTO $T VALUES (9223372036854775807, 864000, 1, 0)$$);
COMMIT;
CALL zbxhist.pack('history', '1970-01-11');
SELECT alike('SELECT 1');
SELECT * FROM zbxhist.verify('history');
SELECT alike('TRUNCATE $T');
RESET search_path;
DROP SCHEMA runs_statements CASCADE;
RESET session_preload_libraries;
