-- sql/tables/require_owners.sql

-- Trigger function: refuses to name a table for maintenance unless the user has the rights of its
-- owner.  Maintenance drops and empties what these tables name, with the rights of
-- the user who runs it, a superuser maybe.  The owner of the database may write to
-- them, but only about tables of which it has the owner's rights; a day's rows
-- become rows of its parent for everybody who may read that.
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
