# Nobody who reads managed tables or maintains them runs another user's code
# with his own rights.  Every attack is really made: each function of the
# attacker logs the user that runs it, and tries to make the attacker a
# superuser.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use POSIX ();
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $yesterday = POSIX::strftime('%Y-%m-%d', gmtime(day(-1)));
my $node = test_server('hostile', autovacuum => 'off');

# ---- attacks ----

# A schema of a role with functions that grab what they can, under a name that
# says what has run them.
sub trap_for
{
	my ($role) = @_;

	return <<"SQL";
CREATE SCHEMA trap_$role AUTHORIZATION $role;
GRANT USAGE ON SCHEMA trap_$role TO PUBLIC;
SET SESSION AUTHORIZATION $role;
CREATE FUNCTION trap_$role.grab(tag text) RETURNS integer LANGUAGE plpgsql VOLATILE AS \$\$
BEGIN
    RAISE LOG 'attack: "%" by $role as %', tag, current_user;
    BEGIN ALTER ROLE $role SUPERUSER; EXCEPTION WHEN OTHERS THEN NULL; END;
    BEGIN
        SET SESSION AUTHORIZATION DEFAULT;
        RAISE LOG 'attack: "%, out" by $role as %', tag, current_user;
    EXCEPTION WHEN OTHERS THEN NULL;
    END;
    RETURN 1;
END \$\$;
-- the planner runs it beforehand where it may, and anybody in an index
CREATE FUNCTION trap_$role.evil(tag text, something anyelement) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS \$\$
BEGIN RETURN trap_$role.grab(tag); END \$\$;
CREATE FUNCTION trap_$role.fired() RETURNS trigger LANGUAGE plpgsql AS \$\$
BEGIN
    PERFORM trap_$role.grab(tg_argv[0]);
    RETURN CASE tg_op WHEN 'DELETE' THEN old ELSE new END;
END \$\$;
CREATE DOMAIN trap_$role.dom AS integer CHECK (trap_$role.evil('domain', VALUE) > 0);
CREATE TYPE trap_$role.comp AS (c text);
CREATE FUNCTION trap_$role.to_text(trap_$role.comp) RETURNS text LANGUAGE plpgsql AS \$\$
BEGIN PERFORM trap_$role.grab('cast to text'); RETURN (\$1).c; END \$\$;
CREATE FUNCTION trap_$role.from_text(text) RETURNS trap_$role.comp LANGUAGE plpgsql AS \$\$
BEGIN PERFORM trap_$role.grab('cast from text'); RETURN ROW(\$1)::trap_$role.comp; END \$\$;
CREATE CAST (trap_$role.comp AS text) WITH FUNCTION trap_$role.to_text AS IMPLICIT;
CREATE CAST (text AS trap_$role.comp) WITH FUNCTION trap_$role.from_text AS ASSIGNMENT;
RESET SESSION AUTHORIZATION;
SQL
}

my $position = 0;

# What has been run as whom since the last call: "tag" => "roles".
sub attacks
{
	my $log = slurp_file($node->logfile, $position);
	my %seen;

	$seen{$1}{"$2 as $3"}++ while $log =~ /attack: "([^"]*)" by (\w+) as "?(\w+)/g;
	$position += length $log;
	return map { $_ => join(', ', sort keys %{ $seen{$_} }) } keys %seen;
}

# Nothing has been run since the last call but with its owner's rights; those
# attacks that are named have been.
sub is_harmless
{
	my ($name, @expected) = @_;
	my %seen = attacks();
	my @harm = grep { $seen{$_} !~ /^(\w+) as \1$/ } sort keys %seen;

	is(join("\n", map { "$_: $seen{$_}" } @harm), '', "$name: nothing is run as somebody else");
	is(join(', ', grep { !$seen{$_} } @expected), '', "$name: it has been tried") if @expected;
	is( $node->safe_psql(
			'postgres', 'SELECT string_agg(rolname, \',\') FROM pg_roles WHERE rolsuper'),
		'postgres',
		"$name: nobody has become a superuser");
}

# SQL in a session of a role, errors are its own business; returns output and
# errors.  Whoever plans a query on a table runs its owner's expressions: what
# the test wants to know it asks as the owner.
sub as
{
	my ($database, $role, $sql) = @_;
	my ($code, $out, $err) =
	  psql_script($node, $database, $sql, '-q', '-U', $role, '-v', 'VERBOSITY=verbose');

	return $out . join('', $err =~ /^(?:psql:\S+ )?ERROR:  (.*\n?)/mg);
}

