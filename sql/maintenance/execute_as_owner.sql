-- sql/maintenance/execute_as_owner.sql
--
-- What a statement on a table may run is its owner's code: triggers, rules,
-- policies, expressions of indexes and constraints.  Whoever maintains it, a
-- superuser maybe, runs that as the owner, in a security-restricted operation.

CREATE FUNCTION zbxhist_internal.execute_as_owner(
    relation regclass,
    statement text,
    VARIADIC arguments text[] DEFAULT '{}')
RETURNS text
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_execute_as_owner';

COMMENT ON FUNCTION zbxhist_internal.execute_as_owner(regclass, text, text[]) IS
'Runs a statement with the rights of a table''s owner, for somebody who has them; returns the first column of the first row, or the number of rows (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.execute_as_owner(regclass, text, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.execute_as_owner(regclass, text, text[]) TO pg_database_owner;
