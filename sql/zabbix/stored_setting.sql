-- sql/zabbix/stored_setting.sql

CREATE FUNCTION zbxhist_internal.stored_setting(
    relation regclass,
    value_column name,
    key_column name,
    key text)
RETURNS text
LANGUAGE c STABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_stored_setting';

COMMENT ON FUNCTION zbxhist_internal.stored_setting(regclass, name, name, text) IS
'What stands in a column of the first row of a table, or of the first with that key; NULL if it is nothing, not integer, text or varchar, or the caller may not read it (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.stored_setting(regclass, name, name, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.stored_setting(regclass, name, name, text) TO PUBLIC;
