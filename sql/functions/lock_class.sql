-- sql/functions/lock_class.sql

CREATE FUNCTION zbxhist.lock_class()
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT 2053271657 $$;

COMMENT ON FUNCTION zbxhist.lock_class() IS
'First key of the advisory locks that keep two maintenance steps on one parent apart (internal)';

REVOKE ALL ON FUNCTION zbxhist.lock_class() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.lock_class() TO PUBLIC;
