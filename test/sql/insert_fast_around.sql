-- What else an INSERT of literals does, and what can be done to it: the same in a parent by
-- the short way (fast), in a parent by the trigger (slow), and in a plain table.
\a \t
LOAD 'zbxhist';
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE SCHEMA around;
SET search_path = around, zbxhist_partitions;
CREATE TABLE plain (
    itemid bigint NOT NULL,
    clock integer DEFAULT '0' NOT NULL,
    value double precision DEFAULT '0.0000' NOT NULL,
    ns integer DEFAULT '0' NOT NULL,
    PRIMARY KEY (itemid, clock, ns));

-- makes the parents fast and slow, like the table plain
CREATE FUNCTION make_parents() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['fast', 'slow'] LOOP
        EXECUTE format('CREATE TABLE %I (LIKE plain INCLUDING ALL)', t);
        PERFORM zbxhist.create_parent(t::regclass);
        PERFORM zbxhist.create_partition(t::regclass, '1970-01-02');
        PERFORM zbxhist.create_partition(t::regclass, '1970-01-03');
    END LOOP;
END $$;

-- what comes of statements, run one after the other, with T for the table
CREATE FUNCTION outcome(statements text[], tablename text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    s text;
    n bigint;
    result text := '';
BEGIN
    PERFORM set_config('zbxhist.enable_fast_insert', (tablename <> 'slow')::text, true);
    FOREACH s IN ARRAY statements LOOP
        BEGIN
            EXECUTE regexp_replace(s, '\mT\M', tablename, 'g');
            GET DIAGNOSTICS n = ROW_COUNT;
            result := concat_ws(' ', nullif(result, ''), n);
        EXCEPTION WHEN OTHERS THEN
            result := concat_ws(' ', nullif(result, ''), SQLSTATE);
        END;
    END LOOP;
    RETURN result;
END $$;

-- the same for all three, with the contents after that; one row if all agree
CREATE FUNCTION compare(VARIADIC statements text[]) RETURNS TABLE (tables text, outcome text, rows text) LANGUAGE plpgsql AS $$
DECLARE
    t text;
BEGIN
    CREATE TEMP TABLE IF NOT EXISTS results (tablename text, outcome text, rows text);
    TRUNCATE results;
    FOREACH t IN ARRAY ARRAY['fast', 'slow', 'plain'] LOOP
        INSERT INTO results VALUES (t, outcome(statements, t));
        EXECUTE format('UPDATE results SET rows = (SELECT string_agg(x::text, '' '' ORDER BY x.itemid, x.clock, x.ns, x.value) FROM %I x)'
                       ' WHERE tablename = %L', t, t);
    END LOOP;
    RETURN QUERY SELECT string_agg(r.tablename, ' ' ORDER BY r.tablename), r.outcome, r.rows FROM results r GROUP BY r.outcome, r.rows ORDER BY 1;
END $$;

CREATE FUNCTION plan_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    EXECUTE 'EXPLAIN (COSTS OFF) ' || statement INTO line;
    RETURN line;
END $$;

SELECT make_parents();

-- row counts: of the statement, of the transaction, for autovacuum
CREATE VIEW counted AS
SELECT CASE s.relname WHEN 'plain' THEN 'plain' ELSE left(s.relname, 4) END AS tables,
       sum(s.n_tup_ins) AS inserted, sum(s.n_live_tup) AS live, sum(s.n_dead_tup) AS dead, sum(s.n_mod_since_analyze) AS modified
  FROM pg_stat_user_tables s WHERE s.schemaname IN ('around', 'zbxhist_partitions') AND s.relname ~ '^(fast|slow|plain)' GROUP BY 1;
BEGIN;
SELECT * FROM compare('INSERT INTO T VALUES (1, 86400, 1, 1), (2, 86400, 1, 1), (3, 172800, 1, 1)');
SELECT relname, n_tup_ins FROM pg_stat_xact_user_tables WHERE schemaname IN ('around', 'zbxhist_partitions') AND n_tup_ins > 0 ORDER BY relname;
ROLLBACK;
SELECT * FROM compare('INSERT INTO T VALUES (1, 86400, 1, 1), (2, 86401, 1, 1), (3, 172800, 1, 1), (4, 5, 1, 1)',
                      'INSERT INTO T VALUES (5, 86400, 1, 1)');
SELECT pg_stat_force_next_flush();
SELECT * FROM counted ORDER BY tables;
SELECT relname, n_tup_ins, n_live_tup FROM pg_stat_user_tables WHERE schemaname IN ('around', 'zbxhist_partitions') AND relname ~ '^(fast|slow)' AND n_tup_ins > 0 ORDER BY relname;

-- EXPLAIN (ANALYZE, BUFFERS, WAL)
CREATE FUNCTION resources(statement text) RETURNS TABLE (buffers boolean, wal_records boolean, wal_bytes boolean) LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, WAL, FORMAT json) ' || statement INTO plan;
    plan := plan->0->'Plan';
    RETURN QUERY SELECT (plan->>'Shared Hit Blocks')::bigint > 3,
        (plan->>'WAL Records')::bigint >= 3, (plan->>'WAL Bytes')::bigint > 100;
