-- sql/zabbix/deletion_clock.sql

CREATE FUNCTION zbxhist_internal.deletion_clock(parent regclass)
RETURNS bigint
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT zbxhist_internal.cutoff_clock(c.parent)
      FROM zbxhist.parent_config c
     WHERE c.parent = deletion_clock.parent AND c.retention_action = 'drop'
$$;

COMMENT ON FUNCTION zbxhist_internal.deletion_clock(regclass) IS
'Rows of a managed table with a clock below this one may be deleted; NULL if none may, because retention detaches partitions or there is none (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.deletion_clock(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.deletion_clock(regclass) TO PUBLIC;
