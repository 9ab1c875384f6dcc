-- Each statement of docs/functions.md and each function that reads or changes values
-- gives what the plain SQL that it stands for gives on a plain table with the same
-- rows, which are in the parent, in partitions and packed.
\a \t
LOAD 'zbxhist';
SET zbxhist.allow_packed_drop = on;
SET client_min_messages = warning;
SET extra_float_digits = 1;
CREATE SCHEMA plain;
CREATE SCHEMA managed;
CREATE TABLE plain.history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE plain.history_uint (itemid bigint NOT NULL, clock integer NOT NULL, value numeric(20) NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE managed.history (LIKE plain.history INCLUDING ALL);
CREATE TABLE managed.history_uint (LIKE plain.history_uint INCLUDING ALL);
SELECT count(zbxhist.create_parent(t, retention => '200 years')) FROM unnest('{managed.history,managed.history_uint}'::regclass[]) t;
SELECT count(zbxhist.create_partition(t, '1970-01-02')), count(zbxhist.create_partition(t, '1970-01-03'))
  FROM unnest('{managed.history,managed.history_uint}'::regclass[]) t;
-- sums of the doubles are exact; what comes after a day has been packed waits in the parent
INSERT INTO plain.history SELECT i, c, (c * 7 + i) % 1000 / 4.0, c % 3 FROM generate_series(99400, 99403) i, generate_series(0, 3 * 86400, 97) c;
INSERT INTO plain.history SELECT itemid, clock, value + 1, 5 FROM plain.history WHERE clock % 5 = 0;
INSERT INTO plain.history SELECT i, extract(epoch FROM now())::integer - n * 600, n, 0 FROM generate_series(99400, 99403) i, generate_series(1, 20) n;
INSERT INTO plain.history_uint SELECT itemid, clock, (value * 4)::numeric + 18446744073709550000, ns FROM plain.history;
INSERT INTO managed.history SELECT * FROM plain.history WHERE clock % 5 > 0;
INSERT INTO managed.history_uint SELECT * FROM plain.history_uint WHERE clock % 5 > 0;
CALL zbxhist.pack('managed.history', '1970-01-02');
CALL zbxhist.pack('managed.history_uint', '1970-01-02');
INSERT INTO managed.history SELECT * FROM plain.history WHERE clock % 5 = 0;
INSERT INTO managed.history_uint SELECT * FROM plain.history_uint WHERE clock % 5 = 0;
SELECT count(DISTINCT tableoid) AS places FROM managed.history WHERE clock <= 259200;
SELECT count(*) FILTER (WHERE kind = 'packed') AS packed, count(*) FILTER (WHERE kind = 'heap') > 0 AS heap
  FROM zbxhist.partitions WHERE parent::text LIKE 'managed.%';
SELECT count(*) > 0 AS waiting FROM ONLY managed.history WHERE clock BETWEEN 86400 AND 172799;

-- its clocks are of the day 1970-01-02 here
CREATE TABLE twin (statement text PRIMARY KEY, plain text);
INSERT INTO twin VALUES
($$SELECT * FROM zbxhist.range(NULL::history, 99401, 1795130262, 1795133862)$$,
 $$SELECT * FROM history WHERE itemid = 99401 AND clock >= 130262 AND clock < 133862 ORDER BY clock, ns$$),
($$SELECT * FROM zbxhist.range(NULL::history, 99401, now() - interval '1 hour', now(), 'desc', max_rows => 2)$$,
 $$SELECT * FROM history WHERE itemid = 99401 AND clock + ns * 1e-9 >= extract(epoch FROM now()) - 3600 AND clock + ns * 1e-9 < extract(epoch FROM now())
   ORDER BY clock DESC, ns DESC LIMIT 2$$),
($$SELECT * FROM zbxhist.last_values(NULL::history_uint, ARRAY[99401, 99402], max_rows => 2)$$,
 $$SELECT h.* FROM unnest(ARRAY[99401, 99402]) i, LATERAL (SELECT * FROM history_uint WHERE itemid = i ORDER BY clock DESC, ns DESC LIMIT 2) h
   ORDER BY itemid, clock DESC, ns DESC$$),
($$SELECT * FROM zbxhist.statistics('history_uint', 99401, 1795130262, 1795133862)$$,
 $$SELECT count(*), min(value), max(value), sum(value), avg(value), max(value) - min(value) AS delta, min(clock) AS first_clock, max(clock) AS last_clock
   FROM history_uint WHERE itemid = 99401 AND clock >= 130262 AND clock < 133862$$);
\set document `cat "$PG_ABS_SRCDIR"/../docs/functions.md`
SELECT statement AS of_document_only FROM regexp_matches(:'document', '^(SELECT .*);$', 'gn') m (texts), unnest(texts) statement EXCEPT SELECT statement FROM twin;
SELECT statement AS of_test_only FROM twin WHERE strpos(:'document', statement || ';') = 0;
UPDATE twin SET statement = replace(statement, '179513', '13');

-- what there is no statement of in the document
INSERT INTO twin
SELECT format(call, t), format(query, t)
  FROM unnest('{history,history_uint}'::text[]) t, (VALUES
($$SELECT * FROM zbxhist.range(NULL::%1$s, 99402, 86000, 90000, 'asc', 30, 1, 2)$$,
 $$SELECT * FROM %1$s WHERE itemid = 99402 AND (clock, ns) >= (86000, 1) AND (clock, ns) < (90000, 2) ORDER BY clock, ns LIMIT 30$$),
($$SELECT * FROM zbxhist.range(NULL::%1$s, 99402, timestamptz '1970-01-02 UTC', timestamptz '1970-01-02 01:00 UTC', 'desc')$$,
 $$SELECT * FROM %1$s WHERE itemid = 99402 AND clock >= 86400 AND clock < 90000 ORDER BY clock DESC, ns DESC$$),
($$SELECT n.* FROM generate_series(0, 270000, 9001) c, zbxhist.nearest(NULL::%1$s, 99403, c, 1, 'less') n WHERE n.clock IS NOT NULL$$,
 $$SELECT h.* FROM generate_series(0, 270000, 9001) c, LATERAL (SELECT * FROM %1$s WHERE itemid = 99403 AND (clock, ns) <= (c, 1) ORDER BY clock DESC, ns DESC LIMIT 1) h$$),
($$SELECT n.* FROM generate_series(0, 270000, 9001) c, zbxhist.nearest(NULL::%1$s, 99403, to_timestamp(c), 'greater') n WHERE n.clock IS NOT NULL$$,
 $$SELECT h.* FROM generate_series(0, 270000, 9001) c, LATERAL (SELECT * FROM %1$s WHERE itemid = 99403 AND clock >= c ORDER BY clock, ns LIMIT 1) h$$),
($$SELECT n.* FROM generate_series(0, 270000, 97) c, zbxhist.nearest(NULL::%1$s, 99403, c, c %% 3, 'exact') n WHERE n.clock IS NOT NULL$$,
 $$SELECT h.* FROM generate_series(0, 270000, 97) c, %1$s h WHERE itemid = 99403 AND clock = c AND ns = c %% 3 ORDER BY c$$),
($$SELECT i, m.* FROM generate_series(99399, 99404) i, zbxhist.minimum_time('%1$s', i) m$$,
 $$SELECT DISTINCT ON (itemid) itemid, clock, ns FROM %1$s ORDER BY itemid, clock, ns$$),
($$SELECT * FROM zbxhist.last_values(NULL::%1$s, ARRAY[99403, 99401, 99403, 5], 3, 172800)$$,
 $$SELECT h.* FROM unnest(ARRAY[99401, 99403]) i, LATERAL (SELECT * FROM %1$s WHERE itemid = i AND clock >= 172800 ORDER BY clock DESC, ns DESC LIMIT 3) h
   ORDER BY itemid, clock DESC, ns DESC$$),
($$SELECT bucket, count, avg::double precision, min, max, clock FROM zbxhist.buckets('%1$s', 99400, 80000, 200000, 50)$$,
 $$SELECT round(50.0 * (clock - 80000) / 120000, 0), count(*), avg(value)::double precision, min(value), max(value), max(clock)
   FROM %1$s WHERE itemid = 99400 AND clock >= 80000 AND clock <= 200000 GROUP BY 1 ORDER BY 1$$),
($$SELECT itemid, "values" FROM zbxhist.item_usage('%1$s', 100000, 180000) ORDER BY itemid$$,
 $$SELECT itemid, count(*) FROM %1$s WHERE clock >= 100000 AND clock < 180000 GROUP BY 1 ORDER BY 1$$)) v (call, query);

CREATE TABLE answers (statement text, rows bigint, same boolean);
CREATE FUNCTION answer(schema text, statement text, OUT rows text[]) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('search_path', schema, true);
    -- in the order that it gives
    EXECUTE format('SELECT array_agg(r::text) FROM (%s) r', statement) INTO rows;
    PERFORM set_config('search_path', 'public', true);
END $$;
-- of one transaction, for the sake of now()
INSERT INTO public.answers SELECT t.statement, cardinality(p.rows), p.rows IS NOT DISTINCT FROM m.rows FROM twin t, answer('plain', t.plain) p, answer('managed', t.statement) m;
SELECT count(*), min(rows) > 0 AS no_vain_ones FROM answers;
SELECT * FROM answers WHERE same IS NOT TRUE;

-- those that change rows, one after the other: what they return, and what is there afterwards
CREATE TABLE change (step integer PRIMARY KEY, statement text, plain text);
INSERT INTO change VALUES
(1, $$SELECT zbxhist.add(NULL::%1$s, array_agg(7::bigint), array_agg(c), array_agg(0), array_agg(c)) FROM generate_series(0, 200000, 500) c$$,
 $$INSERT INTO %1$s (itemid, clock, ns, value) SELECT 7, c, 0, c FROM generate_series(0, 200000, 500) c$$),
(2, $$SELECT zbxhist.add(NULL::%1$s, array_agg(7::bigint), array_agg(c), array_agg(0), array_agg(c + 1), 'ignore') FROM generate_series(0, 200000, 400) c$$,
 $$INSERT INTO %1$s (itemid, clock, ns, value) SELECT 7, c, 0, c + 1 FROM generate_series(0, 200000, 400) c ON CONFLICT DO NOTHING$$),
(3, $$SELECT zbxhist.add(NULL::%1$s, array_agg(7::bigint), array_agg(c), array_agg(0), array_agg(c + 2), 'update') FROM generate_series(86400, 180000, 900) c$$,
 $$INSERT INTO %1$s (itemid, clock, ns, value) SELECT 7, c, 0, c + 2 FROM generate_series(86400, 180000, 900) c
   ON CONFLICT (itemid, clock, ns) DO UPDATE SET value = excluded.value$$),
(4, $$SELECT zbxhist.delete_values('%1$s', 7, 100000, 0, 'equal')$$, $$DELETE FROM %1$s WHERE itemid = 7 AND (clock, ns) = (100000, 0)$$),
(5, $$SELECT zbxhist.delete_values('%1$s', 7, 1000, 0, 'less')$$, $$DELETE FROM %1$s WHERE itemid = 7 AND (clock, ns) < (1000, 0)$$),
(6, $$SELECT zbxhist.delete_values('%1$s', 99401, 87300, 1, 'less_or_equal')$$, $$DELETE FROM %1$s WHERE itemid = 99401 AND (clock, ns) <= (87300, 1)$$),
(7, $$SELECT zbxhist.delete_values('%1$s', 99402, 173000, 1, 'greater')$$, $$DELETE FROM %1$s WHERE itemid = 99402 AND (clock, ns) > (173000, 1)$$),
(8, $$SELECT zbxhist.delete_values('%1$s', 99403, timestamptz '1970-01-02 12:00 UTC', 'greater_or_equal')$$, $$DELETE FROM %1$s WHERE itemid = 99403 AND clock >= 129600$$),
(9, $$SELECT count(zbxhist.delete_item(99400)) * (SELECT count(*) FROM plain.%1$s WHERE itemid = 99400)$$, $$DELETE FROM %1$s WHERE itemid = 99400$$);
CREATE FUNCTION change(step integer, tab text, statement text, plain text) RETURNS TABLE (what text) LANGUAGE plpgsql AS $$
DECLARE
    expected bigint;
    returned bigint;
    differing bigint;
BEGIN
    SET LOCAL search_path = managed;
    EXECUTE format(statement, tab) INTO returned;
    SET LOCAL search_path = plain;
    EXECUTE format(plain, tab);
    GET DIAGNOSTICS expected = ROW_COUNT;
    SET LOCAL search_path = public;
    EXECUTE format('SELECT count(*) FROM ((TABLE plain.%1$I EXCEPT ALL SELECT * FROM managed.%1$I) UNION ALL (SELECT * FROM managed.%1$I EXCEPT ALL TABLE plain.%1$I)) d', tab)
       INTO differing;
    IF expected = 0 OR returned IS DISTINCT FROM expected OR differing > 0 THEN
        RETURN QUERY SELECT format('step %s of %s: %s rows instead of %s, and %s that differ', step, tab, returned, expected, differing);
    END IF;
END $$;
SELECT d.what FROM (SELECT * FROM unnest('{history,history_uint}'::text[]) tab, change ORDER BY step, tab) c, change(step, tab, statement, plain) d;

DROP SCHEMA plain, managed CASCADE;
DROP TABLE twin, answers, change;
DROP FUNCTION answer, change(integer, text, text, text);
