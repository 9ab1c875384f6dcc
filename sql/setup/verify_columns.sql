-- sql/setup/verify_columns.sql

CREATE FUNCTION zbxhist_internal.verify_columns(parent regclass)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wanted record;
    actual record;
BEGIN
    FOR wanted IN
        SELECT * FROM (VALUES ('itemid'::name, 'bigint'::regtype),
                              ('clock', 'integer')) AS v (name, type)
    LOOP
        SELECT a.atttypid::regtype AS type, a.attnotnull, a.attgenerated INTO actual
          FROM pg_attribute a
         WHERE a.attrelid = parent AND a.attname = wanted.name
           AND a.attnum > 0 AND NOT a.attisdropped;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'table % has no column "%"', parent, wanted.name
                USING ERRCODE = 'undefined_column',
                      HINT = 'zbxhist manages tables shaped like Zabbix history: itemid bigint, clock integer and values.';
        END IF;
        IF actual.type <> wanted.type THEN
            RAISE EXCEPTION 'column "%" of table % is of type %, not %',
                            wanted.name, parent, actual.type, wanted.type
                USING ERRCODE = 'datatype_mismatch',
                      HINT = 'zbxhist manages tables shaped like Zabbix history: itemid bigint, clock integer and values.';
        END IF;
        IF NOT actual.attnotnull THEN
            RAISE EXCEPTION 'column "%" of table % can be null', wanted.name, parent
                USING ERRCODE = 'datatype_mismatch',
                      HINT = format('ALTER TABLE %s ALTER COLUMN %I SET NOT NULL;', parent, wanted.name);
        END IF;
        IF actual.attgenerated <> '' THEN
            RAISE EXCEPTION 'column "%" of table % is generated', wanted.name, parent
                USING ERRCODE = 'feature_not_supported';
        END IF;
    END LOOP;
    IF EXISTS (SELECT FROM pg_constraint c
                WHERE c.conrelid = parent AND c.conname = 'zbxhist_clock') THEN
        RAISE EXCEPTION 'table % has a constraint of its own named "zbxhist_clock"', parent
            USING ERRCODE = 'duplicate_object',
                  HINT = format('ALTER TABLE %s DROP CONSTRAINT zbxhist_clock;', parent);
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.verify_columns(regclass) IS
'Raises an error unless the table has the columns itemid and clock as Zabbix has them (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.verify_columns(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.verify_columns(regclass) TO PUBLIC;
