-- Late rows merged into a packed day, and damage found in one
\a \t
\set VERBOSITY terse
SET zbxhist.allow_packed_drop = on;
SET client_min_messages = warning;

CREATE SCHEMA packed_merge;
SET search_path = packed_merge, public, zbxhist_partitions;

CREATE FUNCTION bits(i bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN ('x' || substr(md5(i::text), 1, 16))::bit(64)::bigint;

CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0,
    value double precision NOT NULL DEFAULT 0, ns integer NOT NULL DEFAULT 0,
    PRIMARY KEY (itemid, clock, ns));
-- every second item, every second clock
INSERT INTO history SELECT 100 + 2 * k, 1000 + 20 * i + abs(bits(i * k) % 3) * 2, i / 8.0, (bits(i) >> 34)::integer
FROM generate_series(1, 400) i, generate_series(1, 40) k;
CREATE TABLE expected (LIKE history INCLUDING ALL);
INSERT INTO expected SELECT * FROM history;

CREATE PROCEDURE pack_day() LANGUAGE plpgsql AS $$
BEGIN
    LOOP
        COMMIT;
        BEGIN
            CREATE TABLE day (first_itemid bigint NOT NULL, first_clock integer NOT NULL,
                last_itemid bigint NOT NULL, last_clock integer NOT NULL, nrows integer NOT NULL,
                payload bytea NOT NULL, itemid bigint, clock integer, value double precision, ns integer,
                PRIMARY KEY (first_itemid, first_clock)) WITH (toast_tuple_target = 8160);
            ALTER TABLE day ALTER payload SET STORAGE EXTERNAL;
            LOCK TABLE history IN SHARE MODE;
            PERFORM zbxhist_internal.pack_rows('history', 'day');
            TRUNCATE history;
            RETURN;
        EXCEPTION WHEN object_not_in_prerequisite_state THEN
            -- autovacuum may hold an older snapshot for a moment
            NULL;
        END;
        PERFORM pg_sleep(0.01);
    END LOOP;
END
$$;

-- the rows of the day, and the place of its groups
CREATE PROCEDURE check_day() LANGUAGE plpgsql AS $$
DECLARE
    different bigint;
    crossing bigint;
    problems text;
BEGIN
    CREATE TABLE back (LIKE history INCLUDING ALL);
    SELECT count(*) INTO crossing
      FROM (SELECT (first_itemid, first_clock) <= lag((last_itemid, last_clock)) OVER (ORDER BY first_itemid, first_clock) AS o
              FROM day) g WHERE o;
    SELECT string_agg(format('item %s, clock %s: %s', itemid, clock, problem), '; ') INTO problems FROM zbxhist_internal.verify_day('day');
    PERFORM zbxhist_internal.unpack_rows('day', 'back');
    SELECT count(*) INTO different FROM (
        (TABLE expected EXCEPT ALL TABLE back) UNION ALL (TABLE back EXCEPT ALL TABLE expected)) x;
    RAISE INFO 'different %, crossing %, problems %', different, crossing, problems;
    ROLLBACK;
END
$$;

CALL pack_day();
CALL check_day();

-- nothing to do
SELECT * FROM zbxhist_internal.merge_rows('history', 'day', -2147483648, 2147483648, 100);

-- before all, after all, between, new items, the same clock, ends of int4
INSERT INTO history VALUES (-5, 5000, 1, 1), (-5, -2147483648, 2, 0), (9223372036854775807, 2147483647, 3, 999999999),
    (102, 1, 4, 0), (102, 100000, 5, 0), (103, 1500, 6, 7), (180, 9998, 7, 0), (101, 1000, 8, 0);
INSERT INTO history SELECT itemid, clock, value + 1, ns + 1 FROM expected WHERE bits(itemid * clock) % 50 = 0 ON CONFLICT DO NOTHING;
INSERT INTO expected SELECT * FROM history;
-- a key that is there: the same row goes, another value stays
INSERT INTO history SELECT * FROM expected WHERE itemid = 110 AND clock < 3000 ON CONFLICT DO NOTHING;
INSERT INTO history SELECT itemid, clock, value + 1, ns FROM expected WHERE itemid = 112 AND clock < 1400 ON CONFLICT DO NOTHING;
SELECT count(*) AS rows FROM history;
-- in batches; those that stay do not hinder the others
SELECT * FROM zbxhist_internal.merge_rows('history', 'day', -2147483648, 2147483648, 10);
SELECT * FROM zbxhist_internal.merge_rows('history', 'day', -2147483648, 2147483648, 100);
SELECT done FROM zbxhist_internal.merge_rows('history', 'day', -2147483648, 2147483648, 100000);
SELECT merged, done FROM zbxhist_internal.merge_rows('history', 'day', -2147483648, 2147483648, 100000);
SELECT count(*) > 0 AS stay, min(itemid), max(itemid) FROM history;
CALL check_day();
TRUNCATE history;

-- only clocks that are asked for
INSERT INTO history VALUES (102, 1001, 0, 5), (102, 1999, 0, 5), (102, 2000, 0, 5);
SELECT * FROM zbxhist_internal.merge_rows('history', 'day', 1002, 2000, 100);
SELECT clock FROM history ORDER BY 1;
TRUNCATE history;
INSERT INTO expected VALUES (102, 1999, 0, 5);
CALL check_day();

