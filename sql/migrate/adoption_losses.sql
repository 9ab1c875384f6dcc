-- sql/migrate/adoption_losses.sql
--
-- The rows of a default partition are counted: pg_partman has never deleted any, and
-- nobody has said that they may go.

CREATE FUNCTION zbxhist_internal.adoption_losses(native regclass)
RETURNS TABLE (line text, is_lost boolean)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE ROWS 2
SET search_path = pg_catalog, pg_temp
SET intervalstyle = postgres
AS $$
DECLARE
    policy CONSTANT zbxhist.parent_config := zbxhist_internal.adoption_policy(native);
    nobody CONSTANT zbxhist.parent_config := NULL;
    keeps  CONSTANT record := zbxhist_internal.new_retention(policy, nobody, false);
    cutoff CONSTANT bigint := zbxhist_internal.clock_before(keeps.retention);
    detach CONSTANT boolean := policy.retention_action IS NOT DISTINCT FROM 'detach';
    place  regclass;
    found  text;
BEGIN
    is_lost := NOT detach;
    SELECT format('the next maintenance %s what is older than %s (%s): about %s rows, %s, %s, of %s to %s',
                  CASE WHEN detach THEN 'detaches' || coalesce(format(' into schema %I', policy.retention_schema), '')
                       ELSE 'deletes' END,
                  keeps.retention, keeps.source, sum(zbxhist_internal.probable_rows(p.partition)),
                  CASE count(*) WHEN 1 THEN 'a whole partition' ELSE count(*) || ' whole partitions' END,
                  pg_size_pretty(sum(pg_total_relation_size(p.partition))),
                  coalesce(zbxhist_internal.format_time(to_timestamp(min(p.from_clock))), 'the beginning'),
                  zbxhist_internal.format_time(to_timestamp(max(p.to_clock))))
      INTO line
      FROM zbxhist_internal.native_partitions(native) p
     WHERE p.to_clock <= cutoff
    HAVING count(*) > 0;
    IF line IS NOT NULL THEN
        RETURN NEXT;
    END IF;
    SELECT p.partition INTO place FROM zbxhist_internal.native_partitions(native) p WHERE p.is_default;
    IF place IS NULL OR cutoff IS NULL THEN
        RETURN;
    END IF;
    found := zbxhist_internal.execute_as_owner(place, format(
        'SELECT count(*) || '' '' || min(clock) || '' '' || max(clock) FROM ONLY %s WHERE clock < %s', place, cutoff));
    IF found IS NOT NULL THEN
        line := format('%s of the default partition %s that are older than %s (%s): %s, the oldest of %s, the newest of %s',
                       CASE WHEN detach THEN 'maintenance leaves the rows' ELSE 'the next maintenance deletes the rows' END,
                       place, keeps.retention, keeps.source, split_part(found, ' ', 1),
                       zbxhist_internal.format_time(to_timestamp(split_part(found, ' ', 2)::bigint)),
                       zbxhist_internal.format_time(to_timestamp(split_part(found, ' ', 3)::bigint)));
        RETURN NEXT;
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.adoption_losses(regclass) IS
'What of a natively partitioned table the next maintenance would take off or leave once it is taken over, in words, and whether that is deleted (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.adoption_losses(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.adoption_losses(regclass) TO PUBLIC;
