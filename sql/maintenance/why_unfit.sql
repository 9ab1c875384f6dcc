-- sql/maintenance/why_unfit.sql
--
-- A managed table may be altered until it is none that zbxhist could manage.
-- Its rows go on being read and written, by SQL and the triggers; whatever
-- else would look at its clocks leaves it alone.

CREATE FUNCTION zbxhist_internal.why_unfit(parent regclass, OUT problem text, OUT remedy text)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    state text;
BEGIN
    SELECT format('foreign key "%s" of table %s refers to it', c.conname, c.conrelid::regclass),
           format('ALTER TABLE %s DROP CONSTRAINT %I;', c.conrelid::regclass, c.conname)
      INTO problem, remedy
      FROM pg_constraint c
     WHERE c.confrelid = why_unfit.parent AND c.contype = 'f'
     ORDER BY c.conname LIMIT 1;
    IF problem IS NOT NULL THEN
        RETURN;
    END IF;
    BEGIN
        PERFORM zbxhist_internal.verify_columns(parent);
        RETURN;
    EXCEPTION WHEN undefined_column OR datatype_mismatch OR feature_not_supported OR duplicate_object THEN
        GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT, state = RETURNED_SQLSTATE;
    END;
    remedy := CASE WHEN state = '42710'
                   THEN format('ALTER TABLE %s DROP CONSTRAINT zbxhist_clock;', parent)
                   ELSE zbxhist_internal.mend_columns(parent) END;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.why_unfit(regclass) IS
'Why a managed table cannot be maintained as it is now, and the command that mends it; NULL if it can (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.why_unfit(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.why_unfit(regclass) TO PUBLIC;
