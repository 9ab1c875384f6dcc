-- sql/check/earlier_name.sql

CREATE FUNCTION zbxhist_internal.earlier_name(parent regclass, trigger_name name)
RETURNS name
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT v.name
      FROM generate_series(0, 99) i,
           LATERAL (SELECT ('zzy_' || CASE i WHEN 0 THEN '' ELSE i || '_' END || trigger_name)::name) v (name)
     WHERE NOT EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = parent AND t.tgname = v.name)
     ORDER BY i
     LIMIT 1
$$;

COMMENT ON FUNCTION zbxhist_internal.earlier_name(regclass, name) IS
'A name for a trigger that sorts before those of the routing (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.earlier_name(regclass, name) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.earlier_name(regclass, name) TO PUBLIC;
