-- sql/migrate/adoption_losses.sql

CREATE FUNCTION zbxhist_internal.adoption_losses(
    native regclass,
    OUT lost text,
    OUT wants_consent boolean)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET intervalstyle = postgres
AS $$
DECLARE
    policy CONSTANT zbxhist.parent_config := zbxhist_internal.adoption_policy(native);
    nobody CONSTANT zbxhist.parent_config := NULL;
    keeps  CONSTANT record := zbxhist_internal.new_retention(policy, nobody, false);
    cutoff CONSTANT bigint := floor(extract(epoch FROM clock_timestamp() AT TIME ZONE 'UTC' - keeps.retention));
BEGIN
    SELECT format('the next maintenance deletes what is older than %s (%s): about %s rows, %s, %s, the oldest of %s',
                  keeps.retention, keeps.source, sum(zbxhist_internal.probable_rows(p.partition)),
                  CASE count(*) WHEN 1 THEN 'a whole partition' ELSE count(*) || ' whole partitions' END,
                  pg_size_pretty(sum(pg_total_relation_size(p.partition))),
                  to_char(to_timestamp(min(p.from_clock)) AT TIME ZONE 'UTC', 'YYYY-MM-DD'))
      INTO lost
      FROM zbxhist_internal.native_partitions(native) p
     WHERE p.to_clock <= cutoff
    HAVING count(*) > 0;
    wants_consent := lost IS NOT NULL AND keeps.wants_consent;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.adoption_losses(regclass) IS
'What of a natively partitioned table the next maintenance would delete once it is taken over, and whether somebody has to agree to that (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.adoption_losses(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.adoption_losses(regclass) TO PUBLIC;
