-- sql/migrate/source_range.sql

CREATE FUNCTION zbxhist_internal.source_range(
    source regclass,
    parent regclass,
    first_block bigint,
    end_block bigint,
    OUT low bigint,
    OUT high bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    answer CONSTANT text[] := zbxhist_internal.execute_as_owner(parent, format(
        'SELECT ARRAY[min(clock), max(clock)] FROM ONLY %s WHERE ctid >= ''(%s,0)'' AND ctid < ''(%s,0)''',
        source, first_block, end_block));
BEGIN
    low := answer[1];
    high := answer[2];
END
$$;

COMMENT ON FUNCTION zbxhist_internal.source_range(regclass, regclass, bigint, bigint) IS
'The least and the greatest clock in a range of blocks of a table (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.source_range(regclass, regclass, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.source_range(regclass, regclass, bigint, bigint) TO pg_database_owner;
