-- Ranges of partitions in UTC, around the epoch and by the calendar, in sessions of any time
-- zone and interval style.
\a \t
\set SHOW_CONTEXT never
SET TimeZone = 'Asia/Tokyo';
SET intervalstyle = iso_8601;
SET datestyle = 'German';

CREATE FUNCTION show_range(i interval, c bigint) RETURNS text LANGUAGE sql AS $$
    SELECT format('%s %s', to_char(timestamp '1970-01-01' + make_interval(secs => r.from_clock), 'YYYY-MM-DD HH24:MI:SS'),
                           to_char(timestamp '1970-01-01' + make_interval(secs => r.to_clock), 'YYYY-MM-DD HH24:MI:SS'))
      FROM zbxhist_internal.clock_range(i, c) r
$$;
SELECT i, c, show_range(i::interval, c)
  FROM (VALUES ('1 day', 1795219200), ('1 day', 1795305599), ('1 day', 1795305600),
               ('1 day', 0), ('1 day', -1), ('1 day', -86400), ('1 day', -86401),
               ('12 hours', 1795305599), ('1 hour', 1795219200), ('15 minutes', 1795220100),
               ('24 hours', 1795219201), ('7 days', 1795219200),
               ('1 month', 1795219200), ('1 month', 1796083199), ('1 month', 1796083200),
               ('1 month', -1), ('3 months', 1795219200), ('1 year', 1795219200),
               ('1 year', -1), ('2 years', 0), ('1 month', 951782400)) AS v (i, c);
-- the ends of an integer are open bounds
SELECT i, c, (zbxhist_internal.clock_range(i::interval, c)).*
  FROM (VALUES ('1 day', 2147483647), ('1 day', -2147483648), ('1 month', 2147483647),
               ('1 year', -2147483648)) AS v (i, c);

-- what an interval can be
SELECT zbxhist_internal.verify_interval('0');
SELECT zbxhist_internal.verify_interval('-1 day');
SELECT zbxhist_internal.verify_interval('1 month 1 day');
SELECT zbxhist_internal.verify_interval('1 month -1 day');
SELECT zbxhist_internal.verify_interval('90 seconds');
SELECT zbxhist_internal.verify_interval('1.5 seconds');
SELECT zbxhist_internal.verify_interval('200 years');
SELECT zbxhist_internal.verify_interval(NULL);
SELECT zbxhist_internal.verify_interval('90 minutes');
SELECT zbxhist_internal.verify_interval('7 minutes');
SELECT zbxhist_internal.verify_interval('25 hours');
SELECT zbxhist_internal.verify_interval('36 hours');
SELECT zbxhist_internal.verify_interval('36 days');

-- partitions are named and bounded in UTC, too
-- one day for all of it
DO $$ BEGIN PERFORM pg_sleep(left_over + 1) FROM (SELECT 86400 - extract(epoch FROM now()) % 86400) AS day (left_over) WHERE left_over < 180; END $$;
CREATE SCHEMA ranges;
SET search_path = ranges, public, zbxhist_partitions;
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0,
    value double precision NOT NULL DEFAULT 0, ns integer NOT NULL DEFAULT 0,
    PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history', premake => 0);
SELECT zbxhist.create_partition('history', '05.01.2020');
SELECT zbxhist.create_partition('history', '05.01.2020');
SELECT zbxhist.create_partition('history', NULL);
SELECT zbxhist.create_partition(NULL, '05.01.2020');
SELECT zbxhist.create_partition('history', 'infinity');
SELECT zbxhist.create_partition('history', '20.01.2038');
SELECT zbxhist.create_partition('history', '19.01.2038');
SELECT zbxhist.create_partition('history', '01.01.1901');
SELECT zbxhist.create_partition('history', '14.12.1901');
SELECT p.partition, p.from_clock, p.to_clock, pg_get_constraintdef(c.oid)
  FROM zbxhist.list_partitions('history') p
  JOIN pg_constraint c ON c.conrelid = p.partition AND c.conname = 'zbxhist_clock'
 WHERE p.from_clock NOT BETWEEN 1700000000 AND 2000000000
 ORDER BY p.from_clock;

-- the present day, where the clock of Tokyo may show another
SELECT count(*), bool_and(p.from_clock = floor(extract(epoch FROM now()) / 86400) * 86400)
  FROM zbxhist.list_partitions('history') p
 WHERE p.from_clock BETWEEN 1700000000 AND 2000000000;

-- a new interval: never overlapping ranges, what is there is cut out
SELECT zbxhist.create_partition('history', '02.02.2020');
SELECT zbxhist.create_partition('history', '10.02.2020');
SELECT zbxhist.alter_parent('history', partition_interval => '1 month');
SELECT zbxhist.create_partition('history', '01.02.2020');
SELECT zbxhist.alter_parent('history', partition_interval => '1 day');
SELECT zbxhist.create_partition('history', '05.02.2020');
SELECT zbxhist.alter_parent('history', partition_interval => '12 hours');
SELECT zbxhist.create_partition('history', '06.01.2020');
SELECT zbxhist.alter_parent('history', partition_interval => '7 days');
SELECT zbxhist.create_partition('history', '07.01.2020');
SELECT p.partition, to_timestamp(p.from_clock) AT TIME ZONE 'UTC' AS from_time,
       to_timestamp(p.to_clock) AT TIME ZONE 'UTC' AS to_time
  FROM zbxhist.list_partitions('history') p
 WHERE p.from_clock BETWEEN 1500000000 AND 1700000000
 ORDER BY p.from_clock;
SELECT code FROM zbxhist.check() WHERE code = 'overlap';

-- rows go where the ranges say
INSERT INTO history (itemid, clock) VALUES (1, 1578182399), (1, 1578182400), (1, 1578268799),
    (1, 1580601600), (1, 2147483647), (1, -2147483648), (1, -1);
SELECT tableoid::regclass, clock FROM history ORDER BY clock;

-- long names, and names taken
RESET datestyle;
CREATE TABLE "history of a very long name, much longer than others’, ünïcödé ñ" (LIKE history INCLUDING ALL);
SELECT zbxhist.create_parent('"history of a very long name, much longer than others’, ünïcödé ñ"', premake => 0);
SELECT zbxhist.create_partition('"history of a very long name, much longer than others’, ünïcödé ñ"', '2020-01-05');
SELECT octet_length(relname), right(relname, 10) FROM pg_class WHERE relname LIKE 'history of%20200105';
CREATE TABLE zbxhist_partitions.history_p20210105 ();
CREATE TYPE zbxhist_partitions.history_p20210105_1 AS (a integer);
SELECT zbxhist.alter_parent('history', partition_interval => '1 day');
SELECT zbxhist.create_partition('history', '2021-01-05');

SET client_min_messages = warning;
DROP SCHEMA ranges CASCADE;
DROP FUNCTION show_range;
DROP TABLE zbxhist_partitions.history_p20210105;
DROP TYPE zbxhist_partitions.history_p20210105_1;
CALL zbxhist.run_maintenance();
SELECT count(*) FROM zbxhist.parent_config;