# SQL as a role that must have no error.
sub as_well
{
	my ($database, $role, $sql, $name) = @_;
	my ($code, $out, $err) =
	  psql_script($node, $database, "SET client_min_messages = warning; $sql",
		'-q', '-U', $role, '-v', 'ON_ERROR_STOP=1');

	is($err, '', $name) if defined $name || $err ne '';
	return $out;
}

# The number of rows of one of zabbix's tables.
sub rows_as_owner
{
	my ($database, $table) = @_;

	return as_well($database, 'zabbix', "SELECT count(*) FROM $table");
}

my $look = join ";\n",
  map { "SELECT * FROM zbxhist.$_" } qw(check() parents status partitions progress preview());

$node->safe_psql('postgres',
	join('; ', map { "CREATE ROLE $_ LOGIN" } qw(zabbix dba mallory reader heir)));

# ---- the owner of the tables ----

# All that an owner can put into his tables, while somebody else, who may act
# for him, sets them up, maintains them and looks at them.
sub owner_against
{
	my ($user) = @_;
	my $db = "against_$user";
	my $with = "the tables' owner against $user";

	$node->safe_psql('postgres', "CREATE DATABASE $db OWNER dba");
	$node->safe_psql('postgres', 'GRANT zabbix TO dba');
	$node->safe_psql($db, 'GRANT ALL ON SCHEMA public TO zabbix, reader; ' . trap_for('zabbix'));
	as_well($db, $user, 'CREATE EXTENSION zbxhist');
	create_zabbix_tables($node, $db, 'zabbix');

	# before it is taken over
	as_well($db, 'zabbix', <<'SQL', "$with: preparations");
CREATE INDEX ON history ((itemid + trap_zabbix.evil('index', itemid)));
CREATE INDEX ON history (clock) WHERE trap_zabbix.evil('predicate', 1) > 0;
ALTER TABLE history ADD CHECK (trap_zabbix.evil('check', clock) > 0), ADD CHECK (trap_zabbix.evil('constant check', 1) > 0);
CREATE TRIGGER a BEFORE INSERT ON history FOR EACH ROW EXECUTE FUNCTION trap_zabbix.fired('insert trigger');
CREATE TRIGGER b BEFORE DELETE ON history EXECUTE FUNCTION trap_zabbix.fired('delete trigger');
CREATE TRIGGER c AFTER DELETE ON history EXECUTE FUNCTION trap_zabbix.fired('statement trigger');
CREATE TRIGGER d BEFORE TRUNCATE ON history_log EXECUTE FUNCTION trap_zabbix.fired('truncate trigger');
CREATE TRIGGER e BEFORE INSERT ON history FOR EACH ROW WHEN (trap_zabbix.evil('when', new.clock) > 0) EXECUTE FUNCTION trap_zabbix.fired('second insert trigger');
CREATE RULE r AS ON DELETE TO history DO ALSO SELECT trap_zabbix.grab('rule');
ALTER TABLE history_uint ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY p ON history_uint USING (trap_zabbix.grab('policy') > 0) WITH CHECK (true);
ALTER TABLE history_str ADD d trap_zabbix.dom DEFAULT trap_zabbix.grab('default'),
    ADD g integer GENERATED ALWAYS AS (trap_zabbix.evil('generated', clock)) STORED;
CREATE TABLE config (hk_history_mode trap_zabbix.comp, hk_history_global trap_zabbix.comp, hk_history trap_zabbix.comp,
                     hk_trends_mode trap_zabbix.comp, hk_trends_global trap_zabbix.comp, hk_trends trap_zabbix.comp);
INSERT INTO config VALUES (ROW('0'), ROW('1'), ROW('1s'), ROW('0'), ROW('1'), ROW('1s'));
SQL
	is_harmless("$with: preparations");
	as_well(
		$db, $user,
		"SELECT * FROM zbxhist.setup('public', '30 days', NULL, history_interval => '1 day')",
		"$with: set-up");
	is_harmless("$with: set-up");

	# rows for maintenance: to be moved, and too old; in most tables one stays
	as_well(
		$db, 'zabbix',
		'SET zbxhist.enable_routing = off;' . join(
			';',
			map {
				"INSERT INTO $_ (itemid, clock) SELECT i, c FROM generate_series(1, 3) i, unnest(ARRAY[${\ day(-1)}, ${\ day(0)}, ${\ day(-60)}]) c"
			} qw(history history_uint history_str history_text history_log))
		  . join('',
			map { "; INSERT INTO $_ (itemid, clock) VALUES (4, ${\ day(300)})" }
			  qw(history history_uint history_str history_text)),
		"$with: rows");
	attacks();
	as($db, $user, $look);
	is_harmless("$with: looks");
	my $answer = as_well($db, $user,
		"SELECT retention_source FROM zbxhist.parents WHERE parent = 'trends'::regclass");
	is($answer, 'none', "$with: a setting of another type is none");

	as_well(
		$db, $user,
		join(';',
			map { "SELECT zbxhist.create_partition('$_', '$yesterday')" }
			  qw(history history_uint history_str history_text history_log)));
	as($db, $user, 'CALL zbxhist.run_maintenance()') for 1 .. 2;

	# a policy stops whom it applies to
	is_harmless(
		"$with: maintenance",
		'index', 'check',
		'delete trigger',
		'statement trigger',
		'rule', 'generated',
		'truncate trigger',
		$user eq 'postgres' ? 'policy' : ());
	is(rows_as_owner($db, 'ONLY history'), 1, "$with: rows are moved and deleted");
	as($db, $user, $look);
	is_harmless("$with: looks again");

	packed_days($db, $user, $with);
	settings($db, $user, $with);

	is(as_well($db, $user, "SELECT zbxhist.delete_values('history', 4, 0, 0, 'greater')"),
		1, "$with: a row is deleted");
	is_harmless("$with: deleting", 'delete trigger', 'statement trigger', 'rule');
	as($db, $user, 'CALL zbxhist.undo(\'history\'); CALL zbxhist.undo(\'history_str\');');
	is_harmless("$with: undo", 'index', 'check');
	is(rows_as_owner($db, 'ONLY history'), 9, "$with: every row is back");
	$node->safe_psql('postgres', 'REVOKE zabbix FROM dba');
}

