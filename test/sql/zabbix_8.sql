-- The tables of Zabbix 8.0, and the statements that its server, housekeeper and frontend send
-- to them: each does the same to a managed table as to a plain one, before and after hours are
-- packed.  docs/zabbix-8.md has their origin.
\a \t
LOAD 'zbxhist';
-- the other type of history_json.value: test/sql/zabbix_8_json.sql
\if :{?json}
\else
\set json jsonb
\endif
SET zbxhist.allow_packed_drop = on;
SET client_min_messages = warning;
SET extra_float_digits = 3;
SET bytea_output = escape;
CREATE SCHEMA plain;
CREATE SCHEMA managed;
CREATE SCHEMA zabbix_8;
SET zabbix_8.json = :'json';
SET search_path = zabbix_8, zbxhist_partitions;

CREATE TABLE tables (name text PRIMARY KEY, definition text, columns text, fields text, value text);
INSERT INTO tables VALUES
('history', $$value DOUBLE PRECISION DEFAULT '0.0000' NOT NULL, ns integer DEFAULT '0' NOT NULL$$, 'value', 'itemid,clock,ns,value', $$((i * k) % 1000 / 4.0)::double precision::text$$),
('history_uint', $$value numeric(20) DEFAULT '0' NOT NULL, ns integer DEFAULT '0' NOT NULL$$, 'value', 'itemid,clock,ns,value', $$(18446744073709551615 - (i * k) % 1000)::text$$),
('history_str', $$value varchar(255) DEFAULT '' NOT NULL, ns integer DEFAULT '0' NOT NULL$$, 'value', 'itemid,clock,ns,value', $$format('%L', 'it''s ' || k)$$),
('history_text', $$value text DEFAULT '' NOT NULL, ns integer DEFAULT '0' NOT NULL$$, 'value', 'itemid,clock,ns,value', $$format('%L', repeat(md5(k::text), i::integer))$$),
('history_log', $$timestamp integer DEFAULT '0' NOT NULL, source varchar(64) DEFAULT '' NOT NULL, severity integer DEFAULT '0' NOT NULL,
   value text DEFAULT '' NOT NULL, logeventid integer DEFAULT '0' NOT NULL, ns integer DEFAULT '0' NOT NULL$$,
 'timestamp,source,severity,value,logeventid', 'itemid,clock,timestamp,source,severity,logeventid,ns,value', $$format('%s,%L,%s,%L,%s', k, 'source', k % 6, e'line\n' || k, k % 9)$$),
