-- sql/setup/new_interval.sql
--
-- Where setup was called before it could make hours, its days go over to them;
-- whoever has said otherwise since is left in peace.

CREATE FUNCTION zbxhist_internal.new_interval(parent regclass, given interval, former interval)
RETURNS interval
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(given,
                    (SELECT interval '1 hour'
                       FROM zbxhist.managed_schema m
                       JOIN pg_namespace n ON n.nspname = m.schema_name
                       JOIN pg_class k ON k.relnamespace = n.oid
                      WHERE k.oid = new_interval.parent AND m.history_interval IS NULL
                        AND former = interval '1 day'),
                    former)
$$;

COMMENT ON FUNCTION zbxhist_internal.new_interval(regclass, interval, interval) IS
'The length that setup gives to partitions of a history table that is managed already (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.new_interval(regclass, interval, interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.new_interval(regclass, interval, interval) TO PUBLIC;
