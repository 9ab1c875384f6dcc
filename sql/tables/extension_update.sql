-- sql/tables/extension_update.sql
--
-- Empty where the extension is as it was created.  Not dumped: a restored
-- database has no sessions of before.

CREATE TABLE zbxhist.extension_update (
    updated_at timestamptz NOT NULL
);

-- deleted from, even where a publication has all tables
ALTER TABLE zbxhist.extension_update REPLICA IDENTITY FULL;

COMMENT ON TABLE zbxhist.extension_update IS
'When ALTER EXTENSION zbxhist UPDATE was last called here: sessions that began before may have the library of the version before';
COMMENT ON COLUMN zbxhist.extension_update.updated_at IS 'When that was';

REVOKE ALL ON zbxhist.extension_update FROM PUBLIC;
GRANT SELECT ON zbxhist.extension_update TO PUBLIC;
