-- sql/partitions/expired_partitions.sql

CREATE FUNCTION zbxhist_internal.expired_partitions(parent regclass)
RETURNS SETOF regclass
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT p.partition
      FROM zbxhist_internal.cutoff_clock(parent) AS cutoff,
           zbxhist.list_partitions(parent) p
     WHERE p.to_clock <= cutoff
     ORDER BY p.from_clock
$$;

COMMENT ON FUNCTION zbxhist_internal.expired_partitions(regclass) IS
'The partitions whose whole range is past retention, oldest first (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.expired_partitions(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.expired_partitions(regclass) TO PUBLIC;
