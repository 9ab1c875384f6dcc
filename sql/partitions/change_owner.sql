-- sql/partitions/change_owner.sql

CREATE FUNCTION zbxhist_internal.change_owner(relation regclass, owner oid)
RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_change_owner';

COMMENT ON FUNCTION zbxhist_internal.change_owner(regclass, oid) IS
'ALTER TABLE ... OWNER TO of a table or foreign table, which is not looked up by name (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.change_owner(regclass, oid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.change_owner(regclass, oid) TO pg_database_owner;
