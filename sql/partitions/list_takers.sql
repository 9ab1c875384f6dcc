-- sql/partitions/list_takers.sql

CREATE FUNCTION zbxhist_internal.list_takers(parent regclass)
RETURNS TABLE (relation regclass, from_clock bigint, to_clock bigint)
LANGUAGE sql STABLE STRICT PARALLEL SAFE ROWS 30
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT p.partition, p.from_clock, p.to_clock
      FROM zbxhist.list_partitions(parent) p
     UNION ALL
    SELECT d.day, d.from_clock, d.to_clock
      FROM zbxhist.packed_day d
     WHERE d.parent = list_takers.parent AND d.runs
$$;

COMMENT ON FUNCTION zbxhist_internal.list_takers(regclass) IS
'What takes the rows of an INSERT into a managed table: its partitions and tables of runs, with their clock ranges (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.list_takers(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.list_takers(regclass) TO pg_database_owner;
