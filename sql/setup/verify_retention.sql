-- sql/setup/verify_retention.sql

CREATE FUNCTION zbxhist_internal.verify_retention(retention interval, name text)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF retention <= interval '0' THEN
        RAISE EXCEPTION '% must be greater than zero', name
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'NULL follows the storage period set in Zabbix.';
    END IF;
    IF retention > interval '200 years' THEN
        RAISE EXCEPTION '% must not be longer than 200 years', name
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.verify_retention(interval, text) IS
'Raises an error unless an argument of that name can be a retention (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.verify_retention(interval, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.verify_retention(interval, text) TO PUBLIC;
