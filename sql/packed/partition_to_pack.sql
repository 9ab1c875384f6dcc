-- sql/packed/partition_to_pack.sql

CREATE FUNCTION zbxhist_internal.partition_to_pack(parent regclass, day date)
RETURNS regclass
LANGUAGE plpgsql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy  CONSTANT zbxhist.parent_config := zbxhist_internal.require_parent(parent);
    moment  CONSTANT numeric := zbxhist_internal.day_clock(day);
    covered record;
    problem text;
BEGIN
    IF NOT policy.routing THEN
        RAISE EXCEPTION 'table % is being turned back into a plain table', parent
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'To stay with zbxhist, call zbxhist.create_parent instead.',
                  HINT = format('CALL zbxhist.undo(%L);', parent);
    END IF;
    SELECT * INTO covered FROM zbxhist_internal.list_ranges(parent) r
     WHERE moment >= r.from_clock AND moment < r.to_clock
     ORDER BY r.is_packed DESC LIMIT 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'table % has no partition for %', parent, to_char(day, 'YYYY-MM-DD')
            USING ERRCODE = 'undefined_table',
                  HINT = format('SELECT * FROM zbxhist.partitions WHERE parent = %L::regclass;', parent);
    END IF;
    IF covered.is_packed THEN
        RAISE EXCEPTION '% of table % is packed already', to_char(day, 'YYYY-MM-DD'), parent
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = format('Its table is %s.', covered.relation);
    END IF;
    IF covered.to_clock > zbxhist_internal.current_clock() THEN
        RAISE EXCEPTION 'partition % is not closed yet', covered.relation
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = format('Its time ends at %s.', zbxhist_internal.format_time(to_timestamp(covered.to_clock))),
                  HINT = 'Only a partition whose time has gone by can be packed.';
    END IF;
    problem := zbxhist_internal.not_packable(parent, covered.relation);
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'partition % cannot be packed', covered.relation
            USING ERRCODE = 'feature_not_supported', DETAIL = problem;
    END IF;
    RETURN covered.relation;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.partition_to_pack(regclass, date) IS
'The partition in which a UTC day begins; raises an error unless it can be packed (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.partition_to_pack(regclass, date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.partition_to_pack(regclass, date) TO PUBLIC;
