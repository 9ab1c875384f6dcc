-- sql/parent_rows/move_rows.sql

CREATE FUNCTION zbxhist_internal.move_rows(
    source regclass,
    target regclass,
    from_clock bigint,
    to_clock bigint,
    after_itemid bigint,
    max_rows integer,
    OUT moved bigint,
    OUT duplicates bigint,
    OUT last_itemid bigint,
    OUT done boolean)
LANGUAGE c VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_move_rows';

COMMENT ON FUNCTION zbxhist_internal.move_rows(regclass, regclass, bigint, bigint, bigint, integer) IS
'Moves one batch of rows between a managed table and its partition, in the order of itemid (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.move_rows(regclass, regclass, bigint, bigint, bigint, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.move_rows(regclass, regclass, bigint, bigint, bigint, integer) TO pg_database_owner;