# Days are packed, get late values and are unpacked, with what the owner does to
# their tables and columns.
sub packed_days
{
	my ($db, $user, $with) = @_;

	as_well($db, $user, "CALL zbxhist.pack('$_', '$yesterday')", "$with: $_ is packed")
	  for qw(history history_text history_log);
	is_harmless("$with: packing");
	as_well($db, 'zabbix', <<"SQL", "$with: late rows");
INSERT INTO history (itemid, clock) SELECT i, ${\ (day(-1) + 1)} FROM generate_series(1, 3) i;
CREATE INDEX ON zbxhist_packed.${\ partition('history', -1)} ((first_itemid + trap_zabbix.evil('index of a day', first_clock)));
SQL
	attacks();
	as($db, $user, 'CALL zbxhist.run_maintenance()');
	is_harmless("$with: late rows are merged", 'index of a day');
	is(rows_as_owner($db, 'ONLY history'), 1, "$with: all of them");
	as_well($db, 'zabbix',
			"ALTER TABLE zbxhist_packed.${\ partition('history', -1)}"
		  . " ADD CHECK (trap_zabbix.evil('constant check of a day', 1) > 0), ADD CHECK (trap_zabbix.evil('check of a day', first_clock) > 0)"
	);
	attacks();
	as_well($db, $user, "CALL zbxhist.repack('history', '$yesterday')", "$with: a day is repacked");
	is_harmless("$with: repacking");
	as($db, $user,
		"SELECT * FROM zbxhist.verify('history'); CALL zbxhist.unpack('history', '$yesterday')");
	is_harmless("$with: unpacking", 'index', 'check');

	# columns that need the owner's code to be read
	as_well($db, 'zabbix', <<"SQL", "$with: other types");
GRANT SELECT ON history_text TO reader;
ALTER TABLE history_text ALTER value DROP DEFAULT;
ALTER TABLE history_text ALTER value TYPE trap_zabbix.comp;
ALTER TABLE history_text ADD d trap_zabbix.dom;
ALTER FOREIGN TABLE history_text_packed ALTER d OPTIONS (ADD missing '7');
SQL
	attacks();
	for my $who ($user, 'reader')
	{
		my $answer = as($db, $who,
				"SELECT (value).c, d FROM history_text WHERE clock < ${\ day(0)};"
			  . "SELECT (r).d FROM zbxhist.range(NULL::history_text, 1, ${\ day(-1)}, ${\ day(0)}) r;"
		);

		is($answer, "|7\n|7\n|7\n7", "$with: $who reads packed rows as they are now");
		is_harmless("$with: reading as $who", 'domain', 'cast from text');
	}
	as($db, $user, "CALL zbxhist.unpack('history_text', '$yesterday')");
	is_harmless("$with: unpacking other types", 'domain', 'cast from text');
	is(rows_as_owner($db, partition('history_text', -1)), 3, "$with: they are unpacked");
}