END $$;
SELECT * FROM resources('INSERT INTO fast VALUES (6, 86400, 1, 1), (7, 86400, 1, 1)');
SELECT count(*) FROM fast;
TRUNCATE fast, slow, plain;

-- constraints that are checked later
ALTER TABLE plain ADD UNIQUE (clock, itemid, ns) DEFERRABLE INITIALLY DEFERRED;
DROP TABLE fast, slow CASCADE;
SELECT make_parents();
SELECT plan_of('INSERT INTO fast VALUES (1, 86400, 1, 1)');
SELECT * FROM compare('INSERT INTO T VALUES (1, 86400, 1, 1), (2, 86400, 1, 1)', 'SET CONSTRAINTS ALL IMMEDIATE',
                      'INSERT INTO T VALUES (1, 86400, 2, 1)', 'INSERT INTO T VALUES (3, 86400, 2, 1)', 'SET CONSTRAINTS ALL DEFERRED');
ALTER TABLE plain DROP CONSTRAINT plain_clock_itemid_ns_key;
TRUNCATE plain;
DROP TABLE fast, slow CASCADE;
SELECT make_parents();
-- ... given to parents and partitions that are there
ALTER TABLE fast ADD CONSTRAINT later_fast UNIQUE (value) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE slow ADD CONSTRAINT later_slow UNIQUE (value) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE fast_p19700102 ADD CONSTRAINT later UNIQUE (value) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE slow_p19700102 ADD CONSTRAINT later_slow_p UNIQUE (value) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE plain ADD CONSTRAINT later_plain UNIQUE (value) DEFERRABLE INITIALLY DEFERRED;
SELECT plan_of('INSERT INTO fast VALUES (1, 86400, 1, 1)');
SELECT * FROM compare('INSERT INTO T VALUES (1, 86400, 1, 1), (2, 86400, 1, 1)', 'DELETE FROM T WHERE itemid = 2', 'SET CONSTRAINTS ALL IMMEDIATE',
                      'SET CONSTRAINTS ALL DEFERRED');
BEGIN;
INSERT INTO fast VALUES (3, 86400, 3, 1), (4, 86400, 3, 1);
COMMIT;
BEGIN;
INSERT INTO plain VALUES (3, 86400, 3, 1), (4, 86400, 3, 1);
COMMIT;
SELECT * FROM compare('SELECT');
DROP TABLE fast, slow CASCADE;
ALTER TABLE plain DROP CONSTRAINT later_plain;
TRUNCATE plain;
SELECT make_parents();

-- others' statement triggers see the rows, and themselves insert
CREATE TABLE seen (tablename text, event text, rows bigint);
CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM %I', TG_TABLE_NAME) INTO n;
    INSERT INTO seen VALUES (TG_TABLE_NAME, TG_WHEN || ' ' || TG_LEVEL, n);
    IF TG_WHEN = 'AFTER' AND n < 5 THEN
        EXECUTE format('INSERT INTO %I VALUES (100 + %s, 86400, 1, 1), (200 + %2$s, 7, 1, 1)', TG_TABLE_NAME, n);
    END IF;
    RETURN NULL;
END $$;
DO $$
DECLARE
    t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['fast', 'slow', 'plain'] LOOP
        EXECUTE format('CREATE TRIGGER a BEFORE INSERT ON %I FOR EACH STATEMENT EXECUTE FUNCTION see()', t);
        EXECUTE format('CREATE TRIGGER b AFTER INSERT ON %I FOR EACH STATEMENT EXECUTE FUNCTION see()', t);
    END LOOP;