-- many small merges do not leave a crowd of small groups
CREATE PROCEDURE merge_often() LANGUAGE plpgsql AS $$
BEGIN
    FOR r IN 1..60 LOOP
        INSERT INTO history SELECT 100 + abs(bits(r * 1000 + i) % 80), 1000 + abs(bits(r * 1000 + i + 500) % 9000), r, 1000000000 + i
          FROM generate_series(1, 100) i ON CONFLICT DO NOTHING;
        INSERT INTO expected SELECT * FROM history;
        PERFORM zbxhist_internal.merge_rows('history', 'day', 0, 20000, 1000);
        COMMIT;
    END LOOP;
END
$$;
CALL merge_often();
SELECT avg(length(payload)) > 7000 AS filled FROM day WHERE first_itemid BETWEEN 100 AND 200;
CALL check_day();
-- also if they are of one item only
CREATE PROCEDURE merge_item() LANGUAGE plpgsql AS $$
BEGIN
    FOR r IN 1..60 LOOP
        INSERT INTO history SELECT 140, 1000 + abs(bits(r * 2000 + i) % 9000), r, 1100000000 + r FROM generate_series(1, 5) i;
        INSERT INTO expected SELECT * FROM history;
        PERFORM zbxhist_internal.merge_rows('history', 'day', 0, 20000, 1000);
        COMMIT;
    END LOOP;
END
$$;
CREATE TABLE groups AS SELECT count(*) FROM day;
CALL merge_item();
SELECT (SELECT count(*) FROM day) - count <= 3 AS few FROM groups;
SELECT avg(length(payload)) > 6500 AS filled FROM day WHERE first_itemid BETWEEN 100 AND 200;
CALL check_day();

-- a day that is empty
BEGIN;
DELETE FROM day;
INSERT INTO history SELECT * FROM expected;
TRUNCATE expected;
INSERT INTO expected SELECT * FROM history;
SELECT merged = (SELECT count(*) FROM expected) AS all_merged, duplicates, done
  FROM zbxhist_internal.merge_rows('history', 'day', -2147483648, 2147483648, 1000000);
COMMIT;
CALL check_day();

-- without a key, rows may be there twice
ALTER TABLE history DROP CONSTRAINT history_pkey;
INSERT INTO history SELECT * FROM expected WHERE itemid = 104;
ALTER TABLE expected DROP CONSTRAINT expected_pkey;
INSERT INTO expected SELECT * FROM history;
SELECT merged > 100 AS merged, duplicates, done FROM zbxhist_internal.merge_rows('history', 'day', 0, 2147483648, 1000000);
CALL check_day();

-- more rows of an item and second than a day can hold: the others stay
BEGIN;
INSERT INTO history SELECT 104, 5000, i, 0 FROM generate_series(1, 65540) i;
INSERT INTO history SELECT 5, 5000, i, 0 FROM generate_series(1, 65537) i;
SELECT * FROM zbxhist_internal.merge_rows('history', 'day', 0, 2147483648, 1000000);
INSERT INTO history VALUES (104, 5000, 1, 0), (104, 5001, 1, 0);
SELECT * FROM zbxhist_internal.merge_rows('history', 'day', 0, 2147483648, 1000000);
SELECT itemid, clock, count(*) FROM history GROUP BY 1, 2 ORDER BY 1;
SELECT sum(nrows) - (SELECT count(*) FROM expected) AS merged FROM day;
SELECT * FROM zbxhist_internal.verify_day('day');
ROLLBACK;

-- columns altered since
ALTER TABLE history ADD COLUMN extra integer;
INSERT INTO history VALUES (1, 1, 1, 1, 1);
SELECT zbxhist_internal.merge_rows('history', 'day', 0, 2147483648, 10);
ALTER TABLE history DROP COLUMN extra;

-- ---- damage ----

SELECT count(*) > 10 AS has_groups FROM day;
CREATE TABLE intact AS SELECT * FROM day;
-- the directory of one group, the values of another
UPDATE day SET payload = set_byte(payload, 20, get_byte(payload, 20) # 1)
 WHERE (first_itemid, first_clock) = (SELECT first_itemid, first_clock FROM intact ORDER BY 1, 2 OFFSET 3 LIMIT 1);
UPDATE day SET payload = set_byte(payload, length(payload) - 5, get_byte(payload, length(payload) - 5) # 255)
 WHERE (first_itemid, first_clock) = (SELECT first_itemid, first_clock FROM intact ORDER BY 1, 2 OFFSET 5 LIMIT 1);
-- one that is cut off, one with wrong numbers, one that overlaps
UPDATE day SET payload = substr(payload, 1, 100)
 WHERE (first_itemid, first_clock) = (SELECT first_itemid, first_clock FROM intact ORDER BY 1, 2 OFFSET 6 LIMIT 1);
UPDATE day SET nrows = nrows + 1
 WHERE (first_itemid, first_clock) = (SELECT first_itemid, first_clock FROM intact ORDER BY 1, 2 OFFSET 7 LIMIT 1);
UPDATE day SET last_itemid = last_itemid + 20
 WHERE (first_itemid, first_clock) = (SELECT first_itemid, first_clock FROM intact ORDER BY 1, 2 OFFSET 8 LIMIT 1);
SELECT regexp_replace(problem, '\d+', 'N', 'g') AS problem FROM zbxhist_internal.verify_day('day') ORDER BY itemid, clock;
CREATE TABLE back (LIKE history);
SELECT zbxhist_internal.unpack_rows('day', 'back');

DROP SCHEMA packed_merge CASCADE;
