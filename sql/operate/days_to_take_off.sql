-- sql/operate/days_to_take_off.sql

CREATE FUNCTION zbxhist_internal.days_to_take_off(
    parent regclass,
    day date,
    OUT relations regclass[],
    OUT from_clock bigint,
    OUT to_clock bigint,
    OUT is_wider boolean,
    OUT detail text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy   CONSTANT zbxhist.parent_config := zbxhist_internal.require_parent(parent);
    midnight CONSTANT bigint := zbxhist_internal.day_clock(day);
    found    record;
    own      bigint;
BEGIN
    IF NOT policy.routing THEN
        RAISE EXCEPTION 'table % is being turned back into a plain table', parent
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'To stay with zbxhist, call zbxhist.create_parent instead.',
                  HINT = format('CALL zbxhist.undo(%L);', parent);
    END IF;
    SELECT coalesce(array_agg(r.relation ORDER BY r.from_clock, r.is_packed), '{}') AS relations,
           least(min(r.from_clock), midnight) AS from_clock, greatest(max(r.to_clock), midnight + 86400) AS to_clock,
           count(*) FILTER (WHERE NOT r.is_packed) AS partitions, count(*) FILTER (WHERE r.is_packed) AS packed,
           coalesce(sum(CASE WHEN d.runs THEN pg_relation_size(r.relation) / 10
                             WHEN d.unpacked THEN 0
                             ELSE coalesce(d.nrows, zbxhist_internal.probable_rows(r.relation)) END), 0)::bigint AS rows,
           coalesce(sum(pg_total_relation_size(r.relation)), 0) AS bytes
      INTO found
      FROM zbxhist_internal.ranges_of_day(parent, day) r
      LEFT JOIN zbxhist.packed_day d ON d.day = r.relation
      JOIN pg_class k ON k.oid = r.relation;
    IF found.to_clock > zbxhist_internal.current_clock() THEN
        RAISE EXCEPTION '% of table % is not over yet', to_char(day, 'YYYY-MM-DD'), parent
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = format('Values up to %s are stored in its partitions.',
                                  zbxhist_internal.format_time(to_timestamp(found.to_clock)));
    END IF;
    own := zbxhist_internal.count_waiting(parent, found.from_clock, found.to_clock);
    IF found.relations = '{}' AND own = 0 THEN
        RAISE EXCEPTION 'table % has nothing of %', parent, to_char(day, 'YYYY-MM-DD')
            USING ERRCODE = 'undefined_table',
                  HINT = format('SELECT * FROM zbxhist.partitions WHERE parent = %L::regclass;', parent);
    END IF;
    relations := found.relations;
    from_clock := found.from_clock;
    to_clock := found.to_clock;
    is_wider := from_clock < midnight OR to_clock > midnight + 86400;
    detail := format('from %s to %s: %s partitions and %s packed days with about %s rows, %s; %s rows in the table itself',
                     zbxhist_internal.format_time(to_timestamp(from_clock)), zbxhist_internal.format_time(to_timestamp(to_clock)),
                     found.partitions, found.packed, found.rows, pg_size_pretty(found.bytes),
                     coalesce(own::text, 'an unknown number of'));
END
$$;

COMMENT ON FUNCTION zbxhist_internal.days_to_take_off(regclass, date) IS
'The partitions and packed days that have values of a UTC day, their range of clocks, whether that is more than the day, and what they hold, in words; an error if the day is not over, or has nothing (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.days_to_take_off(regclass, date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.days_to_take_off(regclass, date) TO pg_database_owner;
