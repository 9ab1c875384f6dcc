-- sql/packed/compacted_name.sql
--
-- history_p20261120_0000, or the name of its index, becomes history_p20261120 if
-- a day is all in it now, history_p20261120_0000_0959 if ten hours are.

CREATE FUNCTION zbxhist_internal.compacted_name(old_name name, from_clock bigint, to_clock bigint)
RETURNS name
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN to_regclass(format('zbxhist_packed.%I', n.new_name)) IS NULL
                 AND to_regtype(format('zbxhist_packed.%I', n.new_name)) IS NULL
                THEN n.new_name ELSE old_name END
      FROM (SELECT regexp_replace(old_name, '(_p\d{8})_\d{4}(_\d{4})?(_pkey)?$', concat(
                       '\1',
                       CASE WHEN to_clock - from_clock < 86400
                            THEN to_char(to_timestamp(from_clock) AT TIME ZONE 'UTC', '_HH24MI')
                                 || to_char(to_timestamp(to_clock - 60) AT TIME ZONE 'UTC', '_HH24MI') END,
                       '\3'))::name AS new_name) n
$$;

COMMENT ON FUNCTION zbxhist_internal.compacted_name(name, bigint, bigint) IS
'The name that the first of packed tables, or its index, has when the others are in it, too (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.compacted_name(name, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.compacted_name(name, bigint, bigint) TO PUBLIC;
