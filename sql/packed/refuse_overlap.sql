-- sql/packed/refuse_overlap.sql
--
-- Each clock has one place where its rows are looked for.  Partitions that
-- somebody has made by hand may share one; a packed day must not.

CREATE FUNCTION zbxhist_internal.refuse_overlap(parent regclass, partition regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    covered CONSTANT record := zbxhist.partition_bounds(partition);
    other   record;
BEGIN
    SELECT r.relation, r.is_packed INTO other
      FROM zbxhist_internal.list_ranges(parent) r
     WHERE r.relation <> partition
       AND r.from_clock < covered.to_clock AND covered.from_clock < r.to_clock
     ORDER BY r.from_clock LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'partition % is for the same time as %', partition, other.relation
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'No day is packed of which rows may be in two tables.',
                  HINT = $hint$SELECT object, message, hint FROM zbxhist.check() WHERE code = 'overlap';$hint$;
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.refuse_overlap(regclass, regclass) IS
'Raises an error if another partition or packed day has clocks of a partition (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.refuse_overlap(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.refuse_overlap(regclass, regclass) TO pg_database_owner;
