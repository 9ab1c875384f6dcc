-- sql/packed/compacted_name.sql
--
-- As if it had been packed so: history_p20261120_0000 becomes history_p20261120
-- if a day is all in it now, history_p20261120_0000_0959 if ten hours are.  The
-- number that it may have behind that, since names met, is chosen anew.

CREATE FUNCTION zbxhist_internal.compacted_name(old_name name, from_clock bigint, to_clock bigint)
RETURNS name
LANGUAGE sql VOLATILE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT zbxhist_internal.free_name('zbxhist_packed'::regnamespace,
               regexp_replace(old_name, '(_p\d{8})_\d{4}(_\d{4})?(_\d{1,3})?$', concat(
                   '\1',
                   CASE WHEN to_clock - from_clock < 86400
                        THEN to_char(to_timestamp(from_clock) AT TIME ZONE 'UTC', '_HH24MI')
                             || to_char(to_timestamp(to_clock - 60) AT TIME ZONE 'UTC', '_HH24MI') END)))
$$;

COMMENT ON FUNCTION zbxhist_internal.compacted_name(name, bigint, bigint) IS
'A free name for the table that takes the place of packed tables, by that of the first (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.compacted_name(name, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.compacted_name(name, bigint, bigint) TO PUBLIC;
