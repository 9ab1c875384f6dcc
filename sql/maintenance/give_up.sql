-- sql/maintenance/give_up.sql

CREATE FUNCTION zbxhist_internal.give_up(parent regclass, step text, relation text, calls integer)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    problem CONSTANT text := format('it asked to be called again %s times', calls);
BEGIN
    RAISE WARNING 'zbxhist: % of % failed: %', step, coalesce(relation, parent::text), problem;
    PERFORM zbxhist_internal.log_action(parent, step, relation, NULL, NULL, clock_timestamp(), NULL,
                                        '54000', problem);
    RETURN 'failed';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.give_up(regclass, text, text, integer) IS
'Ends a step of maintenance that does not come to an end by itself, and logs it (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.give_up(regclass, text, text, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.give_up(regclass, text, text, integer) TO pg_database_owner;
