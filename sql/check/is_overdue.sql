-- sql/check/is_overdue.sql
--
-- What the next maintenance mends is told only when none has for a day.

CREATE FUNCTION zbxhist_internal.is_overdue(parent regclass, VARIADIC steps text[])
RETURNS boolean
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM zbxhist.parent_config c
                     LEFT JOIN zbxhist.parent_state s ON s.parent = c.parent
                    WHERE c.parent = is_overdue.parent
                      AND coalesce(s.last_run, c.created_at) < now() - interval '1 day')
        OR EXISTS (SELECT FROM zbxhist.step_problem p
                    WHERE p.parent = is_overdue.parent AND p.step = ANY (steps)
                      AND p.since < now() - interval '1 day')
$$;

COMMENT ON FUNCTION zbxhist_internal.is_overdue(regclass, text[]) IS
'Whether maintenance of a table has not been run for a day, or could not do one of these steps for so long (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.is_overdue(regclass, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.is_overdue(regclass, text[]) TO PUBLIC;
