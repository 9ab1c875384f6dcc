-- The reading functions with unusual input: tables without a key or an index, text, no rows,
-- NULL, times, extreme doubles.  test/twin compares them otherwise.
\a \t
LOAD 'zbxhist';
SET zbxhist.allow_packed_drop = on;
SET client_min_messages = warning;
SET extra_float_digits = 1;
CREATE SCHEMA plain;
CREATE SCHEMA managed;
CREATE TABLE plain.history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE managed.history (LIKE plain.history INCLUDING ALL);
-- an index without ns, and none
CREATE TABLE managed.old (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL, ns integer NOT NULL);
CREATE INDEX ON managed.old (itemid, clock);
CREATE TABLE managed.bare (itemid bigint NOT NULL, clock integer NOT NULL, value numeric(20) NOT NULL, ns integer NOT NULL);
CREATE TABLE managed.history_str (itemid bigint NOT NULL, clock integer NOT NULL, value varchar(255) NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE managed.history_bin (itemid bigint NOT NULL, clock integer NOT NULL, ns integer NOT NULL, value bytea NOT NULL, PRIMARY KEY (itemid, clock, ns));
SELECT count(zbxhist.create_parent(t)) FROM unnest('{managed.history,managed.old,managed.bare,managed.history_str,managed.history_bin}'::regclass[]) t;
SELECT count(zbxhist.create_partition(t, date '1970-01-01' + d)) FROM unnest('{managed.history,managed.old,managed.bare}'::regclass[]) t, unnest('{1,2,4}'::integer[]) d;
-- few seconds, so that rows share them; the rows of the fourth day stay in the parent
INSERT INTO plain.history SELECT i, d * 86400 + c * 7200 + c % 2, (i * 1000 + c) / 4.0, n
  FROM generate_series(1, 4) i, generate_series(1, 4) d, generate_series(0, 11) c, unnest('{0,1,999999999}'::integer[]) n WHERE (i + d + c) % 3 > 0;
INSERT INTO managed.history TABLE plain.history;
INSERT INTO managed.old TABLE plain.history;
INSERT INTO managed.bare SELECT itemid, clock, value, ns FROM plain.history;

-- calls with the queries that they stand for, whose rows are not all of theirs
CREATE FUNCTION differences(tab text) RETURNS TABLE (call text, calls bigint, different bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format($q$
        SELECT 'range', count(*), count(*) FILTER (WHERE p IS DISTINCT FROM m) FROM unnest('{1,4,5}'::bigint[]) i, generate_series(86399, 432000, 43200) f,
            generate_series(86400, 432001, 64800) t, unnest('{asc,desc}'::text[]) sort, unnest('{NULL,1,7}'::integer[]) most, LATERAL (
            SELECT (SELECT array_agg((clock, ns) ORDER BY number) FROM (SELECT *, row_number() OVER () AS number FROM (SELECT clock, ns FROM plain.history
                     WHERE itemid = i AND (clock, ns) >= (f, 1) AND (clock, ns) < (t, 1)
                     ORDER BY CASE sort WHEN 'asc' THEN clock ELSE -clock END, CASE sort WHEN 'asc' THEN ns ELSE -ns END LIMIT most) o) r) AS p,
                   (SELECT array_agg((clock, ns) ORDER BY number) FROM (SELECT *, row_number() OVER () AS number
                      FROM zbxhist.range(NULL::managed.%1$I, i, f, t, sort, most, 1, 1)) r) AS m) x
        UNION ALL
        SELECT 'nearest', count(*), count(*) FILTER (WHERE p IS DISTINCT FROM m) FROM unnest('{1,4,5}'::bigint[]) i, generate_series(79200, 439200, 7200) g, generate_series(g, g + 2) f,
            unnest('{exact,less,greater}'::text[]) which, LATERAL (
            SELECT (SELECT (clock, ns)::text FROM plain.history WHERE itemid = i AND CASE which WHEN 'exact' THEN (clock, ns) = (f, 1) WHEN 'less' THEN (clock, ns) <= (f, 1)
                      ELSE (clock, ns) >= (f, 1) END ORDER BY CASE which WHEN 'less' THEN -clock ELSE clock END, CASE which WHEN 'less' THEN -ns ELSE ns END LIMIT 1) AS p,
                   (SELECT (clock, ns)::text FROM zbxhist.nearest(NULL::managed.%1$I, i, f, 1, which) WHERE clock IS NOT NULL) AS m) x
        UNION ALL
        SELECT 'minimum_time', count(*), count(*) FILTER (WHERE p IS DISTINCT FROM m) FROM unnest('{1,4,5}'::bigint[]) i, LATERAL (
            SELECT (SELECT (clock, ns)::text FROM plain.history WHERE itemid = i ORDER BY clock, ns LIMIT 1) AS p,
                   (SELECT (clock, ns)::text FROM zbxhist.minimum_time('managed.%1$I', i)) AS m) x
        UNION ALL
        SELECT 'last_values', count(*), count(*) FILTER (WHERE p IS DISTINCT FROM m) FROM generate_series(79200, 439200, 7200) f, unnest('{0,1,7,1000}'::integer[]) most, LATERAL (
            SELECT (SELECT array_agg((itemid, clock, ns) ORDER BY itemid, clock DESC, ns DESC) FROM (
                       SELECT itemid, clock, ns, row_number() OVER (PARTITION BY itemid ORDER BY clock DESC, ns DESC) AS number FROM plain.history
                        WHERE itemid IN (4, 1, 9) AND clock >= f) r WHERE number <= most) AS p,
                   (SELECT array_agg((itemid, clock, ns)) FROM zbxhist.last_values(NULL::managed.%1$I, '{4,1,1,9,NULL}', most, f)) AS m) x$q$, tab);
END $$;
SELECT t, d.* FROM unnest('{history,old,bare}'::text[]) t, differences(t) d;
CALL zbxhist.pack('managed.history', '1970-01-02');
CALL zbxhist.pack('managed.old', '1970-01-02');
CALL zbxhist.pack('managed.bare', '1970-01-02');
SELECT t, d.* FROM unnest('{history,old,bare}'::text[]) t, differences(t) d;

-- text has no statistics
SELECT * FROM zbxhist.statistics('managed.history_str', 1, 0, 1);
SELECT * FROM zbxhist.buckets('managed.history_bin', 1, 0, 1, 1);
-- words, edges, nulls
SELECT * FROM zbxhist.statistics('managed.history', 99, 0, 1);
SELECT count, sum, first_clock FROM zbxhist.statistics('managed.history', 1, 172800, 86400);
SELECT count(*) FROM zbxhist.statistics('managed.history', NULL, 0, 1);
SELECT count(*) FROM zbxhist.buckets('managed.history', 1, 0, 1, 0);
SELECT count(*) FROM zbxhist.buckets('managed.history', 1, 0, 1, 1000001);
SELECT count(*) FROM zbxhist.buckets('managed.history', 1, 100, 0, 10);
SELECT count(*) FROM zbxhist.last_values(NULL::managed.history, '{1}', -1);
SELECT count(*) FROM zbxhist.last_values(NULL::managed.history, NULL);
SELECT count(*) FROM zbxhist.last_values(NULL::managed.history, '{}');
SELECT itemid FROM zbxhist.last_values(NULL::managed.history, '{{1,2},{3,2}}');
-- times
SELECT count FROM zbxhist.statistics('managed.history', 1, timestamptz '1970-01-02 UTC', timestamptz '1970-01-03 UTC')
EXCEPT SELECT count(*) FROM plain.history WHERE itemid = 1 AND clock >= 86400 AND clock < 172800;
SELECT * FROM zbxhist.buckets('managed.history', 1, timestamptz '1970-01-02 UTC', timestamptz '1970-01-03 UTC', 10)
EXCEPT SELECT * FROM zbxhist.buckets('managed.history', 1, 86400, 172800, 10);
SELECT * FROM zbxhist.last_values(NULL::managed.history, '{1,2}', 3, timestamptz '1970-01-03 UTC')
EXCEPT SELECT * FROM zbxhist.last_values(NULL::managed.history, '{1,2}', 3, 172800);
-- doubles at their ends; a sum that is none is an error, as in SQL
CREATE TABLE managed.ends (LIKE managed.history INCLUDING ALL);
SELECT zbxhist.create_parent('managed.ends');
INSERT INTO managed.ends VALUES (1, 1, 'NaN', 0), (1, 2, 1, 0), (2, 1, 'Infinity', 0), (2, 2, 4.9406564584124654E-324, 0),
    (3, 1, 1.7976931348623157E+308, 0), (4, 1, 1.7976931348623157E+308, 0), (4, 2, 1e308, 0), (5, 1, 0.1, 0), (5, 2, 0.2, 0), (5, 3, -0.0, 0);
SELECT i, s.count, s.min::float8, s.max::float8, s.sum::float8, s.avg::float8, s.delta::float8
  FROM unnest('{1,2,3,5}'::bigint[]) i, zbxhist.statistics('managed.ends', i, 0, 10) s;
SELECT itemid, min(value), max(value), sum(value), avg(value), max(value) - min(value) FROM managed.ends WHERE itemid <> 4 GROUP BY 1 ORDER BY 1;
SELECT * FROM zbxhist.statistics('managed.ends', 4, 0, 10);
DROP SCHEMA plain, managed CASCADE;
DROP FUNCTION differences;
