-- sql/setup/create_triggers.sql
--
-- Triggers of one event fire in the order of their names: the users' own
-- BEFORE ROW triggers come before the routing, their AFTER ones after the
-- flush.  The one for replicas fires for the rows that logical replication
-- applies, which stay in the parent, and only notes that.

CREATE FUNCTION zbxhist_internal.create_triggers(parent regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    item record;
BEGIN
    FOR item IN
        SELECT * FROM (VALUES ('zzz_zbxhist_route'::name, 'BEFORE', 'ROW'),
                              ('zzz_zbxhist_replica', 'BEFORE', 'ROW'),
                              ('00_zbxhist_flush', 'AFTER', 'STATEMENT')) AS v (name, moment, scope)
         WHERE NOT EXISTS (SELECT FROM pg_trigger t
                            WHERE t.tgrelid = parent AND t.tgname = v.name)
    LOOP
        EXECUTE format('CREATE TRIGGER %I %s INSERT ON %s FOR EACH %s EXECUTE FUNCTION zbxhist.route()',
                       item.name, item.moment, parent, item.scope);
        IF item.name = 'zzz_zbxhist_replica' THEN
            EXECUTE format('ALTER TABLE ONLY %s ENABLE REPLICA TRIGGER %I', parent, item.name);
        END IF;
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.create_triggers(regclass) IS
'Creates the routing triggers that a managed table lacks (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.create_triggers(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.create_triggers(regclass) TO pg_database_owner;
