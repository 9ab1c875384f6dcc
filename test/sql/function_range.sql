-- range, nearest and minimum_time, boundary by boundary.
\a \t
LOAD 'zbxhist';
SET client_min_messages = warning;
CREATE TABLE history (
    itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL,
    ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history');
SELECT zbxhist.create_partition('history', day::date)
  FROM generate_series(timestamp '1970-01-02', '1970-01-04', '1 day') day;
-- 86400, 172800 and 259200 are midnights; 345600 is after the last partition
INSERT INTO history VALUES
    (1, -2147483648, 1, 0), (1, -1, 2, 999999999), (1, 0, 3, 0), (1, 86399, 4, 999999999),
    (1, 86400, 5, 0), (1, 86400, 6, 1), (1, 86400, 7, 999999999), (1, 172799, 8, 999999999),
    (1, 172800, 9, 0), (1, 259200, 10, 0), (1, 345599, 11, 999999999), (1, 345600, 12, 0),
    (1, 2147483647, 13, 999999999), (2, 86400, 14, 0), (-1, 86400, 15, 0), (9223372036854775807, 86400, 16, 0);
SELECT tableoid::regclass::text COLLATE "C" AS stored_in, count(*) FROM history GROUP BY 1 ORDER BY 1;

CREATE FUNCTION found(from_clock integer, to_clock integer, sort text DEFAULT 'asc', max_rows bigint DEFAULT NULL,
                      from_ns integer DEFAULT 0, to_ns integer DEFAULT 0, item bigint DEFAULT 1) RETURNS text
LANGUAGE sql AS $$
    SELECT string_agg(value::text, ' ') FROM zbxhist.range(NULL::history, item, from_clock, to_clock, sort, max_rows, from_ns, to_ns)
$$;
-- from included, to excluded
SELECT found(-2147483648, 2147483647) AS ends, found(0, 86400), found(86400, 86401), found(86399, 86400), found(86400, 172800);
SELECT found(-2147483648, 2147483647, to_ns => 999999999) AS without_last, found(2147483647, 2147483647, to_ns => 2147483647) AS last,
       found(-2147483648, -2147483648, to_ns => 1) AS first;
-- ns on both ends
SELECT found(86400, 86400, from_ns => 1, to_ns => 999999999) AS six, found(86400, 86400, from_ns => 0, to_ns => 1) AS five,
       found(86399, 86400, from_ns => 999999999, to_ns => 0) AS four, found(86400, 172800, from_ns => 2, to_ns => 1) AS seven_to_nine;
-- empty, from = to, reversed, unknown item, nulls
SELECT found(1, 86399), found(86400, 86400), found(172800, 86400), found(86400, 86400, from_ns => 2, to_ns => 1), found(0, 100000, item => 99);
SELECT found(NULL, 100000), found(0, NULL), found(0, 100000, item => NULL), found(0, 100000, from_ns => NULL), found(0, 100000, to_ns => NULL);
-- other items are near
SELECT found(-2147483648, 2147483647, item => 2), found(-2147483648, 2147483647, item => -1),
       found(-2147483648, 2147483647, item => 9223372036854775807), found(-2147483648, 2147483647, item => 0);
-- sort and max_rows
SELECT found(-1, 345601, 'desc') AS "desc", found(-1, 345601, 'none') IS NOT NULL AS "none", found(-1, 345601, 'asc', 3), found(-1, 345601, 'desc', 3), found(-1, 345601, 'asc', 0);
SELECT found(0, 1, 'upwards');
SELECT found(0, 1, NULL);
SELECT found(0, 1, 'asc', -1);
-- times
SELECT value FROM zbxhist.range(NULL::history, 1, timestamptz '1970-01-02 00:00:00+00', timestamptz '1970-01-02 00:00:00.000001+00');
SELECT count(*) FROM zbxhist.range(NULL::history, 1, timestamptz '-infinity', timestamptz 'infinity');
SELECT count(*) FROM zbxhist.range(NULL::history, 1, timestamptz 'infinity', timestamptz 'infinity');
SELECT count(*) FROM zbxhist.range(NULL::history, 1, timestamptz '1800-01-01', timestamptz '1900-01-01');
SELECT count(*) FROM zbxhist.range(NULL::history, 1, timestamptz '2040-01-01', timestamptz '2041-01-01');
SELECT value FROM zbxhist.range(NULL::history, 1, timestamptz '1969-12-31 23:59:59.999999+00', timestamptz '2040-01-01', 'asc', 2);

-- nearest: the row itself comes first, then the nearest on that side
CREATE FUNCTION near(clock integer, ns integer DEFAULT 0, item bigint DEFAULT 1) RETURNS text
LANGUAGE sql AS $$
    SELECT format('exact %s, less %s, greater %s', (zbxhist.nearest(NULL::history, item, clock, ns)).value,
        (zbxhist.nearest(NULL::history, item, clock, ns, 'less')).value, (zbxhist.nearest(NULL::history, item, clock, ns, 'greater')).value)
$$;
SELECT near(86400, 0), near(86400, 1), near(86400, 2), near(86399, 999999999), near(86399, 0), near(-2147483648), near(2147483647), near(2147483647, 999999999);
SELECT near(200000), near(200000, 0, 2), near(0, 0, 2), near(0, 0, 99), near(NULL), near(86400, NULL), near(86400, 0, NULL);
SELECT zbxhist.nearest(NULL::history, 1, 86400, 0, 'nearest');
SELECT zbxhist.nearest(NULL::history, 1, 86400, 0, NULL);
SELECT (zbxhist.nearest(NULL::history, 1, timestamptz '1970-01-02 00:00:00.0005+00', 'less')).value,
       (zbxhist.nearest(NULL::history, 1, timestamptz '2222-01-01', 'less')).value,
       zbxhist.nearest(NULL::history, 1, timestamptz '2222-01-01', 'greater') IS NULL AS after_all,
       (zbxhist.nearest(NULL::history, 1, timestamptz '1888-01-01', 'greater')).value,
       zbxhist.nearest(NULL::history, 1, timestamptz '1888-01-01', 'less') IS NULL AS before_all,
       zbxhist.nearest(NULL::history, 1, timestamptz '-infinity') IS NULL AS exact;
SELECT * FROM zbxhist.nearest(NULL::history, 1, 86400, 1);

-- minimum_time
SELECT * FROM zbxhist.minimum_time('history', 1);
SELECT * FROM zbxhist.minimum_time('history', 2);
SELECT * FROM zbxhist.minimum_time('history', 99);
SELECT * FROM zbxhist.minimum_time('history', NULL);

SELECT * FROM zbxhist.range(NULL::history, 1, -2147483648, 2147483647) LIMIT -1;
PREPARE few(bigint) AS SELECT value FROM zbxhist.range(NULL::history, 1, -2147483648, 2147483647) LIMIT $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE few(2);
EXECUTE few(3);
RESET plan_cache_mode;

-- a cursor has the rows of its beginning
BEGIN;
DECLARE rows CURSOR FOR SELECT * FROM zbxhist.range(NULL::history, 1, 0, 2147483647);
FETCH 3 FROM rows;
SAVEPOINT a;
FETCH 2 FROM rows;
ROLLBACK TO a;
FETCH 2 FROM rows;
INSERT INTO history VALUES (1, 300000, 99, 0);
FETCH ALL FROM rows;
SELECT value FROM zbxhist.range(NULL::history, 1, 300000, 300001);
ROLLBACK;
-- a rescan, an early end
SELECT i, (SELECT sum(value) FROM zbxhist.range(NULL::history, i, 0, 345601)) FROM generate_series(1, 3) i;
SELECT i, r.value FROM generate_series(1, 3) i, LATERAL (SELECT (zbxhist.range(NULL::history, i, 0, 345601)).value LIMIT 2) r;

-- rows that wait in the parent are merged in, also those with equal keys
SET zbxhist.enable_routing = off;
INSERT INTO history VALUES (1, 86400, 5.5, 2), (1, 0, 2.5, 1), (1, 300000, 10.5, 0);
RESET zbxhist.enable_routing;
SELECT found(0, 2147483647), found(0, 2147483647, 'desc'), found(0, 2147483647, 'desc', 4);
SELECT near(86400, 2), near(86400, 3), near(299999);

-- children that are not partitions
CREATE TABLE odd () INHERITS (history);
INSERT INTO odd VALUES (1, 86400, 20, 1), (1, 5, 21, 1);
SELECT found(0, 172800);
CREATE INDEX ON odd (itemid, clock);
SELECT found(0, 172800), found(0, 172800, 'desc');
DROP TABLE odd;
-- other places of the columns, and a column that was added
CREATE TABLE crooked (ns integer NOT NULL, value double precision NOT NULL, clock integer NOT NULL, dropped text, itemid bigint NOT NULL,
    PRIMARY KEY (itemid, clock, ns), CONSTRAINT zbxhist_clock CHECK (clock >= 400000 AND clock < 500000));
ALTER TABLE crooked DROP COLUMN dropped;
ALTER TABLE crooked INHERIT history;
INSERT INTO crooked VALUES (7, 30, 400001, 1);
SELECT * FROM zbxhist.range(NULL::history, 1, 345599, 500000);
ALTER TABLE history ADD COLUMN extra text DEFAULT 'more';
SELECT * FROM zbxhist.range(NULL::history, 1, 345599, 500000);
SELECT zbxhist.range(NULL::history, 1, 345599, 500000), zbxhist.nearest(NULL::history, 1, 400001, 7);
ALTER TABLE history DROP COLUMN extra;
SELECT zbxhist.range(NULL::history, 1, 345599, 500000);
DROP TABLE crooked;

-- a DROP and what is rolled back with it; a table that is no partition any more
BEGIN;
DROP TABLE history_p19700103;
SELECT found(86400, 345601);
ROLLBACK;
SELECT found(86400, 345601);
ALTER TABLE history_p19700103 DROP CONSTRAINT zbxhist_clock;
SELECT found(86400, 345601);
ALTER TABLE history_p19700103 ADD CONSTRAINT zbxhist_clock CHECK (clock >= 172800 AND clock < 259200);
SELECT found(86400, 345601);

-- what is not managed
CREATE TABLE plain (LIKE history);
SELECT zbxhist.range(NULL::plain, 1, 0, 1);
SELECT zbxhist.nearest(NULL::plain, 1, 0);
SELECT zbxhist.nearest(NULL::history_p19700102, 1, 0);
SELECT * FROM zbxhist.range(NULL::text, 1, 0, 100);
SELECT zbxhist.range(NULL::text, 1, now(), now());
SELECT * FROM zbxhist.last_values(NULL::integer[], '{1}', 2, 5);
SELECT zbxhist.nearest(1, 1, 0);
SELECT * FROM zbxhist.minimum_time('plain', 1);
SELECT * FROM zbxhist.minimum_time('pg_class_oid_index', 1);
SELECT * FROM zbxhist.minimum_time(1, 1);

-- privileges of the parent count, and only they
CREATE ROLE regress_zbxhist_reader;
SET ROLE regress_zbxhist_reader;
SELECT count(*) FROM zbxhist.range(NULL::history, 1, 0, 2147483647);
SELECT * FROM zbxhist.minimum_time('history', 1);
RESET ROLE;
GRANT SELECT (itemid, clock, ns) ON history TO regress_zbxhist_reader;
SET ROLE regress_zbxhist_reader;
SELECT count(*) FROM zbxhist.range(NULL::history, 1, 0, 2147483647);
RESET ROLE;
GRANT SELECT (value) ON history TO regress_zbxhist_reader;
SET ROLE regress_zbxhist_reader;
SELECT count(*) FROM zbxhist.range(NULL::history, 1, 0, 2147483647);
RESET ROLE;
-- row security
ALTER TABLE history ENABLE ROW LEVEL SECURITY;
SET ROLE regress_zbxhist_reader;
SELECT count(*) FROM zbxhist.range(NULL::history, 1, 0, 2147483647);
RESET ROLE;
SELECT count(*) FROM zbxhist.range(NULL::history, 1, 0, 2147483647);
ALTER TABLE history DISABLE ROW LEVEL SECURITY;

-- rows of the statement in progress are not seen, those before it are
CREATE FUNCTION seen() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.value := (SELECT count(*) FROM zbxhist.range(NULL::history, NEW.itemid, 0, 2147483647));
    RETURN NEW;
END $$;
CREATE TRIGGER seen BEFORE INSERT ON history FOR EACH ROW EXECUTE FUNCTION seen();
INSERT INTO history SELECT 50, 86400, 0, n FROM generate_series(1, 3) n;
SELECT value FROM history WHERE itemid = 50 ORDER BY ns;
DROP TRIGGER seen ON history;
DO $$
DECLARE
    n bigint;
BEGIN
    INSERT INTO history SELECT 51, 86400, 0, i FROM generate_series(1, 3) i;
    n := count(*) FROM zbxhist.range(NULL::history, 51, 0, 2147483647);
    RAISE WARNING '% rows', n;
END $$;
-- read only
BEGIN READ ONLY;
SELECT count(*) FROM zbxhist.range(NULL::history, 1, 0, 2147483647);
COMMIT;
DROP FUNCTION found, near;
DROP TABLE history, plain CASCADE;
DROP FUNCTION seen;
DROP ROLE regress_zbxhist_reader;
