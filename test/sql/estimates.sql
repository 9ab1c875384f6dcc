--
-- Without ANALYZE the planner knows about as many rows, items and groups as there are in
-- partitions and packed days, and makes the plans that it makes with it.
--
LOAD 'zbxhist';
SET client_min_messages = warning;
SET timezone = 'UTC';
SET jit = off;
SET zbxhist.allow_packed_drop = on;
SET max_parallel_workers_per_gather = 0;
CREATE SCHEMA fresh;
CREATE SCHEMA analyzed;
CREATE TABLE fresh.history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE analyzed.history (LIKE fresh.history INCLUDING ALL);
CREATE TABLE plain (LIKE fresh.history INCLUDING ALL);
CREATE TABLE items (itemid bigint PRIMARY KEY, hostid bigint NOT NULL);
SELECT zbxhist.create_parent(t, premake => 0) FROM unnest('{fresh.history,analyzed.history}'::regclass[]) t;
DO $$
DECLARE
    partition regclass;
BEGIN
    FOR partition IN SELECT p.partition FROM unnest('{fresh.history,analyzed.history}'::regclass[]) t, LATERAL zbxhist.list_partitions(t) p LOOP EXECUTE format('DROP TABLE %s', partition); END LOOP;
END $$;
-- a day, packed; three hours of a table each; and one to come
SELECT count(zbxhist.create_partition(t, '1970-01-02')) AS days, count(zbxhist_internal.create_range(t, 172800, 176400)) + count(zbxhist_internal.create_range(t, 176400, 180000)) + count(zbxhist_internal.create_range(t, 180000, 183600)) AS hours,
    count(zbxhist_internal.create_range(t, 1700000000 / 3600 * 3600, 1700000000 / 3600 * 3600 + 3600)) AS later
FROM unnest('{fresh.history,analyzed.history}'::regclass[]) t;
-- 37 items, each at seconds of its own; in the day seldom, later often
INSERT INTO plain SELECT 1000 + i * 11, c + i, i + c % 1009 / 10.0, (i * 7919 + c) % 1000000000 FROM generate_series(1, 37) i, generate_series(86400, 172799, 120) c;
INSERT INTO plain SELECT 1000 + i * 11, c + i % 20, i + c % 1009 / 10.0, (i * 7919 + c) % 1000000000 FROM generate_series(1, 37) i, generate_series(172800, 183599, 20) c;
INSERT INTO items SELECT 1000 + i * 11, i % 5 FROM generate_series(1, 37) i;
INSERT INTO fresh.history SELECT * FROM plain WHERE clock < 172800;
INSERT INTO analyzed.history SELECT * FROM plain WHERE clock < 172800;
CALL zbxhist.pack('fresh.history', '1970-01-02');
CALL zbxhist.pack('analyzed.history', '1970-01-02');
DO $$
BEGIN
    FOR c IN 172800 .. 183599 BY 20 LOOP
        INSERT INTO fresh.history SELECT * FROM plain WHERE clock BETWEEN c AND c + 19 AND clock >= 172800 AND itemid > 0;
        INSERT INTO analyzed.history SELECT * FROM plain WHERE clock BETWEEN c AND c + 19 AND clock >= 172800 AND itemid > 0;
    END LOOP;
END $$;
ANALYZE plain, items, analyzed.history, analyzed.history_packed;
DO $$
DECLARE
    partition regclass;
BEGIN
    FOR partition IN SELECT p.partition FROM zbxhist.list_partitions('analyzed.history') p WHERE to_regclass(p.partition::text) IS NOT NULL LOOP EXECUTE format('ANALYZE %s', partition); END LOOP;
END $$;

