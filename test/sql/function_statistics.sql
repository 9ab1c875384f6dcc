-- statistics and buckets of numerics: exact over the whole range of Zabbix's
-- unsigned values, and for any other number that a column may hold.
\a \t
LOAD 'zbxhist';
SET client_min_messages = warning;
CREATE TABLE history_uint (itemid bigint NOT NULL, clock integer NOT NULL, value numeric(20) NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
-- without a limit: decimals, signs, infinities, numbers of thousands of digits
CREATE TABLE history_any (itemid bigint NOT NULL, clock integer NOT NULL, value numeric NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE trends_uint (itemid bigint NOT NULL, clock integer NOT NULL, num integer NOT NULL, value_min numeric(20) NOT NULL, value_avg numeric(20) NOT NULL,
    value_max numeric(20) NOT NULL, PRIMARY KEY (itemid, clock));
SELECT zbxhist.create_parent('history_uint'), zbxhist.create_parent('history_any'), zbxhist.create_parent('trends_uint', '1 month');
SELECT count(zbxhist.create_partition(t, date '1970-01-01' + n)) AS partitions FROM unnest('{history_uint,history_any}'::regclass[]) t, generate_series(1, 3) n;

CREATE TABLE series (itemid bigint PRIMARY KEY, about text, many integer, formula text);
INSERT INTO series VALUES
(1, 'the highest value', 5000, '18446744073709551615'),
(2, 'sum of 2^64 - 1', 2, '9223372036854775807::numeric + n'),
(3, 'sum of 2^64 + 1', 2, '9223372036854775808 + n'),
(4, 'sum beyond 2^65', 5, '9223372036854775807::numeric + n % 3'),
(5, 'zeros', 10, '0'),
(6, 'powers of 10000', 10, '10000::numeric ^ (n % 5)'),
(7, 'less than those', 10, '10000::numeric ^ (n % 5) - 1'),
(8, 'powers of two', 64, '2::numeric ^ n'),
(9, 'zeros at the end', 100, 'n * 1000000000000'),
(10, 'anything', 3000, '(''x'' || md5(n::text))::bit(63)::bigint::numeric * 2'),
(11, 'one value', 1, '18446744073709551614');
SELECT format('INSERT INTO history_uint SELECT %s, 86400 + n * 40, %s, n FROM generate_series(0, %s) n', itemid, formula, many - 1) FROM series ORDER BY itemid \gexec
-- the same, and at some place a number of another kind
INSERT INTO history_any SELECT 100 * kind + itemid, clock, CASE WHEN clock = 86400 + 40 * least(kind, series.many - 1) THEN other ELSE value END, ns
    FROM history_uint JOIN series USING (itemid),
         unnest('{0.5,-1,18446744073709551616,7.25,NaN,Infinity,-Infinity,1e-30}'::numeric[] || (repeat('123456789', 2000) || '.5')::numeric) WITH ORDINALITY o (other, kind)
    WHERE itemid IN (1, 4, 8, 11);
INSERT INTO trends_uint SELECT itemid, (clock - 86400) * 90, ns % 60, least(value, 7), value, value FROM history_uint WHERE itemid IN (1, 3, 10) AND ns < 500;

-- both must give the same digits
CREATE FUNCTION differences(tab regclass, minimum text, average text, maximum text, weight text) RETURNS TABLE (item bigint, expected text, found text) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format($q$
        SELECT i.itemid, left(e::text, 100), left(f::text, 100) FROM (SELECT DISTINCT itemid FROM %1$s) i,
            LATERAL (SELECT sum(%5$s)::bigint, min(%2$s), max(%4$s), sum(%3$s * %5$s), sum(%3$s * %5$s) / sum(%5$s), max(%4$s) - min(%2$s), min(clock), max(clock) FROM %1$s t WHERE t.itemid = i.itemid) e,
            LATERAL zbxhist.statistics(%1$L, i.itemid, 0, 2147483647) f
        WHERE e::text <> f::text ORDER BY 1 $q$, tab, minimum, average, maximum, weight);
END $$;
SELECT * FROM differences('history_uint', 'value', 'value', 'value', '1');
SELECT * FROM differences('history_any', 'value', 'value', 'value', '1');
SELECT * FROM differences('trends_uint', 'value_min', 'value_avg', 'value_max', 'num');
SELECT itemid, about, s.count, min, max, sum, round(avg, 3) AS avg, delta FROM series, zbxhist.statistics('history_uint', itemid, 0, 2147483647) s ORDER BY itemid;
SELECT itemid, s.count, left(min::text, 20) AS min, left(max::text, 20) AS max, left(sum::text, 30) AS sum, length(sum::text) FROM (SELECT DISTINCT itemid FROM history_any WHERE itemid % 100 = 4) i,
    zbxhist.statistics('history_any', itemid, 0, 2147483647) s ORDER BY itemid;

-- buckets begin anew with unsigned integers, one after another
CREATE FUNCTION bucket_differences(tab regclass, minimum text, average text, maximum text, counted text) RETURNS TABLE (items bigint, buckets bigint, different bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format($q$
        SELECT count(*), sum(cardinality(found)), count(*) FILTER (WHERE found IS DISTINCT FROM expected) FROM (SELECT DISTINCT itemid FROM %1$s) i,
            LATERAL (SELECT array_agg(b::text ORDER BY b.bucket) AS found FROM zbxhist.buckets(%1$L, i.itemid, 0, 20000000, 700) b) f,
            LATERAL (SELECT array_agg(r::text ORDER BY r.b) AS expected FROM (
                SELECT round(700.0 * clock / 20000000, 0)::integer AS b, %5$s, avg(%3$s), min(%2$s), max(%4$s), max(clock) FROM %1$s t
                WHERE t.itemid = i.itemid AND clock BETWEEN 0 AND 20000000 GROUP BY 1) r) e $q$, tab, minimum, average, maximum, counted);
END $$;
SELECT * FROM bucket_differences('history_uint', 'value', 'value', 'value', 'count(*)');
SELECT * FROM bucket_differences('history_any', 'value', 'value', 'value', 'count(*)');
SELECT * FROM bucket_differences('trends_uint', 'value_min', 'value_avg', 'value_max', 'sum(num)');
-- trends may say that there were no values
INSERT INTO trends_uint VALUES (20, 3600, 0, 1, 2, 3);
SELECT * FROM zbxhist.statistics('trends_uint', 20, 0, 9999);
-- a sum of doubles is rounded once, wherever its rows are
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history');
SELECT zbxhist.create_partition('history', date '1970-01-02');
INSERT INTO history VALUES (1, 86400, 1e16, 0), (1, 86401, 1, 0), (1, 86402, -1e16, 0), (1, 86403, 0.1, 0);
INSERT INTO history SELECT 2, 86400 + n * 60, n * 0.1, 0 FROM generate_series(1, 1000) n;
CREATE TABLE sums AS SELECT i, s.sum, s.avg FROM generate_series(1, 2) i, zbxhist.statistics('history', i, 0, 200000) s;
SELECT * FROM sums ORDER BY i;
CALL zbxhist.pack('history', '1970-01-02');
SELECT i, s.sum, s.avg FROM generate_series(1, 2) i, zbxhist.statistics('history', i, 0, 200000) s EXCEPT SELECT * FROM sums;
SET zbxhist.allow_packed_drop = on;
DROP TABLE history, sums CASCADE;
DROP TABLE history_uint, history_any, trends_uint, series CASCADE;
DROP FUNCTION differences, bucket_differences;
