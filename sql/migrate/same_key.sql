-- sql/migrate/same_key.sql

CREATE FUNCTION zbxhist_internal.same_key(parent regclass, keys name[])
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT format('SELECT FROM ONLY %s p WHERE %s', parent,
                  string_agg(format('p.%1$I = s.%2$I', k, coalesce(c.packed_name, k)), ' AND '))
      FROM unnest(keys) k
      LEFT JOIN zbxhist_internal.packed_columns(zbxhist_internal.packed_table(parent)) c ON c.column_name = k
$$;

COMMENT ON FUNCTION zbxhist_internal.same_key(regclass, name[]) IS
'The condition that a managed table itself has a row with the key of one to be imported (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.same_key(regclass, name[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.same_key(regclass, name[]) TO PUBLIC;
