-- sql/packed/drop_packed_day.sql
--
-- Who is reading packed days may come to this one next, so they are locked out
-- of all of them for the moment that the drop takes.

CREATE FUNCTION zbxhist_internal.drop_packed_day(parent regclass, day regclass)
RETURNS interval
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    allowed CONSTANT integer := zbxhist_internal.short_lock_timeout();
    packed  CONSTANT regclass := zbxhist_internal.packed_table(parent);
    waited  interval := '0';
BEGIN
    IF packed IS NOT NULL THEN
        PERFORM zbxhist_internal.wait_for_readers(packed, allowed);
        PERFORM zbxhist_internal.lock_patiently(day);
        waited := zbxhist_internal.lock_exclusively(packed, allowed);
    END IF;
    waited := waited + zbxhist_internal.lock_exclusively(day, allowed);
    -- what is listed is guarded
    DELETE FROM zbxhist.packed_day d WHERE d.day = drop_packed_day.day;
    PERFORM zbxhist_internal.execute_as_owner(parent, format('DROP TABLE %s', day));
    PERFORM zbxhist_internal.invalidate(parent);
    RETURN waited;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.drop_packed_day(regclass, regclass) IS
'Drops a packed day and returns the time that it waited for locks (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.drop_packed_day(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.drop_packed_day(regclass, regclass) TO pg_database_owner;
