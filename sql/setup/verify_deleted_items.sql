-- sql/setup/verify_deleted_items.sql

CREATE FUNCTION zbxhist_internal.verify_deleted_items(parent regclass, deleted_items text)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF deleted_items NOT IN ('keep', 'drop') THEN
        RAISE EXCEPTION 'unrecognized value for argument "deleted_items": "%"', deleted_items
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Valid values are "keep", "drop".';
    END IF;
    -- items of another table are not Zabbix's
    IF deleted_items = 'drop'
       AND NOT EXISTS (SELECT FROM pg_class k
                         JOIN zbxhist_internal.zabbix_tables() z ON z.table_name = k.relname
                        WHERE k.oid = parent) THEN
        RAISE EXCEPTION 'table % is no table of Zabbix', parent
            USING ERRCODE = 'wrong_object_type',
                  DETAIL = 'What its items are is not told by the table "items".',
                  HINT = format('SELECT zbxhist.alter_parent(%L, deleted_items => ''keep'');', parent);
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.verify_deleted_items(regclass, text) IS
'Raises an error if values of deleted items cannot be dropped from a table, or the word is none (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.verify_deleted_items(regclass, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.verify_deleted_items(regclass, text) TO PUBLIC;