# Settings of Zabbix, of the types that they ought to have.
sub settings
{
	my ($db, $user, $with) = @_;

	as_well($db, 'zabbix', <<'SQL', "$with: settings");
DROP TABLE config;
CREATE TABLE config (hk_history_mode integer, hk_history_global integer, hk_history varchar(32), hk_trends_mode integer, hk_trends_global integer, hk_trends varchar(32));
INSERT INTO config VALUES (1, 0, '31d', 1, 0, '365d');
CREATE INDEX ON config ((trap_zabbix.evil('index of config', 1) + hk_history_mode));
ALTER TABLE config ADD CHECK (trap_zabbix.evil('check of config', 1) > 0);
CREATE TRIGGER t BEFORE UPDATE ON config FOR EACH ROW EXECUTE FUNCTION trap_zabbix.fired('trigger of config');
ALTER TABLE config ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY p ON config USING (trap_zabbix.grab('policy of config') > 0);
SQL
	attacks();
	as($db, $user, $look);
	is_harmless("$with: settings");
	as($db, $user,
		"SELECT * FROM zbxhist.setup('public', '30 days', configure_zabbix => true, history_interval => '1 day')"
	);
	as_well($db, 'zabbix', 'ALTER TABLE config DISABLE ROW LEVEL SECURITY');
	as_well($db, $user,
		"SELECT * FROM zbxhist.setup('public', '30 days', configure_zabbix => true, history_interval => '1 day')"
	);
	is_harmless("$with: changing settings", 'trigger of config');
	is(as_well($db, 'zabbix', 'SELECT hk_history_global, hk_trends_mode FROM config'),
		'1|0', "$with: they are changed");
	is( as_well(
			$db,
			$user,
			"SELECT retention_source, effective_retention FROM zbxhist.parents WHERE parent = 'trends'::regclass"
		),
		'zabbix: config.hk_trends|365 days',
		"$with: ... and followed");

	# a view in the place of a table, and other tables below it
	as_well($db, 'zabbix', <<'SQL', "$with: a view of settings");
ALTER TABLE config RENAME TO former;
CREATE VIEW config AS SELECT 1 AS hk_trends_mode, trap_zabbix.grab('view') AS hk_trends_global, trap_zabbix.grab('view')::text AS hk_trends;
CREATE TABLE settings (name varchar(255), value_str trap_zabbix.comp, value_int trap_zabbix.dom);
INSERT INTO settings VALUES ('hk_trends_global', ROW(''), 1), ('hk_trends', ROW('1s'), 1);
SQL
	attacks();
	as($db, $user, $look);
	is_harmless("$with: a view of settings");
	is( as_well(
			$db, $user,
			"SELECT retention_source FROM zbxhist.parents WHERE parent = 'trends'::regclass"),
		'none',
		"$with: that is no setting");
	as_well($db, 'zabbix',
		'DROP VIEW config; DROP TABLE settings; ALTER TABLE former RENAME TO config');
	attacks();
}

owner_against('postgres');
owner_against('dba');

# A column that is not what it was, and one that an index is on.
as_well('against_postgres', 'zabbix', <<"SQL");
SET zbxhist.enable_routing = off;
INSERT INTO trends_uint (itemid, clock) SELECT i, ${\ day(0)} FROM generate_series(1, 100) i;
ALTER TABLE trends_uint ALTER itemid TYPE text;
SQL
as('against_postgres', 'postgres', "$look; CALL zbxhist.run_maintenance('trends_uint')");
is(rows_as_owner('against_postgres', 'trends_uint'), 100, 'itemid of type text: the server lives');

# ---- somebody who may create tables ----

$node->safe_psql('postgres', 'CREATE DATABASE neighbours OWNER dba');
$node->safe_psql('neighbours',
	'GRANT ALL ON SCHEMA public TO zabbix, mallory; GRANT CREATE ON DATABASE neighbours TO mallory; GRANT zabbix TO dba; '
	  . trap_for('mallory'));
