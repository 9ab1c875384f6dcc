-- sql/packed/merge_rows.sql

CREATE FUNCTION zbxhist_internal.merge_rows(
    parent regclass,
    day regclass,
    from_clock bigint,
    to_clock bigint,
    max_rows integer,
    OUT merged bigint,
    OUT duplicates bigint,
    OUT done boolean)
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_merge_rows';

COMMENT ON FUNCTION zbxhist_internal.merge_rows(regclass, regclass, bigint, bigint, integer) IS
'Moves rows of a parent alone that have these clocks into their packed day; those whose key the day has with other values, or that are too many of one item and second, stay (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.merge_rows(regclass, regclass, bigint, bigint, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.merge_rows(regclass, regclass, bigint, bigint, integer) TO pg_database_owner;
