-- sql/partitions/clone_triggers.sql

CREATE FUNCTION zbxhist_internal.clone_triggers(parent regclass, partition regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    item       record;
    separator  CONSTANT text := format(' ON %s ', parent);
    definition text;
    place      integer;
    rest       text;
    renamed    name;
BEGIN
    FOR item IN
        SELECT t.tgname, t.tgenabled, pg_get_triggerdef(t.oid) AS definition
          FROM zbxhist_internal.row_triggers(parent) t
         WHERE NOT EXISTS (SELECT FROM pg_trigger o
                            WHERE o.tgrelid = partition AND o.tgname = t.tgname)
         ORDER BY t.tgname
    LOOP
        definition := regexp_replace(item.definition, '^(CREATE TRIGGER .* BEFORE) INSERT OR ', '\1 ');
        place := strpos(definition, separator);
        rest := substr(definition, place + length(separator));
        IF place = 0 OR rest !~ '^(FROM|NOT DEFERRABLE|DEFERRABLE|INITIALLY|FOR EACH ROW) ' THEN
            RAISE EXCEPTION 'cannot copy trigger "%" of table %', item.tgname, parent
                USING ERRCODE = 'feature_not_supported',
                      DETAIL = item.definition;
        END IF;
        definition := left(definition, place) || format('ON %s ', partition) || rest;
        -- where it was renamed at the parent it must not fire twice
        SELECT o.tgname INTO renamed
          FROM pg_trigger o
         WHERE o.tgrelid = partition AND NOT o.tgisinternal
           AND replace(pg_get_triggerdef(o.oid), format('TRIGGER %I ', o.tgname), '')
               = replace(definition, format('TRIGGER %I ', item.tgname), '')
           AND NOT EXISTS (SELECT FROM zbxhist_internal.row_triggers(parent) t WHERE t.tgname = o.tgname)
         LIMIT 1;
        IF FOUND THEN
            PERFORM zbxhist_internal.execute_as_owner(partition, format(
                'ALTER TRIGGER %I ON %s RENAME TO %I', renamed, partition, item.tgname));
            CONTINUE;
        END IF;
        EXECUTE definition;
        IF item.tgenabled <> 'O' THEN
            PERFORM zbxhist_internal.execute_as_owner(partition, format(
                'ALTER TABLE %s %s TRIGGER %I', partition,
                CASE item.tgenabled WHEN 'D' THEN 'DISABLE'
                                    WHEN 'R' THEN 'ENABLE REPLICA'
                                    ELSE 'ENABLE ALWAYS' END,
                item.tgname));
        END IF;
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.clone_triggers(regclass, regclass) IS
'Gives a partition the row triggers of its parent that it has not, except those before INSERT and those with transition tables (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.clone_triggers(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.clone_triggers(regclass, regclass) TO pg_database_owner;
