-- sql/migrate/release_hypertable.sql
--
-- For what Zabbix has as a hypertable and zbxhist does not manage: auditlog.

CREATE FUNCTION zbxhist.release_hypertable(hypertable regclass)
RETURNS regclass
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $$
BEGIN
    PERFORM zbxhist_internal.verify_hypertable(hypertable);
    PERFORM zbxhist_internal.lock_with_patience(hypertable);
    RETURN zbxhist_internal.replace_hypertable(hypertable, NULL, true);
END
$$;

COMMENT ON FUNCTION zbxhist.release_hypertable(regclass) IS
'Makes a plain table of a TimescaleDB hypertable, by copying its rows while it is locked, and returns it';

REVOKE ALL ON FUNCTION zbxhist.release_hypertable(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.release_hypertable(regclass) TO pg_database_owner;
