-- An INSERT of literals into a parent is planned as a custom scan; any other INSERT is planned
-- as usual.  Both give the same result.
\a \t
LOAD 'zbxhist';
CREATE TABLE history (
    itemid bigint NOT NULL,
    clock integer DEFAULT '0' NOT NULL,
    value double precision DEFAULT '0.0000' NOT NULL,
    ns integer DEFAULT '0' NOT NULL,
    PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history');
SELECT zbxhist.create_partition('history', '1970-01-02');
SELECT zbxhist.create_partition('history', '1970-01-03');
CREATE TABLE history_str (
    itemid bigint NOT NULL,
    clock integer DEFAULT '0' NOT NULL,
    value varchar(5) DEFAULT '' NOT NULL,
    ns integer DEFAULT '0' NOT NULL,
    PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history_str');
SELECT zbxhist.create_partition('history_str', '1970-01-02');
CREATE VIEW stored AS
SELECT tableoid::regclass AS stored_in, itemid, clock, ns, value FROM history;

-- the plan, plainly and with everything that EXPLAIN can say of it
EXPLAIN INSERT INTO history VALUES (1, 86400, 0.5, 1);
EXPLAIN (COSTS OFF, VERBOSE)
INSERT INTO history (itemid, clock, ns, value) VALUES (1, 86400, 1, 0.5), (2, 86400, 1, 1);
CREATE FUNCTION analyze_insert(statement text) RETURNS TABLE (
    provider text, relation text, rows_to_insert text, routed text, kept text, partitions text, batches text, wal boolean)
LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, WAL, VERBOSE, FORMAT json) ' || statement INTO plan;
    plan := plan->0->'Plan';
    RETURN QUERY SELECT plan->>'Custom Plan Provider', plan->>'Relation Name', plan->>'Rows to Insert', plan->>'Rows Routed',
        plan->>'Rows Kept', plan->>'Partitions', plan->>'Batches', (plan->>'WAL Records')::integer > 1;
END $$;
SELECT * FROM analyze_insert('INSERT INTO history (ns, itemid, clock) VALUES (1, 1, 86400), (1, 2, 172800), (1, 3, 7), (1, 4, 86400)');
SELECT * FROM analyze_insert('INSERT INTO history VALUES (5, 86400)');
SELECT * FROM stored ORDER BY itemid;
TRUNCATE history;

-- command tags
INSERT INTO history VALUES (1, 86400, 1.5, 1);
\echo :ROW_COUNT
INSERT INTO history (itemid, clock, ns, value) VALUES
    (3, 172799, 0, 3), (2, 172800, 0, 2), (1, 259199, 0, 1), (1, 86401, 5, 4), (9, 9, 9, 9);
\echo :ROW_COUNT
SELECT * FROM stored ORDER BY itemid, clock;
TRUNCATE history;

-- every way to write a number
INSERT INTO history (itemid, clock, value) VALUES
    (1, 86400, 1), (2, 86400, 1.25), (3, 86400, 12345678901), (4, 86400, '1e-3'), (5, 86400, -1.7976931348623157E+308),
    (6, 86400, 'NaN'), (7, 86400, '-Infinity'), (8, 86400, 0.1::real), (9, 86400, 1::smallint), (10, 86400, '7'::text::integer),
    (11, 86400, 4.9406564584124654E-324), (12, 86400, -0.0), (13, 86400, 9007199254740993), (14, 86400, 0.1234567890123456789),
    ('15', '86400', '2.5'), (16::smallint, 86400::bigint, 3), (17, '86400'::text::integer, 4), (9223372036854775807, 86400, 5);
SELECT itemid, value FROM history ORDER BY itemid;
TRUNCATE history;
-- NULL and DEFAULT
INSERT INTO history (itemid, clock, value) VALUES (1, DEFAULT, DEFAULT), (2, 86400, DEFAULT), (3, DEFAULT, 1);
INSERT INTO history (itemid) VALUES (4), (5);
INSERT INTO history (itemid, clock) VALUES (6, 86400);
SELECT * FROM stored ORDER BY itemid;
TRUNCATE history;
INSERT INTO history DEFAULT VALUES;

-- errors
\set SHOW_CONTEXT never
INSERT INTO history VALUES (1, 86400, 1, 1), (1, 86400, 2, 1);
INSERT INTO history VALUES (1, 5, 1, 1), (1, 5, 2, 1);
INSERT INTO history VALUES (1, 86400, 1, 1), (2, 86400, NULL, 1);
INSERT INTO history VALUES (1, 86400, 1, 1), (2, NULL, 1, 1);
INSERT INTO history VALUES (1, 5, 1, 1), (NULL, 5, 1, 1);
INSERT INTO history VALUES (1, 86400, 1, 1), (2, 2147483648, 1, 1);
INSERT INTO history VALUES (1, 86400, 1, 1), (2, 86400, 1e400, 1);
INSERT INTO history VALUES (1, 86400, 1, 1), (2, 86400, 'x', 1);
INSERT INTO history_str VALUES (1, 86400, 'short'), (2, 86400, 'too long');
INSERT INTO history_str VALUES (1, 86400, 'space  '), (2, 86400, 'cut it'::varchar(3));
SELECT itemid, '<' || value || '>' FROM history_str;
SELECT count(*) FROM history;
\set SHOW_CONTEXT errors
TRUNCATE history_str;

-- a key that waits in the parent, and one that came there by other ways
ALTER TABLE history DISABLE TRIGGER zzz_zbxhist_route;
INSERT INTO history VALUES (1, 86400, 1, 1);
EXPLAIN (COSTS OFF) INSERT INTO history VALUES (1, 86400, 1, 1);
ALTER TABLE history ENABLE TRIGGER zzz_zbxhist_route;
\set VERBOSITY sqlstate
INSERT INTO history VALUES (2, 86400, 1, 1), (1, 86400, 2, 1);
\set VERBOSITY default
INSERT INTO history VALUES (3, 86400, 1, 1);
SELECT * FROM stored ORDER BY itemid;
TRUNCATE history;

-- what is planned as ever, and why
CREATE FUNCTION plan_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    EXECUTE 'EXPLAIN (COSTS OFF) ' || statement INTO line;
    RETURN line;
END $$;
SET client_min_messages = debug1;
SELECT plan_of('INSERT INTO history VALUES (1, 86400, 1, 1)');
SELECT plan_of('INSERT INTO history VALUES (1, 86400, 1 + 1, 1)');
SELECT plan_of('INSERT INTO history VALUES (1, 86400, 1, 1), (1, 86400, random(), 2)');
SELECT plan_of('INSERT INTO history VALUES (1, extract(epoch FROM now())::integer, 1, 1)');
SELECT plan_of('INSERT INTO history VALUES (1, 86400, abs(-1), 1)');
RESET client_min_messages;
SELECT plan_of('INSERT INTO history VALUES (1, 86400, (SELECT 1), 1)');
SELECT plan_of('INSERT INTO history VALUES (1, 86400, 1, 1) RETURNING itemid');
SELECT plan_of('INSERT INTO history VALUES (1, 86400, 1, 1) ON CONFLICT DO NOTHING');
SELECT plan_of('WITH a AS (SELECT 1) INSERT INTO history VALUES (1, 86400, 1, 1)');
SELECT plan_of('INSERT INTO history OVERRIDING USER VALUE VALUES (1, 86400, 1, 1)');
SELECT plan_of('INSERT INTO history SELECT 1, 86400, 1, 1');
SELECT plan_of('INSERT INTO history VALUES (1, 86400, 1, 1), (2, 86400, 1, 1) ORDER BY 1 LIMIT 1');
SELECT plan_of('INSERT INTO history TABLE history');
SELECT plan_of('INSERT INTO history_p19700102 VALUES (1, 86400, 1, 1)');
-- settings, and statements prepared before they changed
PREPARE ins AS INSERT INTO history VALUES (1, 86400, 1, 1);
SELECT plan_of('EXECUTE ins');
SET zbxhist.enable_fast_insert = off;
SELECT plan_of('INSERT INTO history VALUES (1, 86400, 1, 1)');
SELECT plan_of('EXECUTE ins');
RESET zbxhist.enable_fast_insert;
SELECT plan_of('EXECUTE ins');
SET zbxhist.enable_routing = off;
SELECT plan_of('EXECUTE ins');
RESET zbxhist.enable_routing;
SET zbxhist.enable_batching = off;
SELECT plan_of('EXECUTE ins');
RESET zbxhist.enable_batching;
SET session_replication_role = replica;
SELECT plan_of('EXECUTE ins');
RESET session_replication_role;
-- the table: rules, triggers, columns, row security
CREATE TABLE other (itemid bigint);
CREATE RULE also AS ON INSERT TO history DO ALSO INSERT INTO other VALUES (NEW.itemid);
SELECT plan_of('EXECUTE ins');
DROP RULE also ON history;
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE NOTICE '% % %', TG_NAME, TG_WHEN, TG_LEVEL;
    RETURN NEW;
END $$;
CREATE TRIGGER t BEFORE INSERT ON history FOR EACH STATEMENT EXECUTE FUNCTION tell();
SELECT plan_of('EXECUTE ins');
ALTER TABLE history DISABLE TRIGGER t;
SELECT plan_of('EXECUTE ins');
DROP TRIGGER t ON history;
CREATE TRIGGER t AFTER INSERT ON history FOR EACH STATEMENT EXECUTE FUNCTION tell();
SELECT plan_of('EXECUTE ins');
DROP TRIGGER t ON history;
CREATE TRIGGER t BEFORE INSERT ON history FOR EACH ROW EXECUTE FUNCTION tell();
SELECT plan_of('EXECUTE ins');
DROP TRIGGER t ON history;
CREATE TRIGGER t AFTER UPDATE ON history FOR EACH STATEMENT EXECUTE FUNCTION tell();
SELECT plan_of('EXECUTE ins');
DROP TRIGGER t ON history;
ALTER TABLE history ENABLE ROW LEVEL SECURITY;
SELECT plan_of('EXECUTE ins');
ALTER TABLE history DISABLE ROW LEVEL SECURITY;
SELECT plan_of('EXECUTE ins');
DEALLOCATE ins;
CREATE VIEW few_checked AS SELECT * FROM history WHERE itemid < 10 WITH CHECK OPTION;
SELECT plan_of('INSERT INTO few_checked VALUES (1, 86400, 1, 1)');
DROP VIEW few_checked;
CREATE SEQUENCE numbers;
ALTER TABLE history ALTER ns SET DEFAULT nextval('numbers');
SELECT plan_of('INSERT INTO history VALUES (1, 86400, 1)');
SELECT plan_of('INSERT INTO history VALUES (1, 86400, 1), (2, 86400, 1)');
SELECT plan_of('INSERT INTO history VALUES (1, 86400, 1, 1), (2, 86400, 1, 1)');
SELECT plan_of('INSERT INTO history VALUES (1, 86400, 1, 1), (2, 86400, 1, DEFAULT)');
ALTER TABLE history ALTER ns SET DEFAULT 0;
DROP SEQUENCE numbers;
ALTER TABLE history ADD twice double precision GENERATED ALWAYS AS (value * 2) STORED;
SELECT plan_of('INSERT INTO history VALUES (1, 86400, 1, 1)');
ALTER TABLE history DROP twice;
CREATE DOMAIN note AS text DEFAULT 'none' CHECK (VALUE <> '');
ALTER TABLE history ADD note note;
SELECT plan_of('INSERT INTO history VALUES (1, 86400, 1, 1)');
ALTER TABLE history DROP note;
SELECT plan_of('INSERT INTO history VALUES (1, 86400, 1, 1)');
-- dropped and added columns, of the parent and of partitions of another shape
ALTER TABLE history ADD note text, ADD later integer DEFAULT 7;
SELECT zbxhist.create_partition('history', '1970-01-04');
INSERT INTO history (later, itemid, clock, note) VALUES (1, 1, 86400, 'a'), (NULL, 2, 259200, NULL), (DEFAULT, 3, 3, 'c');
INSERT INTO history (itemid, clock) VALUES (4, 86400), (5, 259200), (6, 6);
SELECT tableoid::regclass, * FROM history ORDER BY itemid;
ALTER TABLE history DROP note, DROP later;
TRUNCATE history;

-- constraints of the parent and a partition, triggers of a partition
ALTER TABLE history ADD CONSTRAINT small CHECK (value < 1000) NOT VALID;
INSERT INTO history VALUES (1, 5, 1000, 1);
INSERT INTO history VALUES (1, 86400, 1, 1), (2, 86400, 1000, 1);
ALTER TABLE history DROP CONSTRAINT small;
CREATE TRIGGER t BEFORE INSERT ON history_p19700102 FOR EACH ROW EXECUTE FUNCTION tell();
CREATE TRIGGER u AFTER INSERT ON history_p19700102 FOR EACH ROW EXECUTE FUNCTION tell();
INSERT INTO history VALUES (1, 86400, 1, 1), (2, 172800, 1, 1), (2, 86400, 2, 1);
\echo :ROW_COUNT
DROP TRIGGER t ON history_p19700102;
DROP TRIGGER u ON history_p19700102;
SELECT * FROM stored ORDER BY itemid, clock;
TRUNCATE history;

-- prepared statements, custom and generic plans
PREPARE ins (bigint, integer, text) AS INSERT INTO history VALUES ($1, $2, $3::double precision, 0), ($1, $2 + 0, 1, 1);
PREPARE ins2 (bigint, integer, numeric) AS INSERT INTO history VALUES ($1, $2, $3, 0), ($1, 86400, $3, 1);
PREPARE ins3 (integer, varchar) AS INSERT INTO history_str VALUES ($1, 86400, $2);
SELECT plan_of('EXECUTE ins (1, 2, ''3'')');
SELECT plan_of('EXECUTE ins2 (1, 2, 3)');
EXECUTE ins2 (1, 86400, 1.5);
EXECUTE ins3 (1, 'abc');
SET plan_cache_mode = force_generic_plan;
EXECUTE ins2 (2, 5, 2.5);
EXECUTE ins2 (3, 172800, 3.25);
\echo :ROW_COUNT
EXECUTE ins2 (4, 172800, NULL);
EXECUTE ins3 (2, 'def');
EXECUTE ins3 (3, 'too long');
EXECUTE ins3 (3, repeat('long', 2000));
SELECT plan_of('EXECUTE ins2 (1, 2, 3)');
SELECT zbxhist.create_partition('history', '1970-01-01');
EXECUTE ins2 (5, 5, 5.5);
RESET plan_cache_mode;
SELECT * FROM stored ORDER BY itemid, clock, ns;
SELECT itemid, value FROM history_str ORDER BY itemid;
DEALLOCATE ALL;
TRUNCATE history, history_str;

-- PL/pgSQL: variables, FOUND, ROW_COUNT, EXCEPTION blocks; SQL functions
CREATE FUNCTION add_two(item bigint, day integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
    r record;
BEGIN
    SELECT 2 AS ns, 'abc' AS value INTO r;
    INSERT INTO history VALUES (item, day, 0.5, 1), (item, day, 1, r.ns);
    GET DIAGNOSTICS n = ROW_COUNT;
    BEGIN
        INSERT INTO history_str VALUES (item, day, r.value, 0);
        INSERT INTO history VALUES (item, day, 1, 7);
        INSERT INTO history VALUES (item, day, 1, 8), (item, day, 1, 2);
    EXCEPTION WHEN unique_violation THEN
        RAISE NOTICE '%', SQLERRM;
    END;
    INSERT INTO history VALUES (item, day, 1, 9);
    RETURN n + 10 * (SELECT count(*) FROM history WHERE itemid = item) + 100 * FOUND::integer;
END $$;
SELECT add_two(i, 86400) FROM generate_series(1, 7) i;
SELECT count(*), count(DISTINCT itemid) FROM history;
SELECT count(*) FROM history_str;
CREATE FUNCTION add_one(bigint) RETURNS void LANGUAGE sql AS
$$ INSERT INTO history VALUES ($1, 86400, 1, 1000); INSERT INTO history VALUES ($1, 5, 1, 1001), ($1, 172800, 1, 1002) $$;
SELECT add_one(1), add_one(2);
SELECT * FROM stored WHERE ns >= 1000 ORDER BY itemid, ns;
TRUNCATE history;
-- a trigger of another table that inserts
CREATE FUNCTION copy_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO history VALUES (NEW.itemid, 86400, 1, 1);
    RETURN NEW;
END $$;
CREATE TRIGGER copy_row AFTER INSERT ON other FOR EACH ROW EXECUTE FUNCTION copy_row();
WITH o AS (INSERT INTO other VALUES (1), (2)) INSERT INTO history VALUES (10, 86400, 1, 1);
INSERT INTO other VALUES (3), (10);
SELECT * FROM stored ORDER BY itemid;
DROP TABLE other;
TRUNCATE history;

-- savepoints
BEGIN;
INSERT INTO history VALUES (1, 86400, 0, 0);
SAVEPOINT a;
INSERT INTO history VALUES (2, 86400, 0, 0), (3, 5, 0, 0);
SAVEPOINT b;
INSERT INTO history VALUES (4, 86400, 0, 0), (4, 86400, 0, 0);
ROLLBACK TO b;
INSERT INTO history VALUES (5, 86400, 0, 0);
RELEASE b;
ROLLBACK TO a;
INSERT INTO history VALUES (6, 86400, 0, 0), (7, 5, 0, 0);
SELECT * FROM stored ORDER BY itemid;
COMMIT;
SELECT * FROM stored ORDER BY itemid;
TRUNCATE history;

-- undo brings rows back to the parent, and new ones stay there
UPDATE zbxhist.parent_config SET routing = false WHERE parent = 'history'::regclass;
SELECT zbxhist_internal.invalidate('history');
INSERT INTO history VALUES (1, 86400, 0, 0), (2, 172800, 0, 0);
\echo :ROW_COUNT
SELECT * FROM stored ORDER BY itemid;
UPDATE zbxhist.parent_config SET routing = true WHERE parent = 'history'::regclass;
SELECT zbxhist_internal.invalidate('history');
TRUNCATE history;

-- many rows, more than a batch, a read-only transaction
SELECT 'INSERT INTO history (itemid, clock, ns, value) VALUES ' ||
       string_agg(format('(%s,%s,%s,%s)', i % 100, i * 50, i, i / 8.0), ',') AS statement
  FROM generate_series(1, 5000) i
\gset
:statement;
\echo :ROW_COUNT
SELECT stored_in, count(*), sum(value) FROM stored GROUP BY 1 ORDER BY 3;
TRUNCATE history;
BEGIN READ ONLY;
INSERT INTO history VALUES (1, 86400, 0, 0);
ROLLBACK;
BEGIN READ ONLY;
INSERT INTO history VALUES (99999999999999999999, 86400, 0, 0);
ROLLBACK;

-- privileges: of the parent, and of its columns
CREATE ROLE zbxhist_test_writer;
CREATE ROLE zbxhist_test_reader;
GRANT INSERT ON history TO zbxhist_test_writer;
GRANT SELECT ON history TO zbxhist_test_reader;
GRANT INSERT (itemid, clock) ON history TO zbxhist_test_reader;
SET ROLE zbxhist_test_writer;
INSERT INTO history VALUES (1, 86400, 0, 0), (2, 5, 0, 0);
SELECT * FROM history;
SET ROLE zbxhist_test_reader;
INSERT INTO history VALUES (3, 86400, 0, 0);
INSERT INTO history (itemid, clock, ns) VALUES (3, 86400, 0), (4, 86400, 0);
INSERT INTO history (clock, itemid) VALUES (86400, 3), (5, 4);
INSERT INTO history_p19700102 (clock, itemid) VALUES (86400, 5);
RESET ROLE;
PREPARE ins AS INSERT INTO history VALUES (6, 86400, 0, 0);
EXECUTE ins;
SET ROLE zbxhist_test_reader;
EXECUTE ins;
RESET ROLE;
SELECT * FROM stored ORDER BY itemid;
-- ... and of a cast's function
BEGIN;
REVOKE EXECUTE ON FUNCTION pg_catalog.int8(integer) FROM PUBLIC;
SET LOCAL ROLE zbxhist_test_writer;
INSERT INTO history VALUES (7, 86400, 0, 0), (8, 5, 0, 0);
ROLLBACK;

SET client_min_messages = warning;
DROP TABLE history, history_str CASCADE;
DROP ROLE zbxhist_test_writer, zbxhist_test_reader;
DROP DOMAIN note;
DROP FUNCTION analyze_insert, plan_of, tell, add_two, add_one, copy_row;
SELECT zbxhist_internal.forget_dropped();
