-- sql/migrate/is_partman_template.sql

CREATE FUNCTION zbxhist_internal.is_partman_template(config regclass, template regclass, key text)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT count(*) > 0
      FROM pg_class k
      JOIN pg_class c ON c.oid = config AND c.relnamespace = k.relnamespace
     WHERE k.oid = template AND k.relkind = 'r'
       AND k.relname = left('template_' || replace(key, '.', '_'), 63)::name
       AND pg_has_role(k.relowner, 'USAGE')
       AND pg_relation_size(k.oid) = 0
       AND zbxhist_internal.dependent_object(template) IS NULL
$$;

COMMENT ON FUNCTION zbxhist_internal.is_partman_template(regclass, regclass, text) IS
'Whether a table is the template that pg_partman makes for a table, is empty, and may be dropped by the caller (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.is_partman_template(regclass, regclass, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.is_partman_template(regclass, regclass, text) TO PUBLIC;
