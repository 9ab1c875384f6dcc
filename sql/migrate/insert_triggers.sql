-- sql/migrate/insert_triggers.sql

CREATE FUNCTION zbxhist_internal.insert_triggers(parent regclass)
RETURNS SETOF pg_trigger
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT t
      FROM pg_trigger t
      JOIN pg_proc p ON p.oid = t.tgfoid
     WHERE t.tgrelid = parent AND NOT t.tgisinternal AND t.tgenabled <> 'D'
       AND t.tgtype & 4 <> 0                            -- of INSERT
       AND p.pronamespace NOT IN ('zbxhist'::regnamespace, 'zbxhist_internal'::regnamespace)
$$;

COMMENT ON FUNCTION zbxhist_internal.insert_triggers(regclass) IS
'The triggers of others that an INSERT into a managed table fires (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.insert_triggers(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.insert_triggers(regclass) TO PUBLIC;
