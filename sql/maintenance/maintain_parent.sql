-- sql/maintenance/maintain_parent.sql

CREATE PROCEDURE zbxhist_internal.maintain_parent(parent regclass)
LANGUAGE plpgsql
AS $$
DECLARE
    policy    zbxhist.parent_config;
    partition pg_catalog.regclass;
    days      pg_catalog.regclass[];
    answer    pg_catalog.text;
    began     pg_catalog.timestamptz;
BEGIN
    CALL zbxhist_internal.next_transaction();
    SELECT * INTO policy FROM zbxhist.parent_config c WHERE c.parent = maintain_parent.parent;
    IF NOT FOUND OR NOT policy.routing THEN
        RETURN;
    END IF;
    CALL zbxhist_internal.repeat_step(parent, 'begin', NULL::regclass, answer);
    IF answer = 'unfit' THEN
        CALL zbxhist_internal.repeat_step(parent, 'end', NULL::regclass, answer);
        RETURN;
    ELSIF answer <> 'done' THEN
        RETURN;
    END IF;
    CALL zbxhist_internal.repeat_step(parent, 'owner', NULL::regclass, answer);
    CALL zbxhist_internal.repeat_step(parent, 'premake', NULL::regclass, answer);
    FOREACH partition IN ARRAY zbxhist_internal.work_list(parent, 'split') LOOP
        CALL zbxhist_internal.repeat_step(parent, 'split', partition, answer);
    END LOOP;
    FOREACH partition IN ARRAY zbxhist_internal.work_list(parent, 'replace') LOOP
        CALL zbxhist_internal.repeat_step(parent, 'replace', partition, answer);
    END LOOP;
    CALL zbxhist_internal.repeat_step(parent, 'attach', NULL::regclass, answer);
    CALL zbxhist_internal.repeat_step(parent, 'trigger', NULL::regclass, answer);
    FOREACH partition IN ARRAY zbxhist_internal.work_list(parent, 'align') LOOP
        CALL zbxhist_internal.repeat_step(parent, 'align', partition, answer);
    END LOOP;
    -- what was begun by hand and broken off, or was packed with other columns
    days := zbxhist_internal.work_list(parent, 'unpack');
    FOR place IN 1 .. cardinality(days) BY 48 LOOP
        CALL zbxhist_internal.unpack_together(parent, days[place:place + 47], false, answer);
    END LOOP;
    IF zbxhist_internal.own_pages(parent) > 0 THEN
        CALL zbxhist_internal.move_waiting(parent);
    END IF;
    FOREACH partition IN ARRAY zbxhist_internal.work_list(parent, 'drop') LOOP
        CALL zbxhist_internal.repeat_step(parent, 'drop', partition, answer);
    END LOOP;
    CALL zbxhist_internal.pack_closed(parent);
    FOREACH partition IN ARRAY zbxhist_internal.work_list(parent, 'index') LOOP
        CALL zbxhist_internal.repeat_step(parent, 'index', partition, answer);
    END LOOP;
    IF zbxhist_internal.own_pages(parent) > 0 THEN
        CALL zbxhist_internal.merge_waiting(parent);
    END IF;
    IF zbxhist_internal.own_pages(parent) > 0 THEN
        CALL zbxhist_internal.repeat_step(parent, 'truncate', NULL::regclass, answer);
        IF answer IN ('done', 'postponed') THEN
            CALL zbxhist_internal.repeat_step(parent, 'expire', NULL::regclass, answer);
        END IF;
    END IF;
    FOREACH partition IN ARRAY zbxhist_internal.work_list(parent, 'merge_runs') LOOP
        CALL zbxhist_internal.repeat_step(parent, 'merge_runs', partition, answer);
    END LOOP;
    CALL zbxhist_internal.repeat_step(parent, 'verify', NULL::regclass, answer);
    FOREACH partition IN ARRAY zbxhist_internal.work_list(parent, 'compact') LOOP
        CALL zbxhist_internal.repeat_step(parent, 'compact', partition, answer);
        EXIT WHEN answer NOT IN ('done', 'failed');
    END LOOP;
    FOREACH partition IN ARRAY zbxhist_internal.work_list(parent, 'repack') LOOP
        CALL zbxhist_internal.repeat_step(parent, 'repack', partition, answer);
        EXIT WHEN answer NOT IN ('done', 'failed');
    END LOOP;
    began := clock_timestamp();
    FOREACH partition IN ARRAY zbxhist_internal.work_list(parent, 'inspect') LOOP
        CALL zbxhist_internal.repeat_step(parent, 'inspect', partition, answer);
        -- the rest is for the next runs
        EXIT WHEN clock_timestamp() > began + interval '1 minute';
    END LOOP;
    CALL zbxhist_internal.repeat_step(parent, 'measure', NULL::regclass, answer);
    CALL zbxhist_internal.repeat_step(parent, 'end', NULL::regclass, answer);
END
$$;

COMMENT ON PROCEDURE zbxhist_internal.maintain_parent(regclass) IS
'Maintenance of one managed table (internal)';

REVOKE ALL ON PROCEDURE zbxhist_internal.maintain_parent(regclass) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist_internal.maintain_parent(regclass) TO pg_database_owner;
