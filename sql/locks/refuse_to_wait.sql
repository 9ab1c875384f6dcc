-- sql/locks/refuse_to_wait.sql

CREATE FUNCTION zbxhist_internal.refuse_to_wait(parent regclass, tries integer)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF tries < zbxhist_internal.most_tries(20) THEN
        RETURN;
    END IF;
    RAISE EXCEPTION 'transactions that began earlier may still need rows of table % where they are', parent
        USING ERRCODE = 'object_not_in_prerequisite_state',
              DETAIL = 'Repeat the call when they have ended.  All rows can be read at any time.',
              HINT = zbxhist_internal.long_transactions();
END
$$;

COMMENT ON FUNCTION zbxhist_internal.refuse_to_wait(regclass, integer) IS
'Raises an error when older transactions have been waited for often enough (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.refuse_to_wait(regclass, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.refuse_to_wait(regclass, integer) TO pg_database_owner;
