-- sql/procedures/maintain_parent.sql

CREATE PROCEDURE zbxhist.maintain_parent(parent regclass)
LANGUAGE plpgsql
AS $$
DECLARE
    policy    zbxhist.parent_config;
    partition regclass;
    answer    text;
BEGIN
    CALL zbxhist.next_transaction();
    SELECT * INTO policy FROM zbxhist.parent_config c WHERE c.parent = maintain_parent.parent;
    IF NOT FOUND OR NOT policy.routing THEN
        RETURN;
    END IF;
    CALL zbxhist.repeat_step(parent, 'begin', NULL::regclass, answer);
    IF answer <> 'done' THEN
        RETURN;
    END IF;
    CALL zbxhist.repeat_step(parent, 'premake', NULL::regclass, answer);
    CALL zbxhist.repeat_step(parent, 'attach', NULL::regclass, answer);
    -- what was begun by hand and broken off
    FOREACH partition IN ARRAY zbxhist.work_list(parent, 'unpack') LOOP
        CALL zbxhist.repeat_step(parent, 'unpack', partition, answer);
    END LOOP;
    IF zbxhist.own_pages(parent) > 0 THEN
        CALL zbxhist.move_waiting(parent);
    END IF;
    FOREACH partition IN ARRAY zbxhist.work_list(parent, 'drop') LOOP
        CALL zbxhist.repeat_step(parent, 'drop', partition, answer);
    END LOOP;
    FOREACH partition IN ARRAY zbxhist.work_list(parent, 'pack') LOOP
        CALL zbxhist.repeat_step(parent, 'pack', partition, answer);
    END LOOP;
    IF zbxhist.own_pages(parent) > 0 THEN
        CALL zbxhist.merge_waiting(parent);
    END IF;
    IF zbxhist.own_pages(parent) > 0 THEN
        CALL zbxhist.repeat_step(parent, 'truncate', NULL::regclass, answer);
        IF answer = 'done' THEN
            CALL zbxhist.repeat_step(parent, 'expire', NULL::regclass, answer);
        END IF;
    END IF;
    CALL zbxhist.repeat_step(parent, 'verify', NULL::regclass, answer);
    CALL zbxhist.repeat_step(parent, 'end', NULL::regclass, answer);
END
$$;

COMMENT ON PROCEDURE zbxhist.maintain_parent(regclass) IS
'Maintenance of one managed table (internal)';

REVOKE ALL ON PROCEDURE zbxhist.maintain_parent(regclass) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.maintain_parent(regclass) TO pg_database_owner;
