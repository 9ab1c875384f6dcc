-- sql/maintenance/skip_in_use.sql

CREATE FUNCTION zbxhist_internal.skip_in_use(parent regclass, partition regclass, may_wait boolean)
RETURNS boolean
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    packed  CONSTANT regclass := zbxhist_internal.packed_table(parent);
    present CONSTANT text[] := zbxhist_internal.lock_holders(partition, packed);
BEGIN
    IF present = '{}'
       OR may_wait AND NOT EXISTS (
           SELECT FROM zbxhist.step_problem p
            WHERE p.parent = skip_in_use.parent AND p.step = 'pack'
              AND p.holders && present) THEN
        RETURN false;
    END IF;
    PERFORM zbxhist_internal.note_outcome(parent, 'pack', partition::text, 'locked', '55P03',
                                          format('table %s is in use by another transaction',
                                                 CASE zbxhist_internal.lock_holders(partition) WHEN '{}' THEN packed ELSE partition END));
    RETURN true;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.skip_in_use(regclass, regclass, boolean) IS
'Whether to leave a partition unpacked in this run, since it is in use by a transaction that is not to be waited for; notes that (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.skip_in_use(regclass, regclass, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.skip_in_use(regclass, regclass, boolean) TO pg_database_owner;
