-- sql/setup/triggers.sql

-- Creates the routing triggers that a managed table lacks.
-- Triggers of one event fire in the order of their names.  By these names the user's BEFORE ROW triggers
-- fire before the routing, and his AFTER triggers after the flush.  zzz_zbxhist_replica fires for rows
-- that logical replication applies; they stay in the parent, and it only marks them.
CREATE FUNCTION zbxhist_internal.create_triggers(parent regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    missing name;
BEGIN
    FOR missing IN SELECT zbxhist_internal.missing_route_triggers(parent) LOOP
        EXECUTE format('CREATE TRIGGER %I %s INSERT ON %s FOR EACH %s EXECUTE FUNCTION zbxhist.route()', missing,
                       CASE missing WHEN '00_zbxhist_flush' THEN 'AFTER' ELSE 'BEFORE' END, parent,
                       CASE missing WHEN '00_zbxhist_flush' THEN 'STATEMENT' ELSE 'ROW' END);
        IF missing = 'zzz_zbxhist_replica' THEN
            EXECUTE format('ALTER TABLE ONLY %s ENABLE REPLICA TRIGGER %I', parent, missing);
        END IF;
    END LOOP;
END
$$;

-- Locks the tables and creates their routing triggers; returns the time it waited for locks.
-- CREATE TRIGGER needs SHARE ROW EXCLUSIVE: it waits for running INSERTs, and new ones wait for it.  The
-- caller passes the tables in the order in which Zabbix locks them.
CREATE FUNCTION zbxhist_internal.attach_triggers(parents regclass[]) RETURNS interval
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET lock_timeout = 0 AS $$
DECLARE
    waited CONSTANT interval := zbxhist_internal.lock_all_or_none(parents, mode => 'SHARE ROW EXCLUSIVE');
    parent regclass;
BEGIN
    FOREACH parent IN ARRAY parents LOOP
        PERFORM zbxhist_internal.create_triggers(parent);
        PERFORM zbxhist_internal.invalidate(parent);
    END LOOP;
    RETURN waited;
END
$$;

-- The routing triggers that a managed table lacks.
CREATE FUNCTION zbxhist_internal.missing_route_triggers(parent regclass) RETURNS SETOF name
LANGUAGE sql STABLE STRICT PARALLEL SAFE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
    SELECT w
      FROM unnest('{zzz_zbxhist_route,zzz_zbxhist_replica,00_zbxhist_flush}'::name[]) w
     WHERE NOT EXISTS (SELECT FROM pg_trigger t
                        WHERE t.tgrelid = parent AND t.tgname = w
                          AND t.tgfoid = 'zbxhist.route()'::regprocedure)
$$;
