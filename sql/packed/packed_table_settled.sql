-- sql/packed/packed_table_settled.sql
--
-- A statement that was planned before the foreign table was there would miss
-- a day that is packed while it runs.

CREATE FUNCTION zbxhist_internal.packed_table_settled(parent regclass, packed regclass)
RETURNS boolean
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    present CONSTANT text[] := zbxhist_internal.running_transactions();
    state   zbxhist.parent_state;
BEGIN
    INSERT INTO zbxhist.parent_state (parent) VALUES (parent) ON CONFLICT DO NOTHING;
    SELECT * INTO STRICT state FROM zbxhist.parent_state s
     WHERE s.parent = packed_table_settled.parent;
    IF state.packed_table IS DISTINCT FROM packed THEN
        UPDATE zbxhist.parent_state s SET packed_table = packed, packed_settling = present
         WHERE s.parent = packed_table_settled.parent;
        RETURN cardinality(present) = 0;
    END IF;
    RETURN NOT state.packed_settling && present;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.packed_table_settled(regclass, regclass) IS
'Whether every transaction knows of the foreign table that stands for packed days (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.packed_table_settled(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.packed_table_settled(regclass, regclass) TO pg_database_owner;
