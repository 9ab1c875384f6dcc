-- sql/operate/detach_day.sql

CREATE PROCEDURE zbxhist.detach_day(parent regclass, day date, schema_name name DEFAULT NULL)
LANGUAGE plpgsql
AS $$
DECLARE
    place     pg_catalog.record;
    partition pg_catalog.regclass;
    days      pg_catalog.regclass[];
    answer    pg_catalog.text;
BEGIN
    CALL zbxhist_internal.next_transaction();
    place := zbxhist_internal.days_to_take_off(parent, day);
    PERFORM zbxhist_internal.verify_retention_action(parent, 'detach', schema_name);
    IF place.relations = '{}' THEN
        RAISE EXCEPTION 'table % has no partition for %', parent, to_char(day, 'YYYY-MM-DD')
            USING ERRCODE = 'undefined_table',
                  DETAIL = 'Its rows of that day are in the table itself.',
                  HINT = format('SELECT zbxhist.create_partition(%L, %L);', parent, to_char(day, 'YYYY-MM-DD'));
    END IF;
    RAISE NOTICE 'detaching values of table % %', parent, place.detail;
    -- runs are packed before they are unpacked
    days := ARRAY(SELECT d.day FROM zbxhist.packed_day d WHERE d.day = ANY (place.relations) AND d.runs);
    CALL zbxhist_internal.repeat_each_by_hand(parent, 'pack', days);
    CALL zbxhist_internal.next_transaction();
    days := ARRAY(SELECT r.relation FROM zbxhist_internal.ranges_of_day(parent, day) r WHERE r.is_packed);
    CALL zbxhist_internal.unpack_together(parent, days, true, answer);
    CALL zbxhist_internal.next_transaction();
    days := ARRAY(SELECT r.relation FROM zbxhist_internal.ranges_of_day(parent, day) r WHERE NOT r.is_packed);
    FOREACH partition IN ARRAY days LOOP
        CALL zbxhist_internal.repeat_step(parent, 'move', partition, answer);
        IF answer <> 'done' THEN
            RAISE EXCEPTION 'rows of % that wait in table % could not be moved there', partition, parent
                USING ERRCODE = 'object_in_use',
                      DETAIL = 'Nothing is lost.  Repeat the call.',
                      HINT = 'SELECT * FROM zbxhist.maintenance_log ORDER BY id DESC LIMIT 10;';
        END IF;
    END LOOP;
    CALL zbxhist_internal.take_off_by_hand(parent, days, 'detach', schema_name);
    RAISE NOTICE 'now tables of their own: %', zbxhist_internal.object_list(days::text[]);
    -- the session's own search_path again, for the caller's next statement
    COMMIT;
END
$$;

COMMENT ON PROCEDURE zbxhist.detach_day(regclass, date, name) IS
'Makes ordinary tables of their own of all partitions that a managed table has of a UTC day that is over, of what is packed as well, in another schema if one is given; can be broken off and repeated';

REVOKE ALL ON PROCEDURE zbxhist.detach_day(regclass, date, name) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.detach_day(regclass, date, name) TO pg_database_owner;
