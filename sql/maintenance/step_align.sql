-- sql/maintenance/step_align.sql
--
-- What GRANT, CREATE TRIGGER and ALTER TABLE give a parent reaches it alone.
-- Foreign keys hold for rows to come: to look through those that are there
-- would lock the table they refer to.

CREATE FUNCTION zbxhist_internal.step_align(parent regclass, partition regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    found   text[];
BEGIN
    PERFORM zbxhist_internal.require_parent(parent);
    -- another run may have done it, or dropped it
    IF EXISTS (SELECT FROM zbxhist.list_partitions(parent) p
                 JOIN pg_class k ON k.oid = p.partition
                 JOIN pg_class source ON source.oid = step_align.parent AND source.relowner = k.relowner
                WHERE p.partition = step_align.partition) THEN
        found := zbxhist_internal.unlike(parent, partition);
    END IF;
    IF coalesce(found, '{}') = '{}' THEN
        RETURN 'done';
    END IF;
    IF 'privileges' = ANY (found) THEN
        PERFORM zbxhist_internal.clone_grants(parent, partition);
    END IF;
    IF 'foreign keys' = ANY (found) THEN
        PERFORM zbxhist_internal.clone_foreign_keys(parent, partition);
    END IF;
    IF 'row triggers' = ANY (found) THEN
        PERFORM zbxhist_internal.clone_triggers(parent, partition);
    END IF;
    IF zbxhist_internal.unlike(parent, partition) <> '{}' THEN
        RAISE EXCEPTION '% of partition % cannot be made those of its parent',
                        array_to_string(zbxhist_internal.unlike(parent, partition), ', '), partition
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    PERFORM zbxhist_internal.invalidate(parent);
    PERFORM zbxhist_internal.log_action(parent, 'align', partition::text, NULL, NULL, started, NULL, NULL,
                                        array_to_string(found, ', '));
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_align(regclass, regclass) IS
'Maintenance: gives a partition the privileges, foreign keys and row triggers of its parent (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_align(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_align(regclass, regclass) TO pg_database_owner;
