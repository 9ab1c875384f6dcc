-- sql/operate/absorb_batch.sql

CREATE FUNCTION zbxhist_internal.absorb_batch(parent regclass, child regclass, first_block bigint, end_block bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    columns CONSTANT text := zbxhist_internal.import_columns(parent, false);
    keys    CONSTANT name[] := zbxhist_internal.key_columns(parent);
    -- the next maintenance would delete what is past retention
    blocks  CONSTANT text := format('c.ctid >= ''(%s,0)'' AND c.ctid < ''(%s,0)'' AND c.clock >= %s', first_block, end_block,
                                    coalesce(zbxhist_internal.deletion_clock(parent), -2147483648));
    move    CONSTANT text := format('WITH gone AS (DELETE FROM ONLY %1$s c WHERE %2$s%%s RETURNING %3$s)'
                                    ' INSERT INTO %4$s (%3$s) SELECT %3$s FROM gone', child, blocks,
                                    columns, parent);
    clocks  text;
    twin    text;
BEGIN
    PERFORM zbxhist_internal.lock_for_hand(parent);
    BEGIN
        PERFORM zbxhist_internal.execute_as_owner(parent, format(move, ''));
        RETURN;
    EXCEPTION WHEN unique_violation THEN
        -- what is there twice, and the same, goes; what differs stays
        NULL;
    END;
    clocks := zbxhist_internal.execute_as_owner(parent, format(
        'SELECT format(''p.clock BETWEEN %%s AND %%s'', min(c.clock), max(c.clock)) FROM ONLY %s c WHERE %s', child, blocks));
    SELECT format('SELECT FROM %s p WHERE p.tableoid <> %s AND %s AND %s', parent, child::oid, clocks,
                  string_agg(format('p.%1$I = c.%1$I', k), ' AND '))
      INTO twin FROM unnest(keys) k;
    PERFORM zbxhist_internal.execute_as_owner(parent, format(
        'DELETE FROM ONLY %s c WHERE %s AND EXISTS (%s AND %s)', child, blocks, twin,
        (SELECT string_agg(format('p.%1$I::text IS NOT DISTINCT FROM c.%1$I::text', a.attname), ' AND ')
           FROM pg_attribute a WHERE a.attrelid = parent AND a.attnum > 0 AND NOT a.attisdropped)));
    PERFORM zbxhist_internal.execute_as_owner(parent, format(move, format(' AND NOT EXISTS (%s)', twin)));
END
$$;

COMMENT ON FUNCTION zbxhist_internal.absorb_batch(regclass, regclass, bigint, bigint) IS
'Moves the rows in some blocks of a child of a managed table to where they belong; those whose key is there with other values stay (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.absorb_batch(regclass, regclass, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.absorb_batch(regclass, regclass, bigint, bigint) TO pg_database_owner;
