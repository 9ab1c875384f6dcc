-- sql/partitions/partition_name.sql

CREATE FUNCTION zbxhist_internal.partition_name(
    parent regclass,
    partition_interval interval,
    from_clock bigint,
    to_clock bigint)
RETURNS name
LANGUAGE plpgsql VOLATILE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    relation CONSTANT pg_class := (SELECT k FROM pg_class k WHERE k.oid = parent);
    -- an open lower bound is no moment of the calendar worth a name
    moment   CONSTANT timestamp := timestamp '1970-01-01' + make_interval(secs => from_clock);
    covered  CONSTANT record := zbxhist_internal.clock_range(partition_interval, from_clock);
BEGIN
    RETURN zbxhist_internal.free_name(relation.relnamespace, relation.relname, '_p' || CASE
        WHEN partition_interval >= interval '28 days' AND extract(day FROM partition_interval) = 0
             AND (from_clock, to_clock) = (covered.from_clock, covered.to_clock)
             AND date_trunc('month', moment) = moment THEN to_char(moment, 'YYYYMM')
        WHEN date_trunc('day', moment) = moment
             AND (to_clock - from_clock >= 86400 OR to_clock > 2147483647) THEN to_char(moment, 'YYYYMMDD')
        ELSE to_char(moment, 'YYYYMMDD_HH24MI')
             -- what is left of a day has not the name of its first hour
             || CASE WHEN to_clock - from_clock > extract(epoch FROM partition_interval) AND to_clock - from_clock < 86400
                     THEN to_char(moment + make_interval(secs => to_clock - from_clock - 60), '_HH24MI') ELSE '' END
    END);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.partition_name(regclass, interval, bigint, bigint) IS
'A free name for a new partition in the schema of its parent (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.partition_name(regclass, interval, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.partition_name(regclass, interval, bigint, bigint) TO PUBLIC;