as_well('neighbours', 'dba', 'CREATE EXTENSION zbxhist');
create_zabbix_tables($node, 'neighbours', 'zabbix');
as_well('neighbours', 'zabbix', <<'SQL');
DROP TABLE history_bin;
CREATE TABLE settings (name varchar(255) PRIMARY KEY, type integer NOT NULL, value_str text DEFAULT '' NOT NULL, value_int integer DEFAULT '0' NOT NULL);
INSERT INTO settings VALUES ('hk_history_global', 2, '', 1), ('hk_history', 1, '31d', 0), ('hk_trends_global', 2, '', 1), ('hk_trends', 1, '365d', 0);
SQL
as_well('neighbours', 'dba', "SELECT * FROM zbxhist.setup('public', history_interval => '1 day')");
my $hostile_bin = <<"SQL";
CREATE TABLE history_bin (itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0, ns integer NOT NULL DEFAULT 0, value bytea NOT NULL DEFAULT '', PRIMARY KEY (itemid, clock, ns));
CREATE INDEX ON history_bin ((clock - trap_mallory.evil('history_bin', clock)));
CREATE TRIGGER t AFTER DELETE ON history_bin EXECUTE FUNCTION trap_mallory.fired('history_bin trigger');
INSERT INTO history_bin VALUES (1, 1), (2, 2147483647), (3, ${\ day(0)});
SQL
as_well('neighbours', 'mallory', <<"SQL", 'somebody makes tables in the schema of Zabbix');
CREATE TABLE config (hk_history_mode integer, hk_history_global trap_mallory.comp, hk_history trap_mallory.comp, hk_trends_global integer, hk_trends varchar(32));
INSERT INTO config VALUES (1, ROW('1'), ROW('1s'), 1, '1s');
GRANT ALL ON config TO PUBLIC;
$hostile_bin
-- what other extensions have
CREATE SCHEMA _timescaledb_catalog;
CREATE VIEW _timescaledb_catalog.hypertable AS SELECT ''::name AS schema_name, 'x'::name AS table_name WHERE trap_mallory.grab('hypertable') > 0;
GRANT USAGE ON SCHEMA _timescaledb_catalog TO PUBLIC;
GRANT SELECT ON _timescaledb_catalog.hypertable TO PUBLIC;
SQL
attacks();

for my $user ('postgres', 'dba')
{
	as('neighbours', $user, "$look; CALL zbxhist.run_maintenance()");
	is_harmless("a table that anybody could make, $user");
	is( as_well(
			'neighbours', $user,
			'SELECT DISTINCT retention_source FROM zbxhist.parents ORDER BY 1'),
		"zabbix: settings.hk_history\nzabbix: settings.hk_trends",
		'... is not taken for the settings of Zabbix');
	is( as_well(
			'neighbours',
			$user,
			"SELECT code, object FROM zbxhist.check() WHERE code IN ('not_taken_up', 'new_table')"),
		'not_taken_up|public.history_bin',
		'... nor taken up, as check() says');
}
is( $node->safe_psql(
		'neighbours',
		"SELECT count(*) FROM zbxhist.parent_config WHERE parent = 'history_bin'::regclass"),
	0,
	'it is not managed');
my $hint =
  $node->safe_psql('neighbours', "SELECT hint FROM zbxhist.check() WHERE code = 'not_taken_up'");
as_well('neighbours', 'postgres', $hint, 'a superuser may take it up nevertheless');
as_well('neighbours', 'postgres',
	"SELECT zbxhist.alter_parent('history_bin', retention => '1 day', move_existing => true, accept_deletion => true)"
);
as('neighbours', 'postgres', "$look; CALL zbxhist.run_maintenance('history_bin')") for 1 .. 3;
is_harmless('... whose code is its owner\'s then', 'history_bin', 'history_bin trigger');

# ---- the owner of the database, and tables of others ----

as_well('neighbours', 'postgres', <<'SQL');
CREATE SCHEMA private;
CREATE TABLE private.precious (LIKE public.history INCLUDING ALL);
CREATE TABLE private.history (LIKE public.history INCLUDING ALL);
INSERT INTO private.precious (itemid) VALUES (1);
INSERT INTO private.history (itemid) VALUES (1);
SQL
for (
	"INSERT INTO zbxhist.parent_config (parent, partition_interval, retention, premake) VALUES ('private.precious', '1 day', '1 day', 1)",
	"UPDATE zbxhist.parent_config SET parent = 'private.precious', retention = '1 day' WHERE parent = 'history'::regclass",
	"INSERT INTO zbxhist.packed_day VALUES ('history', 'private.precious', 0, 86400, 1)",
	"SELECT zbxhist_internal.execute_as_owner('private.precious', 'DROP TABLE private.precious')",
	"SELECT zbxhist_internal.change_owner('private.precious', 'dba'::regrole)",
	"SELECT zbxhist_internal.count_own_rows('private.precious', NULL, NULL)")
{
	$node->safe_psql('neighbours', "GRANT USAGE ON SCHEMA private TO dba");
	like(as('neighbours', 'dba', $_), qr/^42501: /, "the database's owner is refused: $_");
}
as_well('neighbours', 'dba',
	"INSERT INTO zbxhist.managed_schema (schema_name, history_retention, premake, move_existing, history_interval) VALUES ('private', '1 second', 1, false, '1 hour')"
);
as_well('neighbours', 'postgres', 'CALL zbxhist.run_maintenance()');
is(rows_of($node, 'neighbours', 'private.precious'),
	1, 'no table of a superuser is dropped or emptied');
is(rows_of($node, 'neighbours', 'private.history'),
	1, '... nor one that is named like one of Zabbix');

