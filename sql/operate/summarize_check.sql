-- sql/operate/summarize_check.sql
--
-- Its own trouble is not maintenance's: it is told, and the rest goes on.

CREATE FUNCTION zbxhist_internal.summarize_check()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    problem text;
BEGIN
    INSERT INTO zbxhist.check_summary AS s (severity, lines, checked_at)
    SELECT v.severity, count(c.severity), clock_timestamp()
      FROM (VALUES ('error'), ('warning'), ('info')) AS v (severity)
      LEFT JOIN zbxhist.check() c ON c.severity = v.severity
     GROUP BY v.severity
    ON CONFLICT ON CONSTRAINT check_summary_pkey
    DO UPDATE SET lines = excluded.lines, checked_at = excluded.checked_at;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT;
    RAISE WARNING 'zbxhist: check() failed: %', problem;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.summarize_check() IS
'Notes how many lines check() has (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.summarize_check() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.summarize_check() TO pg_database_owner;
