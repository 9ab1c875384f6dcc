-- sql/operate/absorb_end.sql

CREATE FUNCTION zbxhist_internal.absorb_end(parent regclass, child regclass, since xid8, started timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    label  CONSTANT text := child::text;
    waited interval;
    rest   bigint;
BEGIN
    PERFORM zbxhist_internal.lock_for_hand(parent);
    waited := zbxhist_internal.lock_exclusively(child, zbxhist_internal.short_lock_timeout());
    PERFORM zbxhist_internal.end_older_snapshots(child, since);
    PERFORM zbxhist_internal.execute_as_owner(parent, format('ALTER TABLE %s NO INHERIT %s', child, parent));
    PERFORM zbxhist_internal.invalidate(parent);
    rest := zbxhist_internal.execute_as_owner(parent, format('SELECT count(*) FROM ONLY %s', child));
    PERFORM zbxhist_internal.log_action(parent, 'absorb', label, NULL, NULL, started, waited, NULL,
                                        CASE WHEN rest > 0 THEN format('%s rows are left in it', rest) END);
    IF rest > 0 THEN
        RAISE WARNING '% rows of table % are left in it', rest, child
            USING DETAIL = format('They are past retention, or table %s has their key with other values.  They are not read there any more.  '
                                  'To have one back, delete the row with its key and insert it.', parent),
                  HINT = format('SELECT * FROM %s;', child);
    ELSE
        RAISE NOTICE 'all rows of table % are where they belong in table %; it is empty, and a table of its own', child, parent
            USING HINT = format('DROP TABLE %s;', child);
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.absorb_end(regclass, regclass, xid8, timestamptz) IS
'Makes a child of a managed table whose rows have been moved a table of its own, and says what is left in it (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.absorb_end(regclass, regclass, xid8, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.absorb_end(regclass, regclass, xid8, timestamptz) TO pg_database_owner;
