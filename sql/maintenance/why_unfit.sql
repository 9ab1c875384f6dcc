-- sql/maintenance/why_unfit.sql
--
-- A managed table may be altered until it is none that zbxhist could manage.
-- Its rows go on being read and written, by SQL and the triggers; whatever
-- else would look at its clocks leaves it alone.

CREATE FUNCTION zbxhist_internal.why_unfit(parent regclass, OUT problem text, OUT remedy text)
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
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
    SELECT c.problem,
           CASE WHEN c.state = '42710' THEN c.remedy
                WHEN c.problem IS NOT NULL THEN zbxhist_internal.mend_columns(parent) END
      INTO problem, remedy
      FROM zbxhist_internal.column_problem(parent) c;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.why_unfit(regclass) IS
'Why a managed table cannot be maintained as it is now, and the command that mends it; NULL if it can (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.why_unfit(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.why_unfit(regclass) TO PUBLIC;