END $$;
SELECT * FROM compare('INSERT INTO T VALUES (1, 86400, 1, 1), (2, 5, 1, 1)', 'INSERT INTO T VALUES (3, 86400, 1, 1)');
SELECT DISTINCT string_agg(s.event || ' ' || s.rows, ', ') FROM seen s GROUP BY s.tablename;
DROP TRIGGER a ON fast;
DROP TRIGGER b ON fast;
DROP TRIGGER a ON slow;
DROP TRIGGER b ON slow;
DROP TRIGGER a ON plain;
DROP TRIGGER b ON plain;
TRUNCATE fast, slow, plain;

-- row triggers of the partition that change and skip rows; those count as inserted, though
CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.itemid = 2 THEN
        RETURN NULL;
    END IF;
    NEW.value := NEW.value + 1;
    RETURN NEW;
END $$;
CREATE TRIGGER change BEFORE INSERT ON fast_p19700102 FOR EACH ROW EXECUTE FUNCTION change();
CREATE TRIGGER change BEFORE INSERT ON slow_p19700102 FOR EACH ROW EXECUTE FUNCTION change();
CREATE TRIGGER change BEFORE INSERT ON plain FOR EACH ROW WHEN (NEW.clock BETWEEN 86400 AND 172799) EXECUTE FUNCTION change();
SELECT plan_of('INSERT INTO fast VALUES (1, 86400, 1, 1)');
SELECT tables, rows FROM compare('INSERT INTO T VALUES (1, 86400, 1, 1), (2, 86400, 1, 1), (2, 172800, 1, 1), (3, 86400, 1, 1)');
DROP TRIGGER change ON fast_p19700102;
DROP TRIGGER change ON slow_p19700102;
DROP TRIGGER change ON plain;
TRUNCATE fast, slow, plain;

-- rules
CREATE TABLE noted (itemid bigint);
DO $$
DECLARE
    t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['fast', 'slow', 'plain'] LOOP
        EXECUTE format('CREATE RULE note AS ON INSERT TO %I DO ALSO INSERT INTO noted VALUES (NEW.itemid)', t);
    END LOOP;
END $$;
SELECT * FROM compare('INSERT INTO T VALUES (1, 86400, 1, 1), (2, 5, 1, 1)');
SELECT itemid, count(*) FROM noted GROUP BY 1 ORDER BY 1;
CREATE OR REPLACE RULE note AS ON INSERT TO fast DO INSTEAD NOTHING;
CREATE OR REPLACE RULE note AS ON INSERT TO slow DO INSTEAD NOTHING;
CREATE OR REPLACE RULE note AS ON INSERT TO plain DO INSTEAD NOTHING;
SELECT * FROM compare('INSERT INTO T VALUES (3, 86400, 1, 1)');
DROP RULE note ON fast;
DROP RULE note ON slow;
DROP RULE note ON plain;
TRUNCATE fast, slow, plain;

-- row security
CREATE ROLE regress_zbxhist_few;
GRANT USAGE ON SCHEMA around TO regress_zbxhist_few;
GRANT SELECT, INSERT ON fast, slow, plain TO regress_zbxhist_few;
DO $$
DECLARE
    t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['fast', 'slow', 'plain'] LOOP
        EXECUTE format('CREATE POLICY few ON %I USING (itemid < 10)', t);
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    END LOOP;
END $$;
PREPARE secured AS INSERT INTO fast VALUES (12, 86400, 1, 1);
EXECUTE secured;
SET ROLE regress_zbxhist_few;
EXECUTE secured;
INSERT INTO fast VALUES (1, 86400, 1, 1), (11, 86400, 1, 1);
INSERT INTO fast VALUES (1, 86400, 1, 1), (2, 5, 1, 1);
INSERT INTO slow VALUES (1, 86400, 1, 1), (2, 5, 1, 1);
INSERT INTO plain VALUES (1, 86400, 1, 1), (2, 5, 1, 1);
RESET ROLE;
DEALLOCATE secured;
DELETE FROM fast WHERE itemid = 12;
SELECT * FROM compare('SELECT');
ALTER TABLE fast DISABLE ROW LEVEL SECURITY;
ALTER TABLE slow DISABLE ROW LEVEL SECURITY;
ALTER TABLE plain DISABLE ROW LEVEL SECURITY;
TRUNCATE fast, slow, plain;
-- ... and privileges on columns
REVOKE ALL ON fast, slow, plain FROM regress_zbxhist_few;
GRANT INSERT (itemid, clock, value), SELECT ON fast, slow, plain TO regress_zbxhist_few;
GRANT TEMPORARY ON DATABASE :"DBNAME" TO regress_zbxhist_few;
DROP TABLE results;
SET ROLE regress_zbxhist_few;
SELECT * FROM compare('INSERT INTO T (itemid, clock, value) VALUES (1, 86400, 1), (2, 86400, 2)', 'INSERT INTO T (itemid) VALUES (3)',
                      'INSERT INTO T (itemid, ns) VALUES (4, 4)', 'INSERT INTO T VALUES (5, 86400, 1, 0), (6, 86400, 1, 0)',
                      'INSERT INTO T (itemid, clock, ns) VALUES (7, 86400, DEFAULT)');
