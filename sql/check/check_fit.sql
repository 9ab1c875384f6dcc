-- sql/check/check_fit.sql

CREATE FUNCTION zbxhist_internal.check_fit(parent regclass)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE sql VOLATILE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'error', 'unfit', check_fit.parent::text,
           format('maintenance leaves the table alone, new rows stay in the table itself: %s', u.problem),
           u.remedy
      FROM zbxhist_internal.why_unfit(check_fit.parent) u
     WHERE u.problem IS NOT NULL
$$;

COMMENT ON FUNCTION zbxhist_internal.check_fit(regclass) IS
'The part of check that finds tables which were altered until they cannot be maintained (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_fit(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_fit(regclass) TO PUBLIC;
