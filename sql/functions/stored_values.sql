-- sql/functions/stored_values.sql

CREATE FUNCTION zbxhist.stored_values(
    parent regclass,
    OUT values_routed bigint,
    OUT values_kept bigint,
    OUT batches bigint)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    SELECT c.values_routed, c.values_kept, c.batches
      INTO values_routed, values_kept, batches
      FROM zbxhist.counters() c WHERE c.parent = stored_values.parent;
    IF NOT FOUND THEN
        SELECT sum(pg_stat_get_tuples_inserted(p.partition))::bigint INTO values_routed
          FROM zbxhist.list_partitions(parent) p;
        values_kept := pg_stat_get_tuples_inserted(parent);
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist.stored_values(regclass) IS
'Values sent to the partitions of a managed table, kept in it, and batches: as counted since the server started, else what the statistics have, without batches';

REVOKE ALL ON FUNCTION zbxhist.stored_values(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.stored_values(regclass) TO PUBLIC;
