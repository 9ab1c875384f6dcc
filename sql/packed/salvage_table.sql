-- sql/packed/salvage_table.sql

CREATE PROCEDURE zbxhist.salvage(day regclass)
LANGUAGE plpgsql
AS $$
DECLARE
    parent pg_catalog.regclass;
BEGIN
    CALL zbxhist_internal.next_transaction();
    SELECT d.parent INTO parent FROM zbxhist.packed_day d WHERE d.day = salvage.day;
    IF NOT FOUND THEN
        RAISE EXCEPTION '% is not the table of a packed day', day
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'SELECT * FROM zbxhist.partitions WHERE kind = ''packed'';';
    END IF;
    CALL zbxhist_internal.repeat_by_hand(parent, 'salvage', day);
END
$$;

COMMENT ON PROCEDURE zbxhist.salvage(regclass) IS
'The same for the packed day that has this table, for tables whose partitions are shorter than a day';

REVOKE ALL ON PROCEDURE zbxhist.salvage(regclass) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.salvage(regclass) TO pg_database_owner;