('history_bin', $$ns integer DEFAULT '0' NOT NULL, value bytea DEFAULT '' NOT NULL$$, 'value', 'itemid,clock,ns,value', $$format('%L', encode(decode(md5(k::text), 'hex'), 'escape'))$$),
('history_json', format('ns integer DEFAULT ''0'' NOT NULL, value %s NOT NULL', :'json'), 'value', 'itemid,clock,ns,value',
 $$format('%L', json_build_object('n', k, 'a', ARRAY[i, 1.50], 's', repeat('ü"\', i::integer), 'nothing', NULL))$$),
('trends', $$num integer DEFAULT '0' NOT NULL, value_min DOUBLE PRECISION DEFAULT '0.0000' NOT NULL, value_avg DOUBLE PRECISION DEFAULT '0.0000' NOT NULL,
   value_max DOUBLE PRECISION DEFAULT '0.0000' NOT NULL$$, 'num,value_min,value_avg,value_max', NULL, $$format('%s,%s,%s,%s', k % 60, i, i + k / 4.0, i + k)$$),
('trends_uint', $$num integer DEFAULT '0' NOT NULL, value_min numeric(20) DEFAULT '0' NOT NULL, value_avg numeric(20) DEFAULT '0' NOT NULL,
   value_max numeric(20) DEFAULT '0' NOT NULL$$, 'num,value_min,value_avg,value_max', NULL, $$format('%s,%s,%s,18446744073709551615', k % 60, i, i + k)$$);
DO $$
DECLARE
    t record;
BEGIN
    FOR t IN SELECT * FROM tables, unnest('{plain,managed}'::text[]) side LOOP
        EXECUTE format('CREATE TABLE %I.%I (itemid bigint NOT NULL, clock integer DEFAULT ''0'' NOT NULL, %s, PRIMARY KEY (itemid,clock%s))',
                       t.side, t.name, t.definition, CASE WHEN t.name ~ 'trends' THEN '' ELSE ',ns' END);
    END LOOP;
END $$;
SELECT parent, action FROM zbxhist.setup('managed') WHERE parent IS NOT NULL;
-- two days of 1970, and the month of the trends
SELECT count(zbxhist.create_partition(name::regclass, '1970-01-01'::date + day / 86400))
  FROM (SELECT 'managed.' || name AS name FROM tables) t, unnest('{86400,172800}'::integer[]) day;

-- ---- what a statement does on each side ----

-- Its rows, or how many it changed, or its SQLSTATE.
CREATE FUNCTION outcome(side text, statement text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    result text[];
    found record;
    count bigint;
BEGIN
    PERFORM set_config('search_path', side, true);
    BEGIN
        IF statement ~* '^select' THEN
            FOR found IN EXECUTE statement LOOP
                result := result || found::text;
            END LOOP;
        ELSE
            EXECUTE statement;
            GET DIAGNOSTICS count = ROW_COUNT;
            result := ARRAY[count::text];
        END IF;
    EXCEPTION WHEN OTHERS THEN
        result := ARRAY[SQLSTATE];
    END;
    PERFORM set_config('search_path', 'zabbix_8', true);
    IF statement ~* '^select' AND statement !~* 'order by' THEN
        result := ARRAY(SELECT r FROM unnest(result) r ORDER BY r);
    END IF;
    RETURN result;
END $$;

CREATE FUNCTION differences(name text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    result bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM ((SELECT p::text FROM plain.%1$I p EXCEPT ALL SELECT m::text FROM managed.%1$I m)'
                   ' UNION ALL (SELECT m::text FROM managed.%1$I m EXCEPT ALL SELECT p::text FROM plain.%1$I p)) d', name) INTO result;
    RETURN result;
END $$;

-- Statements with T for the table, one after the other in each of some tables; those
-- whose outcome differs, and how many had one that is not empty.
CREATE FUNCTION compare(tables text[], statements text[], OUT statements_sent bigint, OUT with_rows bigint, OUT differing text[])
LANGUAGE plpgsql AS $$
DECLARE
    statement text;
    expected text[];
    found text[];
BEGIN
    statements_sent := 0;
    with_rows := 0;
    FOR statement IN SELECT regexp_replace(s, '\mT\M', t, 'g') FROM unnest(tables) t, unnest(statements) s LOOP
        expected := outcome('plain', statement);
        found := outcome('managed', statement);
        statements_sent := statements_sent + 1;
        with_rows := with_rows + (expected IS NOT NULL AND expected <> '{0}')::integer;
        IF found IS DISTINCT FROM expected THEN
            differing := differing || format('%s: %s, not %s', statement, left(found::text, 200), left(expected::text, 200));
        END IF;
    END LOOP;
END $$;

-- ---- the history syncers ----

-- One value of each of some items, as a batch has them: clocks are mixed, some are of another day.
CREATE FUNCTION batch(name text, k integer, shift integer DEFAULT 0) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    t CONSTANT tables := (SELECT t FROM tables t WHERE t.name = batch.name);
    keys CONSTANT text := CASE WHEN name ~ 'trends' THEN '%1$s,%2$s' ELSE '%1$s,%3$s,%4$s' END;
    result text;
BEGIN
    EXECUTE format('SELECT string_agg(format(''(%s,%%5$s)'', i, k * 3600, 86400 + k * 1200 + i * 7 + CASE WHEN i %% 5 = 0 THEN 28000 ELSE 0 END,'
                   ' k * 7919 %% 1000000 + %s, %s), '','' ORDER BY i) FROM (SELECT i, $1 AS k FROM generate_series(1, 20) i) v', keys, shift, t.value)
       INTO result USING k;
    RETURN format('insert into %s (itemid,clock,%s%s) values %s', name, CASE WHEN name ~ 'trends' THEN '' ELSE 'ns,' END, t.columns, result);
END $$;
CREATE FUNCTION names(pattern text) RETURNS text[] LANGUAGE sql AS $$ SELECT array_agg(name ORDER BY name) FROM tables WHERE name ~ pattern $$;

SELECT c.* FROM compare('{T}', ARRAY(SELECT batch(name, k) FROM unnest(names('history')) name, generate_series(0, 120) k)) c;
-- another value in the same second
SELECT c.* FROM compare('{T}', ARRAY(SELECT batch(name, k, 1) FROM unnest(names('history')) name, generate_series(0, 120, 30) k)) c;
SELECT c.* FROM compare('{T}', ARRAY(SELECT batch(name, k) FROM unnest(names('trends')) name, generate_series(24, 60) k)) c;
SELECT sum(differences(name)) AS differences FROM tables;

-- a batch that comes again, what of it is stored, and the rest of it; what is no JSON
SELECT name, outcome('managed', batch(name, 27)), outcome('plain', batch(name, 27)) FROM unnest(names('')) name ORDER BY name;
SELECT c.* FROM compare(names('history'), ARRAY[
    'select itemid,clock,ns from T where (itemid=1 and clock=94807 and ns=55433) or (itemid=2 and clock=94814 and ns=55433) or (itemid=5 and clock=122835 and ns=55433) or (itemid=5 and clock=1 and ns=0)']) c;
SELECT outcome('managed', s), outcome('plain', s)
  FROM unnest(ARRAY['insert into history_json (itemid,clock,ns,value) values (1,86400,0,''{'')', 'insert into history_json (itemid,clock,ns,value) values (1,86400,0,''"\u0000"'')',
                    'insert into history_json (itemid,clock,ns,value) values (1,86400,1,''[1,2]''),(1,86401,0,null)']) s;

-- ---- what is read ----

-- the server: the value cache, trend functions, trends that may be there already
CREATE FUNCTION server_reads() RETURNS TABLE (named text, statements_sent bigint, with_rows bigint, differing text[]) LANGUAGE plpgsql AS $$
DECLARE
    fields text;
BEGIN
    FOREACH named IN ARRAY names('history') LOOP
        fields := CASE WHEN named = 'history_log' THEN 'timestamp,logeventid,severity,source,value' ELSE 'value' END;
        SELECT c.* INTO statements_sent, with_rows, differing FROM compare(ARRAY[named], ARRAY(
            SELECT replace(s, 'FIELDS', fields) FROM unnest(ARRAY[
                'select clock,ns,FIELDS from T where itemid=3 and clock>90000',
                'select clock,ns,FIELDS from T where itemid=3 and clock>90000 and clock<=180000',
                'select clock,ns,FIELDS from T where itemid=3 and clock=86421',
                'select clock,ns,FIELDS from T where itemid=4 and clock<=150000 and clock>146400 order by clock desc limit 4',
                'select clock,ns,FIELDS from T where itemid=4 and clock<=170000 order by clock desc limit 4',
                'select clock,ns,FIELDS from T where itemid=99 and clock<=200000 order by clock desc limit 2',
                'select clock,ns,FIELDS from T where itemid=7 and clock>100000 and clock<=190000 order by clock desc limit 10']) s)) c;
        RETURN NEXT;
    END LOOP;
    named := 'trends';
    SELECT c.* INTO statements_sent, with_rows, differing FROM compare(names('trends'), ARRAY[
        'select itemid from T where clock>=100800 and itemid in (1,2,3,4)',
        'select itemid,num,value_min,value_avg,value_max from T where clock=100800 and itemid in (1,2,3,4,50) order by itemid,clock',
        'select value_avg,num from T where itemid=3 and clock>=90000 and clock<=180000',
        'select sum(num) from T where itemid=3 and clock>=90000 and clock<=180000',
        'select max(value_max) from T where itemid=3 and clock>=90000 and clock<=180000',
        'select min(value_min) from T where itemid=3 and clock=100800']) c;
    RETURN NEXT;
END $$;

-- the frontend: names of columns instead of *, and of a long value the beginning
CREATE FUNCTION frontend_reads() RETURNS TABLE (named text, statements_sent bigint, with_rows bigint, differing text[]) LANGUAGE plpgsql AS $$
DECLARE
    t tables;
    all_columns text;
    beginnings text;
    tick CONSTANT text := 'CAST(clock AS BIGINT)-MOD(CAST(clock AS BIGINT),3600)';
    pixel CONSTANT text := 'round(800.0*(clock-90000)/100000,0)';
    period CONSTANT text := 'BETWEEN 90000 AND 190000';
BEGIN
    FOR t IN SELECT * FROM tables WHERE name ~ 'history' ORDER BY name LOOP
        named := t.name;
        all_columns := regexp_replace(t.fields, '(\w+)', 'h.\1', 'g');
        beginnings := CASE t.name WHEN 'history_json' THEN replace(all_columns, 'h.value', 'SUBSTR(h.value::text,1,20) AS value')
                                  WHEN 'history_bin' THEN replace(all_columns, 'h.value', 'SUBSTR(h.value,1,20) AS value') ELSE all_columns END;
        SELECT c.* INTO statements_sent, with_rows, differing FROM compare(ARRAY[t.name], ARRAY(
            SELECT DISTINCT replace(s, 'FIELDS', f) FROM unnest(ARRAY[all_columns, beginnings]) f, unnest(ARRAY[
                'SELECT FIELDS FROM T h WHERE h.itemid=''3'' AND h.clock>90000 ORDER BY h.clock DESC,h.ns DESC LIMIT 2',
                'SELECT FIELDS FROM T h WHERE h.itemid=''5'' AND h.clock>90000 ORDER BY h.clock DESC,h.ns DESC LIMIT 1',
                'SELECT FIELDS FROM T h WHERE h.itemid=''99'' AND h.clock>90000 ORDER BY h.clock DESC,h.ns DESC LIMIT 1',
                'SELECT FIELDS FROM T h WHERE h.itemid=''3'' AND h.clock=''86421'' ORDER BY h.ns DESC LIMIT 1',
                'SELECT FIELDS FROM T h WHERE h.itemid=''4'' AND h.clock>150000 ORDER BY h.clock DESC LIMIT 4',
                'SELECT MAX(h.clock) FROM T h WHERE h.itemid=''3'' AND h.clock>90000',
                'SELECT DISTINCT itemid FROM T WHERE itemid IN (1,2,3,98,99) AND clock>150000',
                'SELECT * FROM T WHERE itemid=''3'' AND clock=''86421'' AND ns<=''999999999'' ORDER BY ns DESC LIMIT 1',
                'SELECT * FROM T WHERE itemid=''3'' AND clock<''180000'' AND clock>=''93600'' ORDER BY clock DESC,ns DESC LIMIT 1',
                'SELECT * FROM T WHERE itemid=''3'' AND clock=''86421'' AND ns=''1''',
                'SELECT DISTINCT clock FROM T WHERE itemid=''3'' AND clock=''86421'' AND ns<''999999''',
                'SELECT MAX(clock) AS clock FROM T WHERE itemid=''3'' AND clock<''180000'' AND clock>=''93600''',
                'SELECT h.* FROM T h WHERE h.itemid IN (3,4,5) AND h.clock>=''100000'' AND h.clock<=''120000'' ORDER BY h.clock DESC,h.itemid,h.ns LIMIT 50',
                'SELECT COUNT(*) AS rowscount FROM T h WHERE h.itemid=''3'' AND h.clock>=''100000''',
                'SELECT itemid,COUNT(*) AS value,MAX(clock) AS clock FROM T WHERE itemid IN (3,4,5) AND clock>=100000 GROUP BY itemid',
                format('SELECT h.itemid,h.value,h.clock FROM T h JOIN (SELECT h2.itemid,h2.clock,MAX(h2.ns) AS ns FROM T h2 JOIN'
                       ' (SELECT itemid,MAX(clock) AS clock FROM T WHERE itemid IN (3,4,5) AND clock %1$s GROUP BY itemid) s2 ON h2.itemid=s2.itemid AND h2.clock=s2.clock'
                       ' WHERE h2.clock %1$s GROUP BY h2.itemid,h2.clock) s ON h.itemid=s.itemid AND h.clock=s.clock AND h.ns=s.ns WHERE h.clock %1$s', period)]) s)) c;
        RETURN NEXT;
    END LOOP;

    named := 'graphs of history';
    SELECT c.* INTO statements_sent, with_rows, differing FROM compare('{history,history_uint}', ARRAY(
        SELECT s FROM unnest('{MIN(value),MAX(value),AVG(value),COUNT(*),SUM(value)}'::text[]) a, unnest(ARRAY[
            format('SELECT itemid,%1$s AS tick,%2$s AS value,MAX(clock) AS clock,COUNT(*) AS num FROM T WHERE itemid IN (3,4,5) AND clock %3$s GROUP BY itemid,%1$s', tick, a, period),
            format('SELECT itemid,%s AS value,MAX(clock) AS clock FROM T WHERE itemid IN (3,4,5) AND clock>=90000 GROUP BY itemid', a)]) s
        UNION ALL
        SELECT format('SELECT h.itemid,h.value,h.clock,h.ns,s.tick FROM T h JOIN (SELECT h2.itemid,h2.clock,%1$s(h2.ns) AS ns,s2.tick FROM T h2 JOIN'
                      ' (SELECT itemid,%2$s AS tick,%1$s(clock) AS clock FROM T WHERE itemid IN (3,4) AND clock %3$s GROUP BY itemid,%2$s) s2 ON h2.itemid=s2.itemid AND h2.clock=s2.clock'
                      ' WHERE h2.clock %3$s GROUP BY h2.itemid,h2.clock,s2.tick) s ON h.itemid=s.itemid AND h.clock=s.clock AND h.ns=s.ns WHERE h.clock %3$s', f, tick, period)
          FROM unnest('{MIN,MAX}'::text[]) f
        UNION ALL
        SELECT format('SELECT itemid,COUNT(*) AS count,AVG(value) AS avg,MIN(value) AS min,MAX(value) AS max%s,MAX(clock) AS clock FROM T'
                      ' WHERE itemid=''3'' AND clock>=''90000'' AND clock<=''190000'' GROUP BY itemid%s', a, b)
          FROM (VALUES ('', ''), (format(',%s AS i', pixel), ',' || pixel)) v (a, b))) c;
    RETURN NEXT;

    named := 'graphs of trends';
    SELECT c.* INTO statements_sent, with_rows, differing FROM compare(names('trends'), ARRAY(
        SELECT format('SELECT itemid,%1$s AS tick,%2$s AS value,MAX(clock) AS clock,SUM(num) AS num FROM T WHERE itemid IN (3,4,5) AND clock %3$s GROUP BY itemid,%1$s', replace(tick, '3600', '7200'), a, period)
          FROM unnest('{MIN(value_min),MAX(value_max),AVG(value_avg),SUM(num),SUM(value_avg * num)}'::text[]) a
        UNION ALL
        SELECT format('SELECT DISTINCT h.itemid,h.value_avg AS value,h.clock,0 AS ns,s.tick FROM T h JOIN'
                      ' (SELECT itemid,%2$s AS tick,%1$s(clock) AS clock FROM T WHERE itemid IN (3,4) AND clock %3$s GROUP BY itemid,%2$s) s ON h.itemid=s.itemid AND h.clock=s.clock WHERE h.clock %3$s',
                      f, replace(tick, '3600', '7200'), period)
          FROM unnest('{MIN,MAX}'::text[]) f
        UNION ALL
        SELECT format('SELECT itemid,SUM(num) AS count,AVG(value_avg) AS avg,MIN(value_min) AS min,MAX(value_max) AS max,%1$s AS i,MAX(clock) AS clock FROM T'
                      ' WHERE itemid=''3'' AND clock>=''90000'' AND clock<=''190000'' GROUP BY itemid,%1$s', pixel)
        UNION ALL
        SELECT 'SELECT t.* FROM T t WHERE t.clock>=''90000'' AND t.clock<=''190000'' AND t.itemid IN (3,4)')) c;
    RETURN NEXT;
END $$;
SELECT * FROM server_reads();
SELECT * FROM frontend_reads();

-- An item that has gone: the housekeeper asks for parts of its values until it gets another
-- number than it asked for.  In ordinary partitions it gets more, and leaves the rest.
CREATE FUNCTION delete_item(side text, name text, item bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    deleted bigint;
BEGIN
    PERFORM set_config('search_path', side, true);
    LOOP
        EXECUTE format('delete from %1$s where itemid=%2$s and ctid = any(array(select ctid from %1$s where itemid=%2$s limit 30))', name, item);
        GET DIAGNOSTICS deleted = ROW_COUNT;
        EXIT WHEN deleted <> 30;
    END LOOP;
    EXECUTE format('select count(*) from %s where itemid=%s', name, item) INTO deleted;
    PERFORM set_config('search_path', 'zabbix_8', true);
    RETURN CASE deleted WHEN 0 THEN 'none left' ELSE 'some left' END;
END $$;
SELECT name, delete_item('plain', name, 10) AS plain, delete_item('managed', name, 10) AS managed FROM tables ORDER BY name;
SELECT count(outcome(side, format('delete from %s where itemid=10', name))) FROM tables, unnest('{plain,managed}'::text[]) side;
SELECT sum(differences(name)) AS differences FROM tables;

-- and of packed rows
CREATE PROCEDURE pack_all() LANGUAGE plpgsql AS $$
DECLARE
    day record;
BEGIN
    FOR day IN SELECT DISTINCT p.parent, date '1970-01-01' + (p.from_clock / 86400)::integer AS first FROM zbxhist.partitions p WHERE p.to_clock < 5000000 ORDER BY 1, 2 LOOP
        CALL zbxhist.pack(day.parent, day.first);
    END LOOP;
END $$;
CALL pack_all();
SELECT p.kind, count(DISTINCT p.parent) AS tables, sum(p.rows) > 0 AS has_rows FROM zbxhist.partitions p WHERE p.to_clock < 5000000 GROUP BY p.kind ORDER BY p.kind;
SELECT sum(differences(name)) AS differences FROM tables;
SELECT * FROM server_reads();
SELECT * FROM frontend_reads();

-- ---- what is changed ----

-- late values; trends of an hour of which there are some, and of others; with TimescaleDB beside
SELECT c.* FROM compare('{T}', ARRAY(SELECT batch(name, k, 77) FROM unnest(names('history')) name, generate_series(3, 120, 30) k)) c;
SELECT c.* FROM compare(names('trends'), ARRAY['update T set num=3,value_min=1,value_avg=2,value_max=3 where itemid=3 and clock=100800',
    'update T set num=4,value_min=1,value_avg=2,value_max=4 where itemid=99 and clock=100800']) c;
SELECT c.* FROM compare('{T}', ARRAY(SELECT batch(name, k) || ' on conflict (itemid,clock) do update set num=EXCLUDED.num,value_min=EXCLUDED.value_min,value_avg=EXCLUDED.value_avg,value_max=EXCLUDED.value_max'
    FROM unnest(names('trends')) name, generate_series(61, 63) k)) c;
SELECT sum(differences(name)) AS differences FROM tables;

-- the housekeeper, of items that there are; "Clear history and trends"
SELECT c.* FROM compare(names(''), '{select itemid\,min(clock) from T group by itemid,delete from T where itemid=6 and clock<120000,delete from T where itemid=6 and clock<120000}') c;
SELECT c.* FROM compare(names(''), '{"DELETE FROM T WHERE itemid IN (7,8)"}') c;
SELECT sum(differences(name)) AS differences FROM tables;

-- and of an item that has gone
SELECT name, delete_item('plain', name, 9) AS plain, delete_item('managed', name, 9) AS managed, differences(name) FROM tables ORDER BY name;
SELECT sum(differences(name)) AS differences FROM tables;
RESET search_path;
DO $$
DECLARE
    t record;
BEGIN
    FOR t IN SELECT name FROM zabbix_8.tables LOOP
        EXECUTE format('DROP TABLE managed.%I CASCADE', t.name);
    END LOOP;
END $$;
DROP SCHEMA plain, managed, zabbix_8 CASCADE;
DO $$ BEGIN PERFORM zbxhist_internal.forget_dropped(); END $$;
DELETE FROM zbxhist.managed_schema WHERE schema_name = 'managed';
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;
RESET zbxhist.allow_packed_drop;
