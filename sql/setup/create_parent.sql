-- sql/setup/create_parent.sql

CREATE FUNCTION zbxhist.create_parent(
    parent regclass,
    partition_interval interval DEFAULT '1 day',
    retention interval DEFAULT NULL,
    premake integer DEFAULT 3,
    pack_after interval DEFAULT NULL,
    move_existing boolean DEFAULT false,
    ingest text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy zbxhist.parent_config;
BEGIN
    policy.parent := parent;
    policy.partition_interval := partition_interval;
    policy.retention := retention;
    policy.premake := premake;
    policy.pack_after := pack_after;
    policy.move_existing := move_existing;
    policy.ingest := ingest;
    PERFORM zbxhist_internal.adopt(policy);
    PERFORM zbxhist_internal.announce_deletion(policy);
    -- last: its lock stops writers until the end of the transaction
    PERFORM zbxhist_internal.attach_triggers(ARRAY[parent]);
END
$$;

COMMENT ON FUNCTION zbxhist.create_parent(regclass, interval, interval, integer, interval, boolean, text) IS
'Makes a table with the columns itemid and clock a managed one, in place: new rows go to partitions, and what it has stays where it is but for rows of these';

REVOKE ALL ON FUNCTION zbxhist.create_parent(regclass, interval, interval, integer, interval, boolean, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.create_parent(regclass, interval, interval, integer, interval, boolean, text) TO pg_database_owner;
