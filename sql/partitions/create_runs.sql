-- sql/partitions/create_runs.sql
--
-- A table as that of a packed day, but for its index: a run's rows are of many
-- items, and its clocks the least and the greatest of all of them.  Runs are
-- found by the time that they end.

CREATE FUNCTION zbxhist_internal.create_runs(parent regclass, from_clock bigint, to_clock bigint)
RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET default_tablespace = ''
AS $$
DECLARE
    source CONSTANT pg_class := (SELECT k FROM pg_class k WHERE k.oid = parent);
    packed regclass := zbxhist_internal.packed_table(parent);
    result regclass;
    index  record;
BEGIN
    IF packed IS NULL THEN
        packed := zbxhist_internal.create_packed_table(parent);
    END IF;
    result := zbxhist_internal.create_day_of_range(
        parent,
        zbxhist_internal.partition_name(parent, make_interval(secs => to_clock - from_clock), from_clock, to_clock),
        from_clock, to_clock, source.relpersistence);
    SELECT x.conname, t.spcname INTO STRICT index
      FROM pg_constraint x
      JOIN pg_class k ON k.oid = x.conindid
      LEFT JOIN pg_tablespace t ON t.oid = k.reltablespace
     WHERE x.conrelid = result AND x.contype = 'p';
    PERFORM zbxhist_internal.execute_as_owner(result, format(
        'ALTER TABLE %s DROP CONSTRAINT %I', result, index.conname));
    -- by which it is known, without another look at the catalogs
    PERFORM zbxhist_internal.execute_as_owner(result, format(
        'ALTER TABLE %s RENAME COLUMN payload TO run', result));
    PERFORM zbxhist_internal.execute_as_owner(result, format(
        'CREATE INDEX ON %s (last_clock)%s', result, ' TABLESPACE ' || quote_ident(index.spcname)));
    -- merged runs leave their space to others soon
    PERFORM zbxhist_internal.execute_as_owner(result, format(
        'ALTER TABLE %s SET (autovacuum_vacuum_threshold = 64, autovacuum_vacuum_scale_factor = 0.1)', result));
    INSERT INTO zbxhist.packed_day (parent, day, from_clock, to_clock, nrows, runs)
    VALUES (parent, result, from_clock, to_clock, 0, true);
    PERFORM zbxhist_internal.attach_day(result, packed);
    PERFORM zbxhist_internal.note_columns(parent, packed, result);
    PERFORM zbxhist_internal.invalidate(parent);
    RETURN result;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.create_runs(regclass, bigint, bigint) IS
'Creates a table that takes the new values of a range of clocks as runs (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.create_runs(regclass, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.create_runs(regclass, bigint, bigint) TO pg_database_owner;
