-- sql/packed/verify.sql

CREATE FUNCTION zbxhist.verify(parent regclass)
RETURNS TABLE (day regclass, itemid bigint, clock integer, problem text)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM zbxhist_internal.require_parent(parent);
    RETURN QUERY
        SELECT d.day, v.itemid, v.clock, v.problem
          FROM zbxhist.packed_day d
          JOIN pg_class k ON k.oid = d.day
         CROSS JOIN LATERAL zbxhist_internal.verify_day(d.day) v
         WHERE d.parent = verify.parent
         ORDER BY d.from_clock;
END
$$;

COMMENT ON FUNCTION zbxhist.verify(regclass) IS
'Looks through all packed days of a managed table: checksums, and statistics against values; no rows when all is well';

REVOKE ALL ON FUNCTION zbxhist.verify(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.verify(regclass) TO pg_database_owner;
