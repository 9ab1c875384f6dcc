-- sql/zabbix/stored_texts.sql

CREATE FUNCTION zbxhist_internal.stored_texts(
    relation regclass,
    key_column name,
    keys bigint[],
    columns name[])
RETURNS TABLE (key bigint, texts text[])
LANGUAGE c STABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_stored_texts';

COMMENT ON FUNCTION zbxhist_internal.stored_texts(regclass, name, bigint[], name[]) IS
'What stands in columns of the rows with these keys; no row if the caller may not read it, or no unique index has the key (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.stored_texts(regclass, name, bigint[], name[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.stored_texts(regclass, name, bigint[], name[]) TO PUBLIC;
