-- sql/parent_rows/stored_values.sql

CREATE FUNCTION zbxhist_internal.stored_values(
    parent regclass,
    OUT values_routed bigint,
    OUT values_kept bigint,
    OUT batches bigint,
    OUT values_fast bigint)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    SELECT c.values_routed, c.values_kept, c.batches, c.values_fast
      INTO values_routed, values_kept, batches, values_fast
      FROM zbxhist_internal.counters() c WHERE c.parent = stored_values.parent;
    IF NOT FOUND THEN
        SELECT sum(pg_stat_get_tuples_inserted(p.partition))::bigint INTO values_routed
          FROM zbxhist.list_partitions(parent) p;
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.stored_values(regclass) IS
'Values sent to the partitions of a managed table, kept in it, batches, and values planned as fast inserts, since the server started; where the server does not count them, the rows inserted into partitions as the statistics have it (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.stored_values(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.stored_values(regclass) TO PUBLIC;
