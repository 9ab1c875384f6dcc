-- sql/setup/hypertables.sql
--
-- The catalog is a superuser's, or it is none of TimescaleDB.  It lists the tables
-- of compressed rows, too.

CREATE FUNCTION zbxhist_internal.hypertables()
RETURNS SETOF regclass
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    catalog CONSTANT regclass := zbxhist_internal.catalog_of('timescaledb', 'hypertable');
BEGIN
    IF EXISTS (SELECT FROM pg_class k JOIN pg_roles r ON r.oid = k.relowner
                WHERE k.oid = catalog AND r.rolsuper) THEN
        RETURN QUERY EXECUTE format(
            'SELECT k.oid::regclass FROM %s h'
            '  JOIN pg_namespace n ON n.nspname = h.schema_name'
            '  JOIN pg_class k ON k.relnamespace = n.oid AND k.relname = h.table_name'
            ' WHERE n.nspname !~ ''^_timescaledb''', catalog);
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.hypertables() IS
'The hypertables of TimescaleDB in this database; none if the caller may not read its catalog (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.hypertables() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.hypertables() TO PUBLIC;