-- a statement, with %T for a table, %F and %E for the first and last clock; by how much an estimate may differ
CREATE TABLE statement (number serial, factor float8, query text);
INSERT INTO statement (factor, query) VALUES
(2, 'SELECT clock, ns, value FROM %T WHERE itemid = 1110 AND clock > %F AND clock <= %E ORDER BY value'),
(2, 'SELECT * FROM %T h WHERE h.itemid IN (1011, 1110, 1121, 1231) AND h.clock >= %F AND h.clock <= %E'),
(2, 'SELECT * FROM %T WHERE clock BETWEEN %F AND %E'),
(2, 'SELECT * FROM %T WHERE itemid BETWEEN 1100 AND 1210 AND clock BETWEEN %F AND %E'),
(2, 'SELECT * FROM %T WHERE itemid > 1210 AND clock BETWEEN %F AND %E'),
(2, 'SELECT * FROM %T WHERE clock > %F'),
(3, 'SELECT DISTINCT itemid FROM %T WHERE itemid IN (1011, 1110, 1121) AND clock > %F'),
(3, 'SELECT itemid, max(clock) FROM %T WHERE itemid IN (1011, 1110, 1121) AND clock > %F GROUP BY itemid'),
(3, 'SELECT itemid, count(*), round(50.0 * (clock - %F) / (%E - %F), 0) AS i FROM %T WHERE itemid = 1110 AND clock BETWEEN %F AND %E GROUP BY itemid, round(50.0 * (clock - %F) / (%E - %F), 0)'),
(3, 'SELECT itemid, cast(clock AS bigint) - mod(cast(clock AS bigint), 300) AS tick, avg(value) FROM %T WHERE itemid IN (1011, 1110, 1121) AND clock BETWEEN %F AND %E GROUP BY itemid, cast(clock AS bigint) - mod(cast(clock AS bigint), 300)'),
(3, 'SELECT itemid, avg(value) FROM %T WHERE clock BETWEEN %F AND %E GROUP BY itemid'),
(3, 'SELECT clock / 600, avg(value) FROM %T WHERE clock BETWEEN %F AND %E GROUP BY 1'),
(3, 'SELECT itemid, clock / 600, avg(value) FROM %T WHERE clock BETWEEN %F AND %E GROUP BY 1, 2'),
(2, 'SELECT h.* FROM %T h JOIN items i USING (itemid) WHERE i.hostid = 3 AND h.clock BETWEEN %F AND %E');
CREATE TABLE place (name text, from_clock integer, to_clock integer);
INSERT INTO place VALUES ('day', 86400, 172799), ('part of a day', 100000, 119999), ('hour', 172800, 176399), ('part of an hour', 173000, 174199), ('hours', 172800, 179999),
('all', 86400, 190000);
CREATE FUNCTION with_place(query text, p place, relation text) RETURNS text LANGUAGE sql
RETURN replace(replace(replace(query, '%T', relation), '%F', p.from_clock::text), '%E', p.to_clock::text);
CREATE FUNCTION estimate_of(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan -> 0 -> 'Plan' -> 'Plan Rows';
END $$;
CREATE FUNCTION count_of(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    result float8;
BEGIN
    EXECUTE format('SELECT count(*) FROM (%s) x', query) INTO result;
    RETURN result;
END $$;
CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    result text := '';
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP result := result || line || E'\n'; END LOOP;
    RETURN replace(result, 'analyzed.', 'fresh.');
END $$;
-- what is further from the truth
SELECT number, name, estimate, real FROM (
    SELECT number, name, factor, estimate_of(with_place(query, place, 'fresh.history')) AS estimate, count_of(with_place(query, place, 'plain')) AS real FROM statement, place) x
 WHERE estimate / greatest(real, 1) NOT BETWEEN 1 / factor AND factor ORDER BY number, name;
-- plans that differ
SELECT number, name, plan_of(with_place(query, place, 'fresh.history')) AS fresh, plan_of(with_place(query, place, 'analyzed.history')) AS analyzed FROM statement, place
 WHERE plan_of(with_place(query, place, 'fresh.history')) <> plan_of(with_place(query, place, 'analyzed.history')) ORDER BY number, name;
-- a worker that plans, which knows nothing yet, estimates the same as this session
CREATE TABLE estimate AS SELECT number, name, with_place(query, place, 'fresh.history') AS query, estimate_of(with_place(query, place, 'fresh.history')) AS known FROM statement, place;
ALTER FUNCTION estimate_of PARALLEL SAFE;
BEGIN;
SET LOCAL max_parallel_workers_per_gather = 2;
SELECT count(set_config(name, 'on', true)) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SELECT plan_of('SELECT estimate_of(query) FROM estimate') LIKE 'Gather%' AS by_worker;
SELECT number, name, known, estimate_of(query) AS estimate FROM estimate WHERE estimate_of(query) <> known;
ROLLBACK;
-- what is planned without a query
CLUSTER fresh.history_p19700103_0000 USING history_p19700103_0000_pkey;
-- a session that knows nothing yet estimates the same
\c
LOAD 'zbxhist';
SET jit = off;
SELECT bool_and(estimate_of(format('SELECT * FROM %s.history WHERE itemid = 1110 AND clock BETWEEN 172800 AND 176399 ORDER BY value', s)) BETWEEN 90 AND 360) AS near FROM unnest('{fresh,analyzed}'::text[]) s;
SET client_min_messages = warning;
SET zbxhist.allow_packed_drop = on;
DROP SCHEMA fresh, analyzed CASCADE;
DROP FUNCTION with_place, estimate_of, count_of, plan_of;
DROP TABLE plain, items, statement, place, estimate;
