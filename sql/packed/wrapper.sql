-- sql/packed/wrapper.sql

-- Handler of the foreign-data wrapper that reads packed days.
CREATE FUNCTION zbxhist_internal.fdw_handler() RETURNS fdw_handler
LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_fdw_handler';

-- Validator of the options of packed tables.
CREATE FUNCTION zbxhist_internal.fdw_validator(options text[], catalog oid) RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_fdw_validator';

-- Each managed table with packed days has one foreign table as a child, which stands for all of them.
CREATE FOREIGN DATA WRAPPER zbxhist
    HANDLER zbxhist_internal.fdw_handler
    VALIDATOR zbxhist_internal.fdw_validator;

COMMENT ON FOREIGN DATA WRAPPER zbxhist IS 'zbxhist: reads packed days';

CREATE SERVER zbxhist FOREIGN DATA WRAPPER zbxhist;

COMMENT ON SERVER zbxhist IS 'zbxhist: the packed days of this database';
REVOKE ALL ON FOREIGN SERVER zbxhist FROM PUBLIC;
GRANT USAGE ON FOREIGN SERVER zbxhist TO pg_database_owner;