-- the rows in errors are those of the parent, which the user may read
INSERT INTO fast (itemid, clock, value) VALUES (8, 86400, NULL), (9, 86400, 1);
INSERT INTO slow (itemid, clock, value) VALUES (8, 86400, NULL), (9, 86400, 1);
INSERT INTO plain (itemid, clock, value) VALUES (8, 86400, NULL), (9, 86400, 1);
DROP TABLE results;
RESET ROLE;
DROP OWNED BY regress_zbxhist_few;
DROP ROLE regress_zbxhist_few;
TRUNCATE fast, slow, plain;

-- a session that applies replicated rows
SET session_replication_role = replica;
SELECT * FROM compare('INSERT INTO T VALUES (1, 86400, 1, 1), (2, 5, 1, 1)', 'INSERT INTO T VALUES (1, 86400, 1, 1)');
RESET session_replication_role;
TRUNCATE fast, slow, plain;

-- savepoints, one in the other
SELECT * FROM compare('INSERT INTO T VALUES (1, 86400, 1, 1), (2, 5, 1, 1)', 'INSERT INTO T VALUES (3, 86400, 1, 1), (1, 86400, 2, 1)',
                      'DO $d$ BEGIN INSERT INTO T VALUES (4, 86400, 1, 1); BEGIN INSERT INTO T VALUES (5, 86400, 1, 1); RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN NULL; END; INSERT INTO T VALUES (6, 172800, 1, 1); END $d$');
TRUNCATE fast, slow, plain;

-- prepared statements while the table changes
CREATE FUNCTION prepare_all() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['fast', 'slow', 'plain'] LOOP
        EXECUTE format('PREPARE %I (bigint, integer) AS INSERT INTO %1$I (itemid, clock, value) VALUES ($1, $2, 1), ($1 , 7, 2.5)', t);
    END LOOP;
END $$;
SELECT prepare_all();
SET plan_cache_mode = force_generic_plan;
SELECT * FROM compare('EXECUTE T (1, 86400)');
ALTER TABLE plain ADD note text DEFAULT 'n', ALTER value TYPE numeric;
ALTER TABLE fast ADD note text DEFAULT 'n', ALTER value TYPE numeric;
ALTER TABLE slow ADD note text DEFAULT 'n', ALTER value TYPE numeric;
SELECT * FROM compare('EXECUTE T (2, 86400)');
ALTER TABLE plain ALTER ns SET DEFAULT 3, DROP note;
ALTER TABLE fast ALTER ns SET DEFAULT 3, DROP note;
ALTER TABLE slow ALTER ns SET DEFAULT 3, DROP note;
SELECT * FROM compare('EXECUTE T (3, 86400)');
ALTER TABLE fast_p19700102 NO INHERIT fast;
ALTER TABLE slow_p19700102 NO INHERIT slow;
DELETE FROM plain WHERE clock = 86400;
SELECT * FROM compare('EXECUTE T (4, 86400)');
SELECT tableoid::regclass, itemid FROM fast WHERE itemid = 4 ORDER BY clock;
SELECT zbxhist.create_partition('fast', '1970-01-01') IS NOT NULL AND zbxhist.create_partition('slow', '1970-01-01') IS NOT NULL AS created;
SELECT * FROM compare('EXECUTE T (5, 86400)');
SELECT tableoid::regclass, itemid FROM fast WHERE itemid = 5 ORDER BY clock;
ALTER TABLE plain ALTER ns DROP DEFAULT;
ALTER TABLE fast ALTER ns DROP DEFAULT;
ALTER TABLE slow ALTER ns DROP DEFAULT;
SELECT * FROM compare('EXECUTE T (6, 86400)');
RESET plan_cache_mode;
DEALLOCATE ALL;
DROP TABLE fast, slow, fast_p19700102, slow_p19700102, plain CASCADE;

