-- sql/packed/partitions_to_pack.sql
--
-- Some of a day's partitions may be packed already, or not be over yet.

CREATE FUNCTION zbxhist_internal.partitions_to_pack(parent regclass, day date)
RETURNS regclass[]
LANGUAGE plpgsql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy  CONSTANT zbxhist.parent_config := zbxhist_internal.require_parent(parent);
    runs    CONSTANT regclass[] := ARRAY(SELECT d.day FROM zbxhist.packed_day d
                                          WHERE d.parent = partitions_to_pack.parent AND d.runs);
    covered record;
    problem text;
    result  regclass[] := '{}';
BEGIN
    IF NOT policy.routing THEN
        RAISE EXCEPTION 'table % is being turned back into a plain table', parent
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'To stay with zbxhist, call zbxhist.create_parent instead.',
                  HINT = format('CALL zbxhist.undo(%L);', parent);
    END IF;
    SELECT coalesce(array_agg(r.relation ORDER BY r.from_clock), '{}') INTO result
      FROM zbxhist_internal.ranges_of_day(parent, day) r
     WHERE (NOT r.is_packed OR r.relation = ANY (runs)) AND r.to_clock <= zbxhist_internal.current_clock()
       AND NOT EXISTS (SELECT FROM zbxhist.packed_day d
                        WHERE d.parent = partitions_to_pack.parent
                          AND d.day <> r.relation
                          AND d.from_clock < r.to_clock AND d.to_clock > r.from_clock)
       AND (r.is_packed OR zbxhist_internal.not_packable(parent, r.relation) IS NULL);
    IF result <> '{}' THEN
        RETURN result;
    END IF;
    SELECT * INTO covered FROM zbxhist_internal.ranges_of_day(parent, day) r
     ORDER BY r.is_packed DESC, r.from_clock LIMIT 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'table % has no partition for %', parent, to_char(day, 'YYYY-MM-DD')
            USING ERRCODE = 'undefined_table',
                  HINT = format('SELECT * FROM zbxhist.partitions WHERE parent = %L::regclass;', parent);
    END IF;
    IF covered.is_packed AND covered.relation <> ALL (runs) THEN
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
    RAISE EXCEPTION 'partition % cannot be packed', covered.relation
        USING ERRCODE = 'feature_not_supported',
              DETAIL = zbxhist_internal.not_packable(parent, covered.relation);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.partitions_to_pack(regclass, date) IS
'The partitions of a day that can be packed; an error if there are none (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.partitions_to_pack(regclass, date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.partitions_to_pack(regclass, date) TO PUBLIC;
