-- sql/setup/verify_not_in_other_care.sql
--
-- The catalogs of TimescaleDB and pg_partman are looked at only if they are
-- there, so nothing here depends on them; and only if they are tables of those
-- extensions: anybody could have a view of such a name.

CREATE FUNCTION zbxhist_internal.verify_not_in_other_care(parent regclass)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    table_schema name;
    table_name   name;
    catalog      regclass;
BEGIN
    SELECT n.nspname, k.relname INTO table_schema, table_name
      FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace
     WHERE k.oid = parent;
    IF parent IN (SELECT zbxhist_internal.hypertables()) THEN
        RAISE EXCEPTION 'cannot manage %: it is a TimescaleDB hypertable', parent
            USING ERRCODE = 'wrong_object_type',
                  HINT = format('CALL zbxhist.adopt_hypertable(%L);', parent);
    END IF;
    catalog := zbxhist_internal.catalog_of('pg_partman', 'part_config');
    IF zbxhist_internal.stored_setting(catalog, 'parent_table', 'parent_table',
                                       table_schema || '.' || table_name) IS NOT NULL THEN
        RAISE EXCEPTION 'cannot manage %: it is in the care of pg_partman', parent
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'Take it out first.  Its partitions, if there are any, have to become one table again.',
                  HINT = format('DELETE FROM %s WHERE parent_table = %L;', catalog, table_schema || '.' || table_name);
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.verify_not_in_other_care(regclass) IS
'Raises an error if TimescaleDB or pg_partman looks after the table (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.verify_not_in_other_care(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.verify_not_in_other_care(regclass) TO PUBLIC;
