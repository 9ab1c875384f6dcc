-- sql/partitions/create_place.sql
--
-- A whole day ahead is a partition in any case: nothing is stored there before
-- it is split.

CREATE FUNCTION zbxhist_internal.create_place(parent regclass, from_clock bigint, to_clock bigint)
RETURNS regclass
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN to_clock - from_clock <= extract(epoch FROM c.partition_interval)
                     AND to_clock > zbxhist_internal.current_clock()
                     AND zbxhist_internal.takes_runs(c.parent)
                THEN zbxhist_internal.create_runs(parent, from_clock, to_clock)
                ELSE zbxhist_internal.create_range(parent, from_clock, to_clock) END
      FROM zbxhist.parent_config c
     WHERE c.parent = create_place.parent
$$;

COMMENT ON FUNCTION zbxhist_internal.create_place(regclass, bigint, bigint) IS
'Creates what takes the new values of a range of clocks by the policy: a partition, or a table of runs (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.create_place(regclass, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.create_place(regclass, bigint, bigint) TO pg_database_owner;
