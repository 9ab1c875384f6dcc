-- sql/migrate/former_name.sql

CREATE FUNCTION zbxhist_internal.former_name(parent regclass)
RETURNS name
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT (k.relname || '_old')::name FROM pg_class k WHERE k.oid = parent
$$;

COMMENT ON FUNCTION zbxhist_internal.former_name(regclass) IS
'The name that a hypertable has when a managed table has taken its place, as with Zabbix''s own upgrades (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.former_name(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.former_name(regclass) TO PUBLIC;
