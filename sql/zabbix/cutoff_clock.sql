-- sql/zabbix/cutoff_clock.sql

CREATE FUNCTION zbxhist_internal.cutoff_clock(parent regclass)
RETURNS bigint
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT zbxhist_internal.clock_before(r.retention)
      FROM zbxhist.parent_config c,
           zbxhist_internal.effective_retention(c.parent, c.retention) r
     WHERE c.parent = cutoff_clock.parent
$$;

COMMENT ON FUNCTION zbxhist_internal.cutoff_clock(regclass) IS
'Rows of a managed table with a clock below this one are past retention; NULL if none ever is (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.cutoff_clock(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.cutoff_clock(regclass) TO PUBLIC;
