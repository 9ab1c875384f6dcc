-- sql/partitions/overlapping.sql
--
-- A table that is for the time of many others is the one cause, not they.  Of a
-- partition and a packed day, it is the partition that is in the way.

CREATE FUNCTION zbxhist_internal.overlapping(parent regclass)
RETURNS TABLE (relation regclass, others regclass[], is_packed boolean, from_clock bigint)
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    first  regclass[];
    second regclass[];
BEGIN
    SELECT array_agg(a.relation ORDER BY a.from_clock, b.from_clock), array_agg(b.relation ORDER BY a.from_clock, b.from_clock)
      INTO first, second
      FROM zbxhist_internal.list_ranges(parent) a
      JOIN zbxhist_internal.list_ranges(parent) b
        ON b.from_clock < a.to_clock AND a.from_clock < b.to_clock
       AND (NOT a.is_packed, a.from_clock, a.relation::oid) < (NOT b.is_packed, b.from_clock, b.relation::oid)
     WHERE NOT EXISTS (SELECT FROM zbxhist.packed_day d
                        WHERE d.day = a.relation AND d.partition = b.relation);
    WHILE cardinality(first) > 0 LOOP
        SELECT p.one, array_agg(p.other ORDER BY p.place), r.is_packed, r.from_clock
          INTO relation, others, is_packed, from_clock
          FROM (SELECT u.a AS one, u.b AS other, u.place FROM unnest(first, second) WITH ORDINALITY u (a, b, place)
                UNION ALL
                SELECT u.b, u.a, u.place FROM unnest(first, second) WITH ORDINALITY u (a, b, place)) p
          JOIN zbxhist_internal.list_ranges(parent) r ON r.relation = p.one
         GROUP BY p.one, r.is_packed, r.from_clock
         ORDER BY count(*) DESC, r.is_packed, r.from_clock DESC, p.one::oid DESC
         LIMIT 1;
        RETURN NEXT;
        SELECT array_agg(u.a ORDER BY u.place), array_agg(u.b ORDER BY u.place) INTO first, second
          FROM unnest(first, second) WITH ORDINALITY u (a, b, place)
         WHERE relation NOT IN (u.a, u.b);
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.overlapping(regclass) IS
'The partitions and packed days that are in the way of others, and of which: those first that are in the way of most (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.overlapping(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.overlapping(regclass) TO PUBLIC;
