-- sql/migrate/verify_native_partitions.sql

CREATE FUNCTION zbxhist_internal.verify_native_partitions(parent regclass)
RETURNS void
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found_at record;
    counted  bigint;
BEGIN
    -- raises an error where they are not ranges of clock
    SELECT * INTO found_at FROM zbxhist_internal.native_partitions(parent) p
      JOIN pg_constraint c ON c.conrelid = p.partition AND c.conname = 'zbxhist_clock'
     WHERE NOT p.is_bounded OR p.is_default;
    IF FOUND THEN
        RAISE EXCEPTION 'table % has a constraint of its own named "zbxhist_clock"', found_at.partition
            USING ERRCODE = 'duplicate_object',
                  HINT = format('ALTER TABLE %s DROP CONSTRAINT zbxhist_clock;', found_at.partition);
    END IF;
    SELECT p.partition, EXISTS (SELECT FROM zbxhist_internal.native_partitions(parent) d WHERE d.is_default) AS has_default
      INTO found_at
      FROM zbxhist_internal.native_partitions(parent) p
     WHERE p.to_clock > zbxhist_internal.current_clock() AND p.to_clock - p.from_clock > 366 * 86400
     LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'partition % covers more than a year, and rows to come', found_at.partition
            USING ERRCODE = 'feature_not_supported',
                  DETAIL = 'It would take them all, and never be packed or dropped.',
                  HINT = format('BEGIN; ALTER TABLE %s DETACH PARTITION %s;%s COMMIT;', parent, found_at.partition,
                                CASE WHEN found_at.has_default THEN ''
                                     ELSE format(' ALTER TABLE %s ATTACH PARTITION %s DEFAULT;', parent, found_at.partition) END);
    END IF;
    counted := (SELECT count(*) FROM zbxhist_internal.native_partitions(parent));
    IF counted = 0 THEN
        RAISE EXCEPTION 'table % has no partitions', parent
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'An empty table is better created as a plain one, and given to zbxhist.setup().';
    END IF;
    IF counted > 2 * zbxhist_internal.most_partitions() THEN
        RAISE EXCEPTION 'table % has % partitions, too many to be locked at once', parent, counted
            USING ERRCODE = 'program_limit_exceeded',
                  DETAIL = 'PostgreSQL has to be restarted after this.',
                  HINT = format('ALTER SYSTEM SET max_locks_per_transaction = %s;',
                                ceil(current_setting('max_locks_per_transaction')::numeric * counted
                                     / zbxhist_internal.most_partitions()));
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.verify_native_partitions(regclass) IS
'Raises an error unless all partitions of a natively partitioned table can be managed ones (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.verify_native_partitions(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.verify_native_partitions(regclass) TO PUBLIC;
