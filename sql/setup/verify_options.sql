-- sql/setup/verify_options.sql
--
-- All of them, whether a table is found for them or not: they are kept for the
-- tables that an upgrade of Zabbix creates later.

CREATE FUNCTION zbxhist_internal.verify_options(options zbxhist.managed_schema, never_pack boolean)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF never_pack AND options.pack_after IS NOT NULL THEN
        RAISE EXCEPTION 'pack_after and never_pack cannot be given together'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'never_pack leaves partitions as they are from now on.';
    END IF;
    PERFORM zbxhist_internal.verify_retention(options.history_retention, 'history_retention');
    PERFORM zbxhist_internal.verify_retention(options.trends_retention, 'trends_retention');
    options.premake := coalesce(options.premake, 0);
    -- as they are, or the defaults: plan_setup looks at those
    options.pack_after := CASE WHEN never_pack THEN NULL ELSE coalesce(options.pack_after, '1 hour') END;
    options.history_interval := coalesce(options.history_interval, '1 hour');
    options.move_existing := coalesce(options.move_existing, false);
    PERFORM zbxhist_internal.new_policy(NULL, is_trends, options)
       FROM unnest('{false,true}'::boolean[]) AS is_trends;
    -- fewer are made of months
    IF options.premake NOT BETWEEN 0 AND 1000 THEN
        RAISE EXCEPTION 'premake must be between 0 and 1000'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.verify_options(zbxhist.managed_schema, boolean) IS
'Raises an error unless the options given to setup make sense; NULL: not given (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.verify_options(zbxhist.managed_schema, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.verify_options(zbxhist.managed_schema, boolean) TO PUBLIC;
