-- sql/migrate/key_columns.sql

CREATE FUNCTION zbxhist_internal.key_columns(parent regclass)
RETURNS name[]
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT array_agg(a.attname ORDER BY a.attname)
      FROM (SELECT x.* FROM pg_index x
             WHERE x.indrelid = parent AND x.indisunique AND x.indisvalid
             ORDER BY NOT x.indisprimary, x.indexrelid LIMIT 1) x
     CROSS JOIN LATERAL unnest(x.indkey[0:x.indnkeyatts - 1]) i (attnum)
      JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = i.attnum
$$;

COMMENT ON FUNCTION zbxhist_internal.key_columns(regclass) IS
'The columns of a table''s primary key, or else of a unique index; NULL if it has none (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.key_columns(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.key_columns(regclass) TO PUBLIC;
