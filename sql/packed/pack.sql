-- sql/packed/pack.sql

CREATE PROCEDURE zbxhist.pack(parent regclass, day date)
LANGUAGE plpgsql
AS $$
BEGIN
    CALL zbxhist_internal.next_transaction();
    CALL zbxhist_internal.repeat_each_by_hand(parent, 'pack', zbxhist_internal.partitions_to_pack(parent, day));
END
$$;

COMMENT ON PROCEDURE zbxhist.pack(regclass, date) IS
'Packs the partitions of a managed table that have clocks of a UTC day and whose time has gone by';

REVOKE ALL ON PROCEDURE zbxhist.pack(regclass, date) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.pack(regclass, date) TO pg_database_owner;
