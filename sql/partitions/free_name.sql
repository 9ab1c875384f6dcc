-- sql/partitions/free_name.sql
--
-- A table that another transaction has not committed yet is not in the catalogs,
-- but its name must not be taken a second time.  So who takes a name locks it,
-- and one that is locked is not free: nobody waits.  What its last holder has
-- committed is seen, whatever the transaction's snapshot is.

CREATE FUNCTION zbxhist_internal.free_name(schema regnamespace, stem text, ending text DEFAULT '')
RETURNS name
LANGUAGE plpgsql VOLATILE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    tail    text := ending;
    attempt integer := 0;
BEGIN
    LOOP
        WHILE octet_length(stem) + octet_length(tail) > 63 LOOP
            stem := left(stem, -1);
        END LOOP;
        IF pg_try_advisory_xact_lock(hashtextextended(stem || tail, schema::oid::bigint)) THEN
            EXIT WHEN to_regclass(format('%s.%I', schema, stem || tail)) IS NULL
                  AND to_regtype(format('%s.%I', schema, stem || tail)) IS NULL;
        END IF;
        attempt := attempt + 1;
        tail := ending || '_' || attempt;
    END LOOP;
    RETURN (stem || tail)::name;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.free_name(regnamespace, text, text) IS
'A name that is free in a schema, for a relation and its row type: as much of a stem as there is room for, an ending, and a number after it if need be; nobody else is given it until the transaction ends (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.free_name(regnamespace, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.free_name(regnamespace, text, text) TO PUBLIC;
