
-- sql/upgrade/end.sql
--
-- The end of every update: see zbxhist_internal.old_sessions().

DELETE FROM zbxhist.extension_update;
INSERT INTO zbxhist.extension_update VALUES (clock_timestamp());
