-- sql/maintenance/step_owner.sql
--
-- ALTER TABLE ... OWNER TO does not reach the children.  All of them can be read
-- and written to through the parent in between, but are not maintained: the owner
-- of the one would run code of the other's.  Who maintains may lack the rights to
-- mend that; check says so.

CREATE FUNCTION zbxhist_internal.step_owner(parent regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    owner   CONSTANT oid := (SELECT k.relowner FROM pg_class k WHERE k.oid = parent);
    child   regclass;
    waited  interval;
BEGIN
    PERFORM zbxhist_internal.require_parent(parent);
    SELECT c INTO child
      FROM zbxhist_internal.foreign_children(parent) c
      JOIN pg_class k ON k.oid = c
     WHERE pg_has_role(k.relowner, 'USAGE')
     ORDER BY k.oid LIMIT 1;
    IF NOT FOUND THEN
        RETURN CASE WHEN EXISTS (SELECT FROM zbxhist_internal.foreign_children(parent)) THEN 'postponed' ELSE 'done' END;
    END IF;
    waited := zbxhist_internal.lock_exclusively(child, zbxhist_internal.short_lock_timeout());
    PERFORM zbxhist_internal.give_to(child, owner);
    PERFORM zbxhist_internal.invalidate(parent);
    PERFORM zbxhist_internal.log_action(parent, 'owner', child::text, NULL, NULL, started, waited);
    RETURN 'more';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_owner(regclass) IS
'Maintenance: gives a partition, a packed day or the foreign table of a managed table to the owner that this has now (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_owner(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_owner(regclass) TO pg_database_owner;
