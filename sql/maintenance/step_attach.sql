-- sql/maintenance/step_attach.sql
--
-- A dump does not hold the dependencies.  What a new column contains in packed
-- rows is noted by an event trigger, which may be disabled.  Who deletes packed
-- rows says how many.

CREATE FUNCTION zbxhist_internal.step_attach(parent regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    packed  regclass := zbxhist_internal.packed_table(parent);
    options text;
BEGIN
    PERFORM zbxhist_internal.require_parent(parent);
    WITH known AS (
        DELETE FROM zbxhist.packed_change c USING zbxhist.packed_day d
         WHERE c.day = d.day AND d.parent = step_attach.parent
        RETURNING c.day, c.removed),
    total AS (
        SELECT k.day, sum(k.removed) AS removed FROM known k GROUP BY k.day)
    UPDATE zbxhist.packed_day d SET nrows = greatest(d.nrows - t.removed, 0)
      FROM total t WHERE d.day = t.day AND t.removed > 0;
    DELETE FROM zbxhist.packed_change c
     WHERE NOT EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.day = c.day);
    IF NOT EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.parent = step_attach.parent) THEN
        RETURN 'done';
    END IF;
    IF packed IS NULL THEN
        packed := zbxhist_internal.create_packed_table(parent);
    END IF;
    PERFORM zbxhist_internal.attach_day(d.day, packed)
       FROM zbxhist.packed_day d
      WHERE d.parent = step_attach.parent
        AND NOT EXISTS (SELECT FROM pg_depend p
                         WHERE p.classid = 'pg_class'::regclass AND p.objid = d.day
                           AND p.refclassid = 'pg_class'::regclass AND p.refobjid = packed);
    options := zbxhist_internal.missing_options(parent, packed);
    IF options IS NOT NULL THEN
        PERFORM zbxhist_internal.lock_exclusively(packed, zbxhist_internal.short_lock_timeout());
        PERFORM zbxhist_internal.execute_as_owner(packed, options);
    END IF;
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_attach(regclass) IS
'Maintenance: makes packed days depend on the foreign table that stands for them, and notes what new columns contain in them and how many values have been deleted (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_attach(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_attach(regclass) TO pg_database_owner;
