-- add() stores rows as INSERT does, in bulk.
\a \t
LOAD 'zbxhist';
SET client_min_messages = warning;
CREATE TABLE history (
    itemid bigint NOT NULL, clock integer DEFAULT 0 NOT NULL, value double precision NOT NULL,
    ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE history_uint (itemid bigint NOT NULL, clock integer NOT NULL, value numeric(20) NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE history_str (itemid bigint NOT NULL, clock integer NOT NULL, value varchar(5) NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE history_log (itemid bigint NOT NULL, clock integer NOT NULL, timestamp integer DEFAULT '7' NOT NULL, source varchar(64) DEFAULT 'nobody' NOT NULL,
    value text NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE history_bin (itemid bigint NOT NULL, clock integer NOT NULL, ns integer NOT NULL, value bytea NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE trends (itemid bigint NOT NULL, clock integer NOT NULL, num integer NOT NULL, PRIMARY KEY (itemid, clock));
SELECT zbxhist.create_parent(t) FROM unnest('{history,history_uint,history_str,history_log,history_bin,trends}'::regclass[]) t;
SELECT zbxhist.create_partition(t, d) FROM unnest('{history,history_uint,history_str,history_log,history_bin}'::regclass[]) t, unnest('{1970-01-02,1970-01-03}'::date[]) d;
CREATE VIEW stored AS SELECT tableoid::regclass AS stored_in, * FROM history;

SELECT zbxhist.add(NULL::history, '{1,2,1,1}', '{86400,86400,172800,5}', '{0,1,2,3}', '{1.5,2.5,3.5,4.5}'::float8[]);
SELECT * FROM stored ORDER BY itemid, clock, ns;
-- each type of values; literals, casts as in an INSERT
SELECT zbxhist.add(NULL::history, '{3}', '{86400}', '{0}', '{7.25}');
SELECT zbxhist.add(NULL::history, '{3,3}', '{86400,86400}', '{0,2}', '{7.5,7.75}', 'update');
SELECT zbxhist.add(NULL::history, '{3}', '{86400}', '{1}', ARRAY[8]);
SELECT zbxhist.add(NULL::history_uint, '{1,1}', '{86400,86401}', '{0,0}', '{18446744073709551615,0}'::numeric[]);
SELECT zbxhist.add(NULL::history_uint, '{1}', '{86402}', '{0}', ARRAY[12345678901::bigint]), zbxhist.add(NULL::history_uint, '{1}', '{86403}', '{0}', '{2.5}');
SELECT zbxhist.add(NULL::history_uint, '{1}', '{86404}', '{0}', '{100000000000000000000}'::numeric[]);
SELECT zbxhist.add(NULL::history_str, '{1,1}', '{86400,86401}', '{0,0}', '{abc,12345}');
SELECT zbxhist.add(NULL::history_str, '{1}', '{86402}', '{0}', '{abcdef}');
SELECT zbxhist.add(NULL::history_log, '{1,1}', '{86400,0}', '{0,0}', ARRAY['line', 'another']);
SELECT zbxhist.add(NULL::history_bin, '{1}', '{86400}', '{0}', ARRAY['\x00ff'::bytea]), zbxhist.add(NULL::history_bin, '{1}', '{86401}', '{0}', '{\\x01}');
SELECT zbxhist.add(NULL::history, '{1}', '{86400}', '{9}', ARRAY[true]);
SELECT value FROM history_uint ORDER BY clock;
SELECT value FROM history_str ORDER BY clock;
SELECT tableoid::regclass, * FROM history_log ORDER BY clock;
SELECT value FROM history_bin ORDER BY clock;
-- nothing, nulls, lengths, tables without such columns
SELECT zbxhist.add(NULL::history, '{}', '{}', '{}', '{}'::float8[]);
SELECT zbxhist.add(NULL::history, '{1}', '{1}', '{1}', NULL::float8[]);
SELECT zbxhist.add(NULL::history, '{1}', '{86400}', '{7}', '{NULL}'::float8[]);
SELECT zbxhist.add(NULL::history, '{NULL}', '{86400}', '{7}', '{1}'::float8[]);
SELECT zbxhist.add(NULL::history, '{1}', '{NULL}', '{7}', '{1}'::float8[], 'ignore');
SELECT zbxhist.add(NULL::history, '{1,2}', '{1}', '{1}', '{1}'::float8[]);
SELECT zbxhist.add(NULL::trends, '{1}', '{1}', '{1}', '{1}'::float8[]);
SELECT zbxhist.add(NULL::history, '{1}', '{1}', '{1}', '{1}'::float8[], 'replace');
BEGIN READ ONLY;
SELECT zbxhist.add(NULL::history, '{1}', '{1}', '{1}', '{1}'::float8[]);
ROLLBACK;

-- on_conflict: keys in a partition, in the parent, twice in the call
SELECT zbxhist.add(NULL::history, '{1,9}', '{86400,86400}', '{0,0}', '{11,12}'::float8[]);
SELECT zbxhist.add(NULL::history, '{9,1}', '{86400,5}', '{0,3}', '{11,12}'::float8[]);
SELECT zbxhist.add(NULL::history, '{9,9}', '{86400,86400}', '{0,0}', '{11,12}'::float8[]);
SELECT zbxhist.add(NULL::history, '{1,1,9,9,9}', '{86400,5,86400,86400,6}', '{0,3,0,0,0}', '{11,12,13,14,15}'::float8[], 'ignore');
SELECT * FROM stored ORDER BY itemid, clock, ns;
SELECT zbxhist.add(NULL::history, '{1,1,9,8,8,8}', '{86400,5,86400,86400,86400,6}', '{0,3,0,0,0,0}', '{11,12,13,14,15,16}'::float8[], 'update');
SELECT * FROM stored ORDER BY itemid, clock, ns;

-- with routing off, with batching off, in a savepoint, many at once
BEGIN;
SET LOCAL zbxhist.enable_routing = off;
SELECT zbxhist.add(NULL::history, '{20}', '{86400}', '{0}', '{1}'::float8[]);
SELECT zbxhist.add(NULL::history, '{9}', '{86400}', '{0}', '{1}'::float8[]);
ROLLBACK;
BEGIN;
SET LOCAL zbxhist.enable_batching = off;
SELECT zbxhist.add(NULL::history, '{21,22}', '{86400,0}', '{0,0}', '{1,2}'::float8[]);
SAVEPOINT a;
SELECT zbxhist.add(NULL::history, '{22,23}', '{86400,0}', '{0,0}', '{1,2}'::float8[]);
ROLLBACK TO a;
SELECT zbxhist.add(NULL::history, '{21,23}', '{86400,86400}', '{0,0}', '{3,4}'::float8[], 'update');
SELECT * FROM stored WHERE itemid > 20 ORDER BY itemid;
ROLLBACK;
SELECT zbxhist.add(NULL::history, array_agg(1000 + i % 50), array_agg(86400 + i * 70), array_agg(i), array_agg(i::float8)) FROM generate_series(1, 5000) i;
SELECT stored_in, count(*), sum(value), sum(ns) FROM stored WHERE itemid >= 1000 GROUP BY 1 ORDER BY 1;
SELECT zbxhist.add(NULL::history, array_agg(1000 + i % 50), array_agg(86400 + i * 70), array_agg(i), array_agg(i::float8 * 2), 'update') FROM generate_series(2500, 7500) i;
SELECT count(*), sum(value), sum(ns) FROM stored WHERE itemid >= 1000;

-- users' triggers fire
CREATE FUNCTION double() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.value := NEW.value * 2;
    RETURN CASE WHEN NEW.value < 100 THEN NEW END;
END $$;
CREATE TRIGGER double BEFORE INSERT ON history FOR EACH ROW EXECUTE FUNCTION double();
SELECT zbxhist.add(NULL::history, '{30,31}', '{86400,86400}', '{0,0}', '{1,60}'::float8[]), zbxhist.add(NULL::history, '{30,32}', '{86400,86400}', '{0,0}', '{5,7}'::float8[], 'update');
SELECT * FROM stored WHERE itemid BETWEEN 30 AND 39 ORDER BY itemid;
DROP TRIGGER double ON history;

-- rights
CREATE ROLE regress_zbxhist_adder;
SET ROLE regress_zbxhist_adder;
SELECT zbxhist.add(NULL::history, '{40}', '{86400}', '{0}', '{1}'::float8[]);
RESET ROLE;
GRANT EXECUTE ON FUNCTION zbxhist.add TO regress_zbxhist_adder;
SET ROLE regress_zbxhist_adder;
SELECT zbxhist.add(NULL::history, '{40}', '{86400}', '{0}', '{1}'::float8[]);
RESET ROLE;
GRANT INSERT ON history TO regress_zbxhist_adder;
SET ROLE regress_zbxhist_adder;
SELECT zbxhist.add(NULL::history, '{40}', '{86400}', '{0}', '{1}'::float8[]);
SELECT zbxhist.add(NULL::history, '{40}', '{86400}', '{0}', '{1}'::float8[], 'ignore');
RESET ROLE;
GRANT SELECT ON history TO regress_zbxhist_adder;
SET ROLE regress_zbxhist_adder;
SELECT zbxhist.add(NULL::history, '{40}', '{86400}', '{0}', '{1}'::float8[], 'ignore');
SELECT zbxhist.add(NULL::history, '{40}', '{86400}', '{0}', '{2}'::float8[], 'update');
RESET ROLE;
DROP OWNED BY regress_zbxhist_adder;
DROP ROLE regress_zbxhist_adder;
DROP TABLE history, history_uint, history_str, history_log, history_bin, trends CASCADE;
DROP FUNCTION double;
