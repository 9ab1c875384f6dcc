-- sql/check/check_backup.sql
--
-- Told in the week after a set-up, when backups are looked at, and not for ever.
-- A dump as a directory does not overwrite a former one.

CREATE FUNCTION zbxhist_internal.check_backup()
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'info', 'partial_dump', 'packed days',
           'a dump of a part of the database, such as pg_dump -t history, leaves packed rows out; '
           'dump the whole database (told for a week after the set-up)',
           -- as a shell has it
           format('pg_dump -d ''%s'' -Fd -f zabbix.dump', replace(current_database(), '''', '''\'''''))
      FROM zbxhist.parent_config c
      JOIN pg_class p ON p.oid = c.parent
     WHERE EXISTS (SELECT FROM zbxhist.packed_day d JOIN pg_class k ON k.oid = d.day)
    HAVING max(c.created_at) > now() - interval '7 days'
$$;

COMMENT ON FUNCTION zbxhist_internal.check_backup() IS
'What check() says about dumps (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_backup() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_backup() TO PUBLIC;
