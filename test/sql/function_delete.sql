-- delete_values and delete_item: the same rows as DELETE, the same number, the same rights.
\a \t
LOAD 'zbxhist';
SET client_min_messages = warning;
CREATE TABLE history (
    itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL,
    ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE trends (
    itemid bigint NOT NULL, clock integer NOT NULL, num integer NOT NULL, PRIMARY KEY (itemid, clock));
SELECT zbxhist.create_parent('history'), zbxhist.create_parent('trends');
SELECT zbxhist.create_partition('history', '1970-01-02'), zbxhist.create_partition('history', '1970-01-03'), zbxhist.create_partition('trends', '1970-01-03');
CREATE PROCEDURE fill() LANGUAGE sql AS $$
    TRUNCATE history, trends;
    INSERT INTO history VALUES
        (1, -2147483648, 1, 0), (1, 0, 2, 0), (1, 86399, 3, 999999999), (1, 86400, 4, 0), (1, 86400, 5, 1), (1, 86400, 6, 2),
        (1, 172799, 7, 999999999), (1, 172800, 8, 0), (1, 2147483647, 9, 999999999), (2, 86400, 10, 1);
    INSERT INTO trends VALUES (1, 0, 1), (1, 172800, 2), (1, 176400, 3), (2, 172800, 4);
$$;
CREATE FUNCTION deleted(clock integer, ns integer, which text, item bigint DEFAULT 1) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    CALL fill();
    n := zbxhist.delete_values('history', item, clock, ns, which);
    RETURN n || ': ' || coalesce((SELECT string_agg(value::text, ' ' ORDER BY itemid, h.clock, h.ns) FROM history h), 'none');
END $$;
SELECT which, deleted(86400, 1, which), deleted(86400, 3, which) AS nobody, deleted(86400, 0, which) AS midnight, deleted(86399, 999999999, which) AS before_midnight
  FROM unnest('{equal,less_or_equal,less,greater_or_equal,greater}'::text[]) which;
SELECT which, deleted(-2147483648, 0, which) AS first, deleted(2147483647, 999999999, which) AS last,
       deleted(-2147483648, -2147483648, which) AS bottom, deleted(2147483647, 2147483647, which) AS top, deleted(86400, 1, which, 99) AS no_item
  FROM unnest('{equal,less_or_equal,less,greater_or_equal,greater}'::text[]) which;
SELECT deleted(86400, 1, 'lesser');
SELECT deleted(86400, 1, NULL), deleted(NULL, 1, 'equal');
-- times
CALL fill();
BEGIN;
SELECT which, zbxhist.delete_values('history', 1, timestamptz '1960-01-01', which) FROM unnest('{equal,less,less_or_equal}'::text[]) which;
SELECT which, zbxhist.delete_values('history', 1, timestamptz '2060-01-01', which) FROM unnest('{equal,greater,greater_or_equal}'::text[]) which;
SELECT zbxhist.delete_values('history', 1, timestamptz '1970-01-02 00:00:00 UTC', 'equal');
SELECT zbxhist.delete_values('history', 1, timestamptz '1970-01-03 00:00:00 UTC', 'greater_or_equal');
SELECT zbxhist.delete_values('history', 1, timestamptz '1970-01-03 00:00:00 UTC', 'less');
ROLLBACK;
-- trends have no ns
SELECT zbxhist.delete_values('trends', 1, 172800, 0, 'greater'), (SELECT array_agg(num ORDER BY num) FROM trends);
SELECT array_agg(num ORDER BY num) FROM trends;
CALL fill();
-- every table; rows of the transaction itself, savepoints
BEGIN;
INSERT INTO history VALUES (1, 86401, 1, 0);
SAVEPOINT a;
SELECT zbxhist.delete_item(1), zbxhist.delete_item(1) AS again, zbxhist.delete_item(99) AS nobody;
SELECT array_agg(value) FROM history;
ROLLBACK TO a;
SELECT zbxhist.delete_item(1);
COMMIT;
SELECT array_agg(value) AS history, (SELECT array_agg(num) FROM trends) AS trends FROM history;

-- read only
BEGIN READ ONLY;
SELECT zbxhist.delete_values('history', 1, 0, 0, 'equal');
ROLLBACK;

-- triggers fire as for DELETE: of the parent, of one partition
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE WARNING '% % % %', TG_WHEN, TG_LEVEL, TG_TABLE_NAME, OLD;
    RETURN OLD;
END $$;
CALL fill();
CREATE TRIGGER tell BEFORE DELETE ON history_p19700103 FOR EACH ROW EXECUTE FUNCTION tell();
SELECT zbxhist.delete_values('history', 1, 86400, 1, 'greater_or_equal');
DROP TRIGGER tell ON history_p19700103;
CREATE TRIGGER tell AFTER DELETE ON history FOR EACH STATEMENT EXECUTE FUNCTION tell();
SELECT zbxhist.delete_values('history', 1, 86400, 0, 'less_or_equal');
SELECT array_agg(value ORDER BY value) FROM history;
DROP TRIGGER tell ON history;
CREATE TRIGGER tell AFTER DELETE ON trends FOR EACH STATEMENT EXECUTE FUNCTION tell();
SELECT zbxhist.delete_values('trends', 1, 172800, 1, 'less'), zbxhist.delete_values('trends', 1, 176400, 1, 'equal'), zbxhist.delete_values('trends', 1, 176400, 0, 'equal');
DROP TRIGGER tell ON trends;
-- a table that is published needs a replica identity
CALL fill();
CREATE TABLE keyless (itemid bigint NOT NULL, clock integer NOT NULL, value text);
SELECT zbxhist.create_parent('keyless');
INSERT INTO keyless VALUES (1, 5, 'five');
SET client_min_messages = error; -- wal_level
CREATE PUBLICATION regress_zbxhist_publication FOR TABLE ONLY keyless;
SET client_min_messages = warning;
SELECT zbxhist.delete_values('keyless', 1, 0, 0, 'greater');
DROP PUBLICATION regress_zbxhist_publication;
SELECT zbxhist.delete_values('keyless', 1, 0, 0, 'greater');

-- rights: to call it, to delete, and to read
CREATE ROLE regress_zbxhist_deleter;
SET ROLE regress_zbxhist_deleter;
SELECT zbxhist.delete_values('history', 1, 0, 0, 'greater');
SELECT zbxhist.delete_item(1);
RESET ROLE;
GRANT EXECUTE ON FUNCTION zbxhist.delete_values(regclass, bigint, integer, integer, text) TO regress_zbxhist_deleter;
SET ROLE regress_zbxhist_deleter;
SELECT zbxhist.delete_values('history', 1, 0, 0, 'greater');
RESET ROLE;
GRANT DELETE ON history TO regress_zbxhist_deleter;
SET ROLE regress_zbxhist_deleter;
SELECT zbxhist.delete_values('history', 1, 0, 0, 'greater');
RESET ROLE;
GRANT SELECT ON history TO regress_zbxhist_deleter;
SET ROLE regress_zbxhist_deleter;
SELECT zbxhist.delete_values('history', 1, 172800, 0, 'greater');
RESET ROLE;
ALTER TABLE history ENABLE ROW LEVEL SECURITY;
SET ROLE regress_zbxhist_deleter;
SELECT zbxhist.delete_values('history', 1, 0, 0, 'greater');
RESET ROLE;
DROP TABLE history, trends, keyless CASCADE;
DROP OWNED BY regress_zbxhist_deleter;
DROP ROLE regress_zbxhist_deleter;

-- random deletes against a plain table
CREATE TABLE plain (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE history (LIKE plain INCLUDING ALL);
SELECT zbxhist.create_parent('history');
SELECT zbxhist.create_partition('history', '1970-01-02'), zbxhist.create_partition('history', '1970-01-04');
CREATE SEQUENCE random_state MINVALUE 0;
CREATE FUNCTION pick(below bigint) RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT ('x' || substr(md5(nextval('random_state')::text), 1, 12))::bit(48)::bigint % below
$$;
DO $$
DECLARE
    item bigint;
    c integer;
    f integer;
    which record;
    expected bigint;
    found bigint;
    differences integer := 0;
    total bigint := 0;
BEGIN
    FOR step IN 1 .. 300 LOOP
        IF step % 30 = 1 THEN
            INSERT INTO plain SELECT pick(3), pick(12) * 43200 + pick(3) - 1, step, pick(3) FROM generate_series(1, 200) ON CONFLICT DO NOTHING;
            INSERT INTO history SELECT * FROM plain EXCEPT SELECT * FROM history;
        END IF;
        item := pick(4); c := pick(12) * 43200 + pick(3) - 1; f := pick(3);
        SELECT * INTO which FROM (VALUES ('equal', '='), ('less_or_equal', '<='), ('less', '<'), ('greater_or_equal', '>='), ('greater', '>')) v(word, op) LIMIT 1 OFFSET CASE pick(3) WHEN 0 THEN pick(5) ELSE 0 END;
        EXECUTE format('DELETE FROM plain WHERE itemid = %s AND (clock, ns) %s (%s, %s)', item, which.op, c, f);
        GET DIAGNOSTICS expected = ROW_COUNT;
        found := zbxhist.delete_values('history', item, c, f, which.word);
        total := total + found;
        IF found <> expected OR EXISTS (SELECT * FROM plain EXCEPT SELECT * FROM history) OR (SELECT count(*) FROM plain) <> (SELECT count(*) FROM history) THEN
            differences := differences + 1;
            RAISE WARNING 'step %: % % % % % instead of %', step, item, which.word, c, f, found, expected;
        END IF;
    END LOOP;
    RAISE WARNING '% rows deleted, % differences', total, differences;
END $$;
DROP TABLE plain, history CASCADE;
DROP SEQUENCE random_state CASCADE;
DROP FUNCTION pick, deleted, tell;
DROP PROCEDURE fill;
