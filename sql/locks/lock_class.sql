-- sql/locks/lock_class.sql

CREATE FUNCTION zbxhist_internal.lock_class()
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT 2053271657 $$;

COMMENT ON FUNCTION zbxhist_internal.lock_class() IS
'First key of the advisory locks that keep two maintenance steps on one parent apart (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.lock_class() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.lock_class() TO PUBLIC;
