-- sql/packed/altered_days.sql
--
-- Rows that wait for such a day can be merged only after it has been packed
-- anew.  Until then it takes all its space, so a run does that to few.

CREATE FUNCTION zbxhist_internal.altered_days(parent regclass)
RETURNS SETOF regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    max_rows CONSTANT bigint := 10000000;
    altered  regclass[];
BEGIN
    IF zbxhist_internal.own_pages(parent) = 0 OR zbxhist_internal.why_not_packable(parent) IS NOT NULL THEN
        RETURN;
    END IF;
    altered := ARRAY(
        SELECT d.day
          FROM zbxhist.parent_config c
          JOIN zbxhist.packed_day d ON d.parent = c.parent
          JOIN pg_class p ON p.oid = c.parent
          JOIN pg_class k ON k.oid = d.day AND k.relowner = p.relowner
         WHERE c.parent = altered_days.parent AND c.routing AND d.partition IS NULL
           AND d.to_clock <= zbxhist_internal.clock_before(c.pack_after)
           AND NOT zbxhist_internal.has_same_columns(c.parent, d.day));
    IF altered <> '{}' THEN
        RETURN QUERY
            SELECT w.day
              FROM (SELECT d.day, d.from_clock,
                           coalesce(sum(d.nrows) OVER (ORDER BY d.from_clock DESC
                                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
                      FROM zbxhist_internal.waiting_days(parent) AS t (day)
                      JOIN zbxhist.packed_day d ON d.day = t.day
                     WHERE d.day = ANY (altered)) w
             WHERE w.before < max_rows
             ORDER BY w.from_clock DESC;
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.altered_days(regclass) IS
'The packed days from before a change of columns whose rows wait in the parent, which one run of maintenance unpacks, and packs again (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.altered_days(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.altered_days(regclass) TO PUBLIC;