-- identity and generated columns, OVERRIDING
CREATE TABLE plain (
    itemid bigint NOT NULL,
    clock integer NOT NULL,
    ns integer GENERATED BY DEFAULT AS IDENTITY,
    value double precision,
    always integer GENERATED ALWAYS AS IDENTITY,
    UNIQUE (itemid, clock, ns));
SELECT make_parents();
SELECT * FROM compare('INSERT INTO T (itemid, clock) VALUES (1, 86400), (2, 5)', 'INSERT INTO T (itemid, clock, ns) VALUES (3, 86400, 30)',
                      'INSERT INTO T (itemid, clock, always) VALUES (4, 86400, 4)', 'INSERT INTO T (itemid, clock, always) VALUES (5, 86400, DEFAULT)',
                      'INSERT INTO T (itemid, clock, ns, always) OVERRIDING SYSTEM VALUE VALUES (6, 86400, 60, 60), (7, 172800, 70, 70)',
                      'INSERT INTO T (itemid, clock, ns) OVERRIDING USER VALUE VALUES (8, 86400, 80)');
ALTER TABLE plain ALTER ns DROP IDENTITY, ALTER always DROP IDENTITY, ADD twice double precision GENERATED ALWAYS AS (value * 2) STORED;
TRUNCATE plain;
DROP TABLE fast, slow CASCADE;
SELECT make_parents();
SELECT * FROM compare('INSERT INTO T VALUES (1, 86400, 1, 1.5, 1), (2, 5, 1, 2.5, 2)', 'INSERT INTO T VALUES (3, 86400, 1, 1.5, 1, 7)',
                      'INSERT INTO T VALUES (4, 86400, 1, NULL, 1, DEFAULT)');
DROP TABLE fast, slow, plain CASCADE;

-- a partition that leaves in the midst of a statement is not written to by the rest of it
CREATE TABLE plain (
    itemid bigint NOT NULL,
    clock integer NOT NULL,
    PRIMARY KEY (itemid, clock));
SELECT make_parents();
CREATE FUNCTION let_go() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.itemid = 1 THEN
        ALTER TABLE fast_p19700103 NO INHERIT fast;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER let_go BEFORE INSERT ON fast_p19700102 FOR EACH ROW EXECUTE FUNCTION let_go();
SELECT format('INSERT INTO fast VALUES %s, (2000, 172800), (2001, 5), (2002, 172800)', string_agg(format('(%s, 86400)', i), ', ' ORDER BY i)) AS statement
  FROM generate_series(1, 1023) i \gset
:statement;
SELECT tableoid::regclass, * FROM fast WHERE itemid >= 2000 ORDER BY itemid;
SELECT count(*) FROM fast_p19700103;
DROP TABLE fast, slow, plain, fast_p19700103 CASCADE;

-- a parent of all kinds of fixed widths, nulls among them, and with a column dropped
CREATE TABLE plain (
    c "char" NOT NULL DEFAULT 'x',
    itemid bigint NOT NULL,
    b boolean,
    s smallint,
    clock integer NOT NULL,
    r real DEFAULT 1.5,
    t timestamptz DEFAULT '2000-01-01 00:00 UTC',
    ns oid NOT NULL DEFAULT 0,
    value double precision,
    PRIMARY KEY (itemid, clock, ns));
SET TimeZone = 'UTC';
SELECT make_parents();
SELECT * FROM compare('INSERT INTO T (itemid, clock, value) VALUES (1, 86400, 1), (2, 86400, 2), (3, 86400, 3), (4, 172800, 4), (5, 86400, 5)',
    'INSERT INTO T VALUES (''a'', 6, true, 1, 86400, 0.25, ''2020-01-01 00:00 UTC'', 1, 1), (''b'', 7, false, -1, 86400, -0.25, ''infinity'', 2, -1),
        (''c'', 8, NULL, 32767, 86400, ''NaN'', NULL, 4294967295, NULL), (''\xff'', 9, true, -32768, 86400, ''-Infinity'', NULL, 7, 1e-300), (''e'', 10, true, 1, 5, 1, ''2020-01-01 00:00 UTC'', 0, 0)');
ALTER TABLE plain DROP s;
ALTER TABLE fast DROP s;
ALTER TABLE slow DROP s;
SELECT * FROM compare('INSERT INTO T (itemid, clock, value) VALUES (11, 86400, 1), (12, 86400, 2), (13, 86400, 3), (14, 172800, 4), (15, 86400, 5)');

SET search_path = public, zbxhist_partitions;
DROP SCHEMA around CASCADE;
SELECT zbxhist_internal.forget_dropped();
