-- sql/parent_rows/is_unverified.sql

CREATE FUNCTION zbxhist_internal.is_unverified(parent regclass, version xid, present text[])
RETURNS boolean
LANGUAGE sql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM zbxhist.stray_mark m WHERE m.parent = is_unverified.parent)
        OR EXISTS (SELECT FROM zbxhist.partition_state s
                    WHERE s.parent = is_unverified.parent
                      AND s.verified IS DISTINCT FROM is_unverified.version
                      AND NOT coalesce(s.settling && present, false))
$$;

COMMENT ON FUNCTION zbxhist_internal.is_unverified(regclass, xid, text[]) IS
'Whether there is anything to find out for step_verify (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.is_unverified(regclass, xid, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.is_unverified(regclass, xid, text[]) TO pg_database_owner;
