-- sql/migrate/describe_import_triggers.sql

CREATE FUNCTION zbxhist_internal.describe_import_triggers(parent regclass)
RETURNS SETOF text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT format('table %s has the trigger %s: all rows are inserted, so that it is fired, and packed by maintenance later',
                  parent, string_agg(format('"%s"', t.tgname), ', ' ORDER BY t.tgname))
      FROM zbxhist_internal.insert_triggers(parent) t
    HAVING count(*) > 0
$$;

COMMENT ON FUNCTION zbxhist_internal.describe_import_triggers(regclass) IS
'Why the rows of an import are not packed straight away, if triggers are (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.describe_import_triggers(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.describe_import_triggers(regclass) TO PUBLIC;