# Functions, operators and types of the names that ours are called by, found
# before those of PostgreSQL.
as_well('neighbours', 'mallory', <<'SQL', 'a schema that is looked through first');
CREATE DOMAIN trap_mallory.text AS pg_catalog.text CHECK (trap_mallory.evil('type text', 1) > 0);
CREATE DOMAIN trap_mallory.regclass AS pg_catalog.regclass CHECK (trap_mallory.evil('type regclass', 1) > 0);
CREATE DOMAIN trap_mallory.timestamptz AS pg_catalog.timestamptz CHECK (trap_mallory.evil('type timestamptz', 1) > 0);
CREATE FUNCTION trap_mallory.clock_timestamp() RETURNS pg_catalog.timestamptz LANGUAGE plpgsql AS $$
BEGIN PERFORM trap_mallory.grab('clock_timestamp'); RETURN pg_catalog.clock_timestamp(); END $$;
CREATE FUNCTION trap_mallory.pg_is_in_recovery() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN PERFORM trap_mallory.grab('pg_is_in_recovery'); RETURN false; END $$;
CREATE FUNCTION trap_mallory.set_config(pg_catalog.text, pg_catalog.text, boolean) RETURNS pg_catalog.text LANGUAGE plpgsql AS $$
BEGIN PERFORM trap_mallory.grab('set_config'); RETURN $2; END $$;
CREATE FUNCTION trap_mallory.format(pg_catalog.text, pg_catalog.text) RETURNS pg_catalog.text LANGUAGE plpgsql AS $$
BEGIN PERFORM trap_mallory.grab('format'); RETURN pg_catalog.format($1, $2); END $$;
CREATE FUNCTION trap_mallory.equal(pg_catalog.text, pg_catalog.text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN PERFORM trap_mallory.grab('operator'); RETURN $1 OPERATOR(pg_catalog.=) $2; END $$;
CREATE OPERATOR trap_mallory.= (FUNCTION = trap_mallory.equal, LEFTARG = pg_catalog.text, RIGHTARG = pg_catalog.text);
CREATE OPERATOR trap_mallory.<> (FUNCTION = trap_mallory.equal, LEFTARG = pg_catalog.text, RIGHTARG = pg_catalog.text);
SQL
as_well('neighbours', 'dba',
	'ALTER DATABASE neighbours SET search_path = trap_mallory, pg_catalog, public');
attacks();
for my $user ('postgres', 'dba')
{
	as('neighbours', $user,
		"$look; CALL zbxhist.run_maintenance(); CALL zbxhist.pack('public.history', '$yesterday');"
		  . "SELECT zbxhist.delete_item(1); SELECT * FROM zbxhist.setup('public', dry_run => true)"
	);
	is_harmless("a search_path that somebody else has set, $user");
}
as_well('neighbours', 'dba', 'ALTER DATABASE neighbours RESET search_path');

# ---- schemas of our names ----

# CREATE EXTENSION in a new database after the SQL: its error, or nothing.
sub extension_after
{
	my ($sql) = @_;
	my ($code, $out, $err);

	$node->safe_psql('postgres', 'DROP DATABASE IF EXISTS fresh');
	$node->safe_psql('postgres', 'CREATE DATABASE fresh OWNER dba');
	$node->safe_psql('fresh', 'GRANT CREATE ON DATABASE fresh TO mallory');
	as_well('fresh', 'postgres', $sql);
	($code, $out, $err) = psql_script($node, 'fresh', 'CREATE EXTENSION zbxhist',
		'-q', '-U', 'dba', '-v', 'VERBOSITY=terse');
	return $err =~ /ERROR:  (.*)/ ? $1 : '';
}

my $overload = <<'SQL';
CREATE FUNCTION zbxhist.log_action(regclass, text, text, bigint, bigint, timestamptz, interval) RETURNS void LANGUAGE sql AS 'SELECT';
SQL
is( extension_after('SET ROLE mallory; CREATE SCHEMA zbxhist'),
	'schema "zbxhist" exists and belongs to role mallory',
	'a schema of somebody else is refused');
is( extension_after(
		"SET ROLE mallory; CREATE SCHEMA zbxhist; GRANT CREATE ON SCHEMA zbxhist TO mallory; $overload RESET ROLE; ALTER SCHEMA zbxhist OWNER TO dba"
	),
	'schema "zbxhist" exists and is not empty',
	'one that holds a function, too');
for (
	'CREATE TABLE zbxhist.parent_config (parent regclass)',
	'CREATE DOMAIN zbxhist.parent_state AS text',
	'CREATE OPERATOR zbxhist.= (FUNCTION = int4eq, LEFTARG = int, RIGHTARG = int)',
	'CREATE COLLATION zbxhist.c FROM "C"',
	'CREATE TEXT SEARCH DICTIONARY zbxhist.d (TEMPLATE = simple)')
{
	is( extension_after("SET ROLE dba; CREATE SCHEMA zbxhist; $_"),
		'schema "zbxhist" exists and is not empty',
		"... or anything else: $_");
}
is( extension_after("CREATE SCHEMA $_ AUTHORIZATION dba"),
	"schema \"$_\" exists",
	"schema $_ is refused") for qw(zbxhist_internal zbxhist_packed);
is( extension_after(
		'SET ROLE dba; CREATE SCHEMA zbxhist; GRANT ALL ON SCHEMA zbxhist TO mallory, PUBLIC'),
	'',
	'an empty one of the database\'s owner is taken');
is( $node->safe_psql(
		'fresh',
		"SELECT nspowner::regrole, has_schema_privilege('mallory', oid, 'CREATE'), has_schema_privilege('mallory', oid, 'USAGE')"
		  . " FROM pg_namespace WHERE nspname = 'zbxhist'"),
	'pg_database_owner|f|t',
	'... but nobody else\'s right to put something there');
$node->safe_psql('fresh', 'DROP EXTENSION zbxhist');
as_well('fresh', 'dba', 'CREATE EXTENSION zbxhist', 'what DROP EXTENSION leaves is taken again');
is(extension_after('CREATE SCHEMA zbxhist'),
	'', 'one of a superuser is taken, as a restore makes it');
like(
	$node->safe_psql('postgres', 'SELECT 1')
	  . as(
		'fresh', 'dba',
		'DROP EXTENSION zbxhist; CREATE TABLE zbxhist.t (); CREATE EXTENSION zbxhist;'),
	qr/is not empty/,
	'the check is there for each CREATE EXTENSION');

# The owner of the database may put functions into zbxhist: ours are called all
# the same, and check() tells of them.
$node->safe_psql('neighbours', 'ALTER ROLE dba CREATEROLE; ' . trap_for('dba'));
as_well(
	'neighbours',
	'dba',
	join(
		';',
		map {
			"CREATE FUNCTION zbxhist.$_ LANGUAGE plpgsql AS \$\$ BEGIN PERFORM trap_dba.grab('overload'); RETURN; END \$\$"
		} ( 'list_partitions(oid) RETURNS SETOF record',
			'list_partitions(VARIADIC regclass[]) RETURNS SETOF record',
			'partition_bounds(oid, OUT from_clock bigint, OUT to_clock bigint)',
			'version(VARIADIC integer[]) RETURNS SETOF text',
			'insert_paths(integer DEFAULT 1) RETURNS SETOF record',
			'delete_values(regclass, bigint, integer, integer, varchar) RETURNS SETOF bigint',
			'delete_values(regclass, bigint, bigint, bigint, text) RETURNS SETOF bigint')),
	'functions with the names of ours');
attacks();
as('neighbours', 'postgres',
	"$look; CALL zbxhist.run_maintenance(); SELECT zbxhist.delete_item(2); SELECT zbxhist.verify('public.history')"
);
is_harmless('overloaded functions');
is( $node->safe_psql(
		'neighbours',
		"SELECT count(*), bool_and(hint ~ '^DROP ROUTINE zbxhist') FROM zbxhist.check() WHERE code = 'foreign_routine'"
	),
	'7|t',
	'check() tells of them');
$node->safe_psql('neighbours',
	"SELECT hint FROM zbxhist.check() WHERE code = 'foreign_routine' \\gexec");
is( $node->safe_psql(
		'neighbours', "SELECT count(*) FROM zbxhist.check() WHERE code = 'foreign_routine'"),
	0,
	'... and how to be rid of them');

# When the extension is gone, its schema is not: a table there with the name of one of ours is
# not read by sessions that know the extension.
$node->safe_psql('postgres', 'CREATE DATABASE gone OWNER dba');
my $session = $node->background_psql('gone', on_error_stop => 0);
$node->safe_psql('gone', 'SET ROLE dba; CREATE EXTENSION zbxhist');
create_zabbix_tables($node, 'gone', 'dba');
$node->safe_psql('gone', "SELECT zbxhist.create_parent('history')");
$session->query_safe(insert_values('history', 1, 10, day(0)));
as_well('gone', 'dba', <<'SQL', 'tables with the names of ours, and a trigger');
DROP EXTENSION zbxhist CASCADE;
CREATE TABLE zbxhist.parent_config (parent oid, routing boolean, out_of_range bigint);
INSERT INTO zbxhist.parent_config VALUES ('history'::regclass, false, 1);
CREATE FUNCTION fired() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
CREATE TRIGGER zzz_zbxhist_route BEFORE INSERT ON history FOR EACH ROW EXECUTE FUNCTION fired();
SQL
is($session->query('SELECT count(*) FROM history WHERE itemid > 0 AND clock > 0'),
	10, 'they are not read');
$session->quit;

# ---- another owner ----

$node->safe_psql('postgres', 'CREATE DATABASE inherited OWNER dba');
$node->safe_psql('inherited',
	'GRANT ALL ON SCHEMA public TO zabbix, heir; GRANT heir, zabbix TO dba');
as_well('inherited', 'dba', 'CREATE EXTENSION zbxhist');
create_zabbix_tables($node, 'inherited', 'zabbix');
as_well('inherited', 'dba',
		"SELECT * FROM zbxhist.setup('public', '30 days', history_interval => '1 day');"
	  . "SELECT zbxhist.create_partition('history', '$yesterday')");
as_well('inherited', 'zabbix',
	'GRANT SELECT, INSERT ON history TO reader;' . insert_values('history', 1, 300, day(0)));
as_well('inherited', 'dba', "CALL zbxhist.pack('history', '$yesterday')");
$node->safe_psql('inherited', 'ALTER TABLE history OWNER TO heir');

my $owners = "SELECT string_agg(DISTINCT relowner::regrole::text, ',') FROM pg_class"
  . " WHERE relname ~ '^history_(p20|packed)' AND relkind IN ('r', 'f')";
my $by_sql = "SELECT itemid, clock, ns, value FROM history WHERE itemid = 3 ORDER BY clock, ns";
my $by_function =
  "SELECT itemid, clock, ns, value FROM zbxhist.range(NULL::history, 3, 0, 2147483647)";

# Everybody reads and writes the same, whichever way.
sub works_for_all
{
	my ($name) = @_;
	my $rows = $node->safe_psql('inherited', $by_sql);

	is(scalar(split /\n/, $rows), 1, "$name: a packed row");
	for my $role (qw(heir reader postgres))
	{
		is(as_well('inherited', $role, $by_sql), $rows, "$name: $role reads it by SQL");
		is(as_well('inherited', $role, $by_function), $rows, "$name: ... and by function");
	}
	is( as_well(
			'inherited', 'reader',
			'SELECT (zbxhist.statistics(\'history\', 3, 0, 2147483647)).count'),
		1,
		"$name: statistics, too");
	like(as('inherited', 'reader', insert_values('history', 3, 1, day(0))),
		qr/^23505/, "$name: its key is known");
	is( as_well(
			'inherited', 'heir',
			'BEGIN; DELETE FROM history WHERE itemid = 6 RETURNING itemid; ROLLBACK'),
		6,
		"$name: rows can be deleted by SQL");
	is( as_well(
			'inherited', 'dba',
			"BEGIN; SELECT zbxhist.delete_values('history', 6, 0, 0, 'greater'); ROLLBACK"),
		1,
		"$name: ... and by function");
}

is($node->safe_psql('inherited', $owners), 'zabbix',
	'ALTER TABLE ... OWNER TO leaves the children');
works_for_all('another owner');
is($node->safe_psql('inherited', "SELECT count(*) FROM zbxhist.check() WHERE code = 'owner'"),
	0, 'check() does not tell before maintenance has had a day to mend it');

# who may not give them away says so, and goes on with the others
$node->safe_psql('inherited', 'REVOKE zabbix FROM dba');
as_well('inherited', 'heir', insert_values('history', 1001, 30, day(0)));
as('inherited', 'dba', "CALL zbxhist.run_maintenance('history')");
is($node->safe_psql('inherited', $owners),
	'zabbix', 'they stay with whom the maintainer may not act for');
$node->safe_psql('inherited', 'GRANT zabbix TO dba');
as_well('inherited', 'dba', "CALL zbxhist.run_maintenance('history')", 'maintenance mends it');
is($node->safe_psql('inherited', $owners), 'heir', 'all children follow');
is( $node->safe_psql(
		'inherited',
		"SELECT count(*) FROM zbxhist.maintenance_log WHERE action = 'owner' AND sqlstate IS NULL"),
	6,
	'... each in the log');
is($node->safe_psql('inherited', "SELECT count(*) FROM zbxhist.check() WHERE code = 'owner'"),
	0, 'check() is content');
works_for_all('after maintenance');
as_well(
	'inherited',
	'dba',
	"CALL zbxhist.run_maintenance('history'); CALL zbxhist.unpack('history', '$yesterday'); CALL zbxhist.undo('history')",
	'all else goes on');
is(rows_of($node, 'inherited', 'ONLY history'), 330, 'with every row');

log_is_clean($node);
$node->stop;
done_testing();
