-- sql/locks/may_wait.sql
--
-- What step_verify has found out, and nobody has marked since, need not be
-- looked for again: in a parent of terabytes that would be a walk over all its
-- items, each quarter of an hour.

CREATE FUNCTION zbxhist_internal.may_wait(parent regclass)
RETURNS boolean
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM zbxhist.stray_mark m WHERE m.parent = may_wait.parent)
        OR EXISTS (SELECT FROM zbxhist.list_partitions(may_wait.parent) p
                     LEFT JOIN zbxhist.partition_state s ON s.partition = p.partition
                    WHERE s.verified IS NULL
                       OR NOT EXISTS (SELECT FROM pg_trigger t
                                       WHERE t.tgrelid = may_wait.parent
                                         AND t.tgname = 'zzz_zbxhist_route'
                                         AND t.tgenabled <> 'D'
                                         AND t.xmin = s.verified))
$$;

COMMENT ON FUNCTION zbxhist_internal.may_wait(regclass) IS
'Whether rows that belong to a partition may be in the parent, as far as step_verify knows (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.may_wait(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.may_wait(regclass) TO PUBLIC;
