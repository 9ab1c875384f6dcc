-- sql/migrate/open_slices.sql
--
-- The newest first: what people look at.

CREATE FUNCTION zbxhist_internal.open_slices(source regclass, parent regclass)
RETURNS bigint[]
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ARRAY(SELECT s.from_clock FROM zbxhist.import_slice s
                  WHERE s.parent = open_slices.parent AND s.source = open_slices.source AND s.compared_at IS NULL
                  ORDER BY s.from_clock DESC)
$$;

COMMENT ON FUNCTION zbxhist_internal.open_slices(regclass, regclass) IS
'Where the slices of an import begin that are not done and compared (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.open_slices(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.open_slices(regclass, regclass) TO pg_database_owner;
