-- sql/tables/require_owners.sql

-- Trigger function: refuses a row about a table of which the user does not have the owner's rights.
-- Maintenance drops and truncates the tables named here, maybe as a superuser; and everybody who may
-- read a parent sees the rows of its packed days.  The owner of the database may write to these
-- catalogs, but not reach tables of others that way.
CREATE FUNCTION zbxhist_internal.require_owners() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    relations oid[] := ARRAY[new.parent::oid];
BEGIN
    IF tg_relid = 'zbxhist.packed_day'::regclass THEN
        relations := relations || new.day::oid;
    ELSIF tg_relid = 'zbxhist.archive_copy'::regclass THEN
        relations := relations || new.groups::oid || coalesce(new.day::oid, 0);
    END IF;
    PERFORM zbxhist_internal.refuse('42501', format('must be owner of table %s', k.oid::regclass))
       FROM pg_class k
      WHERE k.oid = ANY (relations) AND NOT pg_has_role(k.relowner, 'USAGE');
    RETURN new;
END
$$;

CREATE TRIGGER require_owners BEFORE INSERT OR UPDATE ON zbxhist.parent_config
    FOR EACH ROW EXECUTE FUNCTION zbxhist_internal.require_owners();

CREATE TRIGGER require_owners BEFORE INSERT OR UPDATE ON zbxhist.auditlog_config
    FOR EACH ROW EXECUTE FUNCTION zbxhist_internal.require_owners();

CREATE TRIGGER require_owners BEFORE INSERT OR UPDATE OF parent, day ON zbxhist.packed_day
    FOR EACH ROW EXECUTE FUNCTION zbxhist_internal.require_owners();

CREATE TRIGGER require_owners BEFORE INSERT OR UPDATE OF parent, day, groups ON zbxhist.archive_copy
    FOR EACH ROW EXECUTE FUNCTION zbxhist_internal.require_owners();
