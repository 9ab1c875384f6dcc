-- sql/setup/column_problem.sql

CREATE FUNCTION zbxhist_internal.column_problem(parent regclass, OUT problem text, OUT state text, OUT remedy text)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wanted record;
    actual record;
BEGIN
    remedy := 'zbxhist manages tables shaped like Zabbix history: itemid bigint, clock integer and values.';
    FOR wanted IN
        SELECT * FROM (VALUES ('itemid'::name, 'bigint'::regtype),
                              ('clock', 'integer')) AS v (name, type)
    LOOP
        SELECT a.atttypid::regtype AS type, a.attnotnull, a.attgenerated INTO actual
          FROM pg_attribute a
         WHERE a.attrelid = parent AND a.attname = wanted.name
           AND a.attnum > 0 AND NOT a.attisdropped;
        IF NOT FOUND THEN
            problem := format('table %s has no column "%s"', parent, wanted.name);
            state := '42703';
            RETURN;
        END IF;
        IF actual.type <> wanted.type THEN
            problem := format('column "%s" of table %s is of type %s, not %s',
                              wanted.name, parent, actual.type, wanted.type);
            state := '42804';
            RETURN;
        END IF;
        IF NOT actual.attnotnull THEN
            problem := format('column "%s" of table %s can be null', wanted.name, parent);
            state := '42804';
            remedy := format('ALTER TABLE %s ALTER COLUMN %I SET NOT NULL;', parent, wanted.name);
            RETURN;
        END IF;
        IF actual.attgenerated <> '' THEN
            problem := format('column "%s" of table %s is generated', wanted.name, parent);
            state := '0A000';
            RETURN;
        END IF;
    END LOOP;
    IF EXISTS (SELECT FROM pg_constraint c
                WHERE c.conrelid = parent AND c.conname = 'zbxhist_clock') THEN
        problem := format('table %s has a constraint of its own named "zbxhist_clock"', parent);
        state := '42710';
        remedy := format('ALTER TABLE %s DROP CONSTRAINT zbxhist_clock;', parent);
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.column_problem(regclass) IS
'Why a table has not the columns itemid and clock as Zabbix has them, with the code of that error and what mends it; NULL if it has them (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.column_problem(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.column_problem(regclass) TO PUBLIC;
