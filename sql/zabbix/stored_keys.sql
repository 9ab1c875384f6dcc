-- sql/zabbix/stored_keys.sql

CREATE FUNCTION zbxhist_internal.stored_keys(relation regclass, key_column name)
RETURNS bigint[]
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_stored_keys';

COMMENT ON FUNCTION zbxhist_internal.stored_keys(regclass, name) IS
'The keys of all rows that are committed, sorted; NULL if the caller may not read them, or no unique index has the key (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.stored_keys(regclass, name) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.stored_keys(regclass, name) TO PUBLIC;
