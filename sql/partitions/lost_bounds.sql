-- sql/partitions/lost_bounds.sql

CREATE FUNCTION zbxhist_internal.lost_bounds(parent regclass, child regclass)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT format('ALTER TABLE %s %sADD CONSTRAINT zbxhist_clock CHECK (%s);', s.partition,
                  CASE WHEN EXISTS (SELECT FROM pg_constraint c WHERE c.conrelid = s.partition AND c.conname = 'zbxhist_clock')
                       THEN 'DROP CONSTRAINT zbxhist_clock, ' ELSE '' END,
                  zbxhist_internal.bounds_condition(s.from_clock, s.to_clock))
      FROM zbxhist.partition_state s
     WHERE s.partition = child AND s.parent = lost_bounds.parent AND s.to_clock IS NOT NULL
       AND NOT EXISTS (SELECT FROM zbxhist_internal.list_ranges(lost_bounds.parent) r
                        WHERE r.from_clock < s.to_clock AND r.to_clock > s.from_clock)
$$;

COMMENT ON FUNCTION zbxhist_internal.lost_bounds(regclass, regclass) IS
'The command that gives a child of a managed table the bounds again that it had as a partition; NULL if they are not known, or another partition has its time by now (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.lost_bounds(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.lost_bounds(regclass, regclass) TO PUBLIC;
