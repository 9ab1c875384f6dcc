-- sql/maintenance/run_by_hand.sql

CREATE FUNCTION zbxhist_internal.run_by_hand(parent regclass, step text, relation regclass, slice bigint DEFAULT 0)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $$
BEGIN
    PERFORM zbxhist_internal.lock_for_hand(parent);
    RETURN CASE step
        WHEN 'pack' THEN zbxhist_internal.pack_partition(parent, relation)
        WHEN 'repack' THEN zbxhist_internal.repack_day(parent, relation)
        WHEN 'compact' THEN zbxhist_internal.compact_by_hand(parent, relation)
        WHEN 'unpack' THEN zbxhist_internal.step_unpack(parent, relation)
        WHEN 'import' THEN zbxhist_internal.step_import(relation, parent, slice)
        WHEN 'salvage' THEN zbxhist_internal.step_unpack(parent, relation, true)
    END;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.run_by_hand(regclass, text, regclass, bigint) IS
'Runs a step of packing, unpacking or an import for somebody who is told what goes wrong (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.run_by_hand(regclass, text, regclass, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.run_by_hand(regclass, text, regclass, bigint) TO pg_database_owner;
