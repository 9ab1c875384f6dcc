-- Each way to insert a row ends with it stored once, in its day's partition,
-- with a command tag that says so.
--
-- ROW_COUNT shows the command tags: right from the second statement of a
-- session on, or from the first with session_preload_libraries
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

CREATE VIEW stored AS
SELECT tableoid::regclass AS stored_in, itemid, clock, ns, value FROM history;

-- one row, several rows of several days, any order, another column order
INSERT INTO history VALUES (1, 86400, 1.5, 1);
\echo :ROW_COUNT
INSERT INTO history (itemid, clock, ns, value) VALUES
    (3, 172799, 0, 3), (2, 172800, 0, 2), (1, 259199, 0, 1), (1, 86401, 5, 4);
\echo :ROW_COUNT
-- defaults
INSERT INTO history (itemid, clock) VALUES (4, 86400);
-- no partition: the ends of int4, 1970 and the day after the last
INSERT INTO history VALUES
    (5, -2147483648, 0, 0), (5, 2147483647, 0, 0), (5, 0, 0, 0), (5, 259200, 0, 0);
\echo :ROW_COUNT
SELECT * FROM stored ORDER BY itemid, clock, ns;
TRUNCATE history;

-- INSERT ... SELECT, larger than one batch
INSERT INTO history
SELECT i % 100, 86400 + i, i, 0 FROM generate_series(1, 5000) i;
\echo :ROW_COUNT
SELECT stored_in, count(*), sum(value) FROM stored GROUP BY 1 ORDER BY 1;
INSERT INTO history SELECT itemid, clock + 86400, value, ns FROM history;
SELECT stored_in, count(*), sum(value) FROM stored GROUP BY 1 ORDER BY 1;
TRUNCATE history;

-- COPY (binary, and the extended protocol: test/t)
COPY history FROM stdin;
1	86400	1	1
2	172800	2	2
3	7	3	3
\.
\echo :ROW_COUNT
SELECT * FROM stored ORDER BY itemid;
TRUNCATE history;

-- prepared statements, custom and generic plans
PREPARE ins (bigint, integer) AS INSERT INTO history VALUES ($1, $2, 0, 0), ($1, $2 + 86400, 0, 0);
EXECUTE ins (1, 86400);
SET plan_cache_mode = force_generic_plan;
EXECUTE ins (2, 86400);
EXECUTE ins (3, 86400);
\echo :ROW_COUNT
RESET plan_cache_mode;
DEALLOCATE ins;
SELECT * FROM stored ORDER BY itemid, clock;
TRUNCATE history;

-- PL/pgSQL: FOUND, ROW_COUNT, EXCEPTION blocks
DO $$
DECLARE
    n bigint;
BEGIN
    INSERT INTO history VALUES (1, 86400, 0, 0), (1, 172800, 0, 0), (1, 5, 0, 0);
    GET DIAGNOSTICS n = ROW_COUNT;
    RAISE NOTICE 'rows: %, found: %', n, FOUND;
    BEGIN
        INSERT INTO history VALUES (2, 86400, 0, 0);
        INSERT INTO history VALUES (3, 86400, 0, 0), (1, 86400, 0, 0);
    EXCEPTION WHEN unique_violation THEN
        RAISE NOTICE '%', SQLERRM;
    END;
    INSERT INTO history VALUES (4, 86400, 0, 0);
    RAISE NOTICE 'visible: %', (SELECT count(*) FROM history);
END $$;
SELECT * FROM stored ORDER BY itemid, clock;
TRUNCATE history;

-- savepoints
BEGIN;
INSERT INTO history VALUES (1, 86400, 0, 0);
SAVEPOINT a;
INSERT INTO history VALUES (2, 86400, 0, 0);
SAVEPOINT b;
INSERT INTO history VALUES (3, 86400, 0, 0);
RELEASE b;
INSERT INTO history VALUES (4, 86400, 0, 0);
ROLLBACK TO a;
INSERT INTO history VALUES (5, 86400, 0, 0);
SELECT * FROM stored ORDER BY itemid;
COMMIT;
SELECT * FROM stored ORDER BY itemid;
TRUNCATE history;

-- two parents, and one parent twice, in one statement
CREATE TABLE history_uint (LIKE history INCLUDING ALL);
SELECT zbxhist.create_parent('history_uint');
SELECT zbxhist.create_partition('history_uint', '1970-01-02');
WITH a AS (INSERT INTO history VALUES (1, 86400, 0, 0), (2, 86400, 0, 0)),
     b AS (INSERT INTO history_uint VALUES (3, 86400, 0, 0)),
     c AS (INSERT INTO history VALUES (4, 86400, 0, 0))
