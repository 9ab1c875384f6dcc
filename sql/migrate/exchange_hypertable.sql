-- sql/migrate/exchange_hypertable.sql
--
-- In one transaction: whoever waits for the table finds the new one under its
-- name, and INSERTs go there.

CREATE FUNCTION zbxhist_internal.exchange_hypertable(hypertable regclass)
RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    policy  zbxhist.parent_config;
    former  CONSTANT name := zbxhist_internal.former_name(hypertable);
    waited  interval;
    locked  timestamptz;
    result  regclass;
BEGIN
    PERFORM pg_advisory_xact_lock(zbxhist_internal.lock_class(), hypertable::oid::integer);
    PERFORM zbxhist_internal.verify_hypertable(hypertable);
    PERFORM zbxhist_internal.verify_columns(hypertable);
    policy := zbxhist_internal.adoption_policy(hypertable);
    waited := zbxhist_internal.lock_with_patience(hypertable);
    locked := clock_timestamp();
    PERFORM zbxhist_internal.verify_hypertable(hypertable);
    result := zbxhist_internal.replace_hypertable(hypertable, former, false);
    PERFORM zbxhist_internal.verify_table(result);
    policy.parent := result;
    PERFORM zbxhist_internal.write_new_policy(policy);
    PERFORM zbxhist_internal.create_triggers(result);
    PERFORM zbxhist_internal.invalidate(result);
    PERFORM zbxhist_internal.step_begin(result);
    PERFORM zbxhist_internal.log_action(result, 'adopt', hypertable::text, NULL, NULL, started, waited, NULL,
                                        format('in the place of a hypertable, locked for %s ms',
                                               ceil(extract(epoch FROM clock_timestamp() - locked) * 1000)));
    RETURN result;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.exchange_hypertable(regclass) IS
'Puts a plain managed table in the place of a hypertable, which it renames, and returns it (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.exchange_hypertable(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.exchange_hypertable(regclass) TO pg_database_owner;
