-- sql/maintenance/step_replace.sql
--
-- A table of runs is read as packed days are: who reads one may come to it next.

CREATE FUNCTION zbxhist_internal.step_replace(parent regclass, place regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    label   CONSTANT text := place::text;
    covered record;
    made    regclass;
    waited  interval;
BEGIN
    PERFORM zbxhist_internal.require_parent(parent);
    -- another run may have done it, or its time has come
    IF NOT EXISTS (SELECT FROM zbxhist_internal.places_to_replace(parent) p WHERE p = place) THEN
        RETURN 'done';
    END IF;
    SELECT * INTO STRICT covered FROM zbxhist_internal.list_ranges(parent) r WHERE r.relation = place;
    PERFORM zbxhist_internal.wait_for_readers(place, zbxhist_internal.short_lock_timeout());
    made := zbxhist_internal.create_place(parent, covered.from_clock, covered.to_clock);
    waited := zbxhist_internal.lock_with_patience(VARIADIC CASE WHEN covered.is_packed
        THEN ARRAY[zbxhist_internal.packed_table(parent), place] ELSE ARRAY[place] END);
    IF zbxhist_internal.own_pages(place) > 0 THEN
        RAISE EXCEPTION 'rows have just been stored in %: it stays as it is', place
            USING ERRCODE = 'object_in_use';
    END IF;
    DELETE FROM zbxhist.packed_day d WHERE d.day = place;
    PERFORM zbxhist_internal.execute_as_owner(parent, format('DROP TABLE %s', place));
    PERFORM zbxhist_internal.invalidate(parent);
    PERFORM zbxhist_internal.log_action(parent, 'replace', label, NULL, NULL, started, waited, NULL,
                                        format('%s in its place', made));
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_replace(regclass, regclass) IS
'Maintenance: puts a table of runs in the place of an empty partition to come, or the other way round (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_replace(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_replace(regclass, regclass) TO pg_database_owner;
