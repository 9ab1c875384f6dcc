-- sql/packed/ranges_to_compact.sql

CREATE FUNCTION zbxhist_internal.ranges_to_compact(parent regclass, day date)
RETURNS regclass[]
LANGUAGE plpgsql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy   CONSTANT zbxhist.parent_config := zbxhist_internal.require_parent(parent);
    midnight CONSTANT bigint := zbxhist_internal.day_clock(day);
    looking  CONSTANT text := format('SELECT * FROM zbxhist.partitions WHERE parent = %L::regclass;', parent);
    result   regclass[];
    present  integer;
BEGIN
    IF NOT policy.routing THEN
        RAISE EXCEPTION 'table % is being turned back into a plain table', parent
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'To stay with zbxhist, call zbxhist.create_parent instead.',
                  HINT = format('CALL zbxhist.undo(%L);', parent);
    END IF;
    result := ARRAY(SELECT c.days[1] FROM zbxhist_internal.compactable_days(parent, true) c
                     WHERE c.from_clock >= midnight AND c.to_clock <= midnight + 86400);
    IF cardinality(result) > 0 THEN
        RETURN result;
    END IF;
    SELECT count(*) INTO present FROM zbxhist.packed_day d
     WHERE d.parent = ranges_to_compact.parent AND NOT d.runs
       AND d.to_clock > midnight AND d.from_clock < midnight + 86400;
    IF present = 0 THEN
        RAISE EXCEPTION '% of table % is not packed', to_char(day, 'YYYY-MM-DD'), parent
            USING ERRCODE = 'object_not_in_prerequisite_state', HINT = looking;
    ELSIF present = 1 THEN
        RAISE NOTICE 'what is packed of % of table % is in one table already', to_char(day, 'YYYY-MM-DD'), parent;
        RETURN result;
    END IF;
    RAISE EXCEPTION 'no two packed tables of % of table % can be made one', to_char(day, 'YYYY-MM-DD'), parent
        USING ERRCODE = 'object_not_in_prerequisite_state',
              DETAIL = 'They must follow each other without a gap, have the same columns and belong to the owner of the table.',
              HINT = looking;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.ranges_to_compact(regclass, date) IS
'The first tables of those parts of a UTC day that can be made one each; raises an error if none can be, or nothing is packed (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.ranges_to_compact(regclass, date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.ranges_to_compact(regclass, date) TO PUBLIC;
