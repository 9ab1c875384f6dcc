-- sql/packed/expired_days.sql

CREATE FUNCTION zbxhist_internal.expired_days(parent regclass)
RETURNS SETOF regclass
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT d.day
      FROM zbxhist_internal.cutoff_clock(parent) AS cutoff,
           zbxhist.packed_day d
     WHERE d.parent = expired_days.parent AND d.to_clock <= cutoff
       AND EXISTS (SELECT FROM pg_class k WHERE k.oid = d.day)
     ORDER BY d.from_clock
$$;

COMMENT ON FUNCTION zbxhist_internal.expired_days(regclass) IS
'The packed days whose whole range is past retention, oldest first (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.expired_days(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.expired_days(regclass) TO PUBLIC;