INSERT INTO history VALUES (5, 86400, 0, 0), (6, 86400, 0, 0);
\echo :ROW_COUNT
SELECT * FROM stored ORDER BY itemid;
SELECT tableoid::regclass, * FROM history_uint;
-- the same from a SELECT, whose tag counts what it returns
WITH a AS (INSERT INTO history VALUES (7, 86400, 0, 0)) SELECT 'one row';
\echo :ROW_COUNT
SELECT count(*) FROM history;
SET client_min_messages = warning;
DROP TABLE history_uint CASCADE;
RESET client_min_messages;
TRUNCATE history;

-- straight into a partition
INSERT INTO history_p19700102 VALUES (1, 86400, 0, 0);
INSERT INTO history_p19700102 VALUES (1, 172800, 0, 0);
SELECT * FROM stored;

-- EXPLAIN ANALYZE stores the rows, EXPLAIN does not
EXPLAIN (COSTS OFF) INSERT INTO history VALUES (2, 86400, 0, 0);
DO $$ BEGIN
    EXECUTE 'EXPLAIN (ANALYZE) INSERT INTO history VALUES (3, 86400, 0, 0)';
END $$;
SELECT * FROM stored ORDER BY itemid;
TRUNCATE history;

-- through a view
CREATE VIEW few AS SELECT * FROM history WHERE itemid < 10;
CREATE VIEW few_checked AS SELECT * FROM history WHERE itemid < 10 WITH CHECK OPTION;
INSERT INTO few VALUES (20, 86400, 0, 0);
INSERT INTO few_checked VALUES (1, 86400, 0, 0);
INSERT INTO few_checked VALUES (21, 86400, 0, 0);
SELECT * FROM stored ORDER BY itemid;
DROP VIEW few, few_checked;
TRUNCATE history;

-- one row at a time, and not at all
SET zbxhist.enable_batching = off;
INSERT INTO history SELECT i, 86400, 0, 0 FROM generate_series(1, 3) i;
\echo :ROW_COUNT
RESET zbxhist.enable_batching;
SET zbxhist.enable_routing = off;
INSERT INTO history VALUES (4, 86400, 0, 0);
RESET zbxhist.enable_routing;
SELECT * FROM stored ORDER BY itemid;
TRUNCATE history;

-- logical replication's apply
SET session_replication_role = replica;
INSERT INTO history VALUES (1, 86400, 0, 0);
RESET session_replication_role;
SELECT * FROM stored;
TRUNCATE history;

-- MERGE
MERGE INTO history h USING (VALUES (1, 86400)) v (itemid, clock)
    ON h.itemid = v.itemid AND h.clock = v.clock
WHEN NOT MATCHED THEN INSERT VALUES (v.itemid, v.clock, 1, 0)
WHEN MATCHED THEN UPDATE SET value = h.value + 1;
SELECT * FROM stored;
TRUNCATE history;

-- an open cursor does not see what comes later
BEGIN;
INSERT INTO history VALUES (1, 86400, 0, 0);
DECLARE c CURSOR FOR SELECT * FROM stored;
INSERT INTO history VALUES (2, 86400, 0, 0);
FETCH ALL FROM c;
COMMIT;
TRUNCATE history;

-- functions that run queries in the midst of the statement see its rows
CREATE FUNCTION rows_so_far() RETURNS bigint LANGUAGE plpgsql VOLATILE
AS $$ BEGIN RETURN (SELECT count(*) FROM history); END $$;
INSERT INTO history SELECT i, 86400, rows_so_far(), 0 FROM generate_series(1, 3) i;
SELECT * FROM stored ORDER BY itemid;
-- ... and may insert themselves, or fail and go on
CREATE FUNCTION insert_one(i integer) RETURNS integer LANGUAGE plpgsql VOLATILE
AS $$ BEGIN
    BEGIN
        INSERT INTO history VALUES (100 + i, 86400, 0, 0);
        IF i = 2 THEN
            RAISE division_by_zero;
        END IF;
    EXCEPTION WHEN division_by_zero THEN
        RETURN -1;
    END;
    RETURN 0;
END $$;
INSERT INTO history SELECT 10 + i, 86400, insert_one(i), 0 FROM generate_series(1, 3) i;
SELECT * FROM stored ORDER BY itemid;
SET client_min_messages = warning;
DROP TABLE history CASCADE;
RESET client_min_messages;
DROP FUNCTION rows_so_far, insert_one;
