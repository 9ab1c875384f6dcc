# The findings of check(), and what their hints do: each finding is produced,
# and its hint is executed as printed, by the owner of the database unless the
# message names a superuser.  After that, and the next maintenance,
# the finding is gone and no row is lost, unless the message has said so.  The
# SQL of check() shows that no finding is left out.  Cases whose hint leaves a
# database as it was share one.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use POSIX ();
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $node = test_server('hints', max_prepared_transactions => 5);
my $yesterday = partition('history', -1);
my $today = partition('history', 0);
my $tomorrow = partition('history', 1);
my $packed = POSIX::strftime('%Y-%m-%d', gmtime(day(-3)));
my $packed_table = 'zbxhist_packed.' . partition('history', -3);
my $late = 'CALL zbxhist.run_maintenance();';
my $archive = <<'SQL';
CREATE EXTENSION postgres_fdw;
GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO zabbix;
CREATE SCHEMA zbxhist_archive AUTHORIZATION zabbix;
CREATE TABLE zbxhist_archive.packed_group (copy uuid NOT NULL, number bigint NOT NULL, payload bytea NOT NULL, PRIMARY KEY (copy, number));
DO $$ BEGIN
	EXECUTE format('CREATE SERVER cold FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %L, port %L, dbname %L)',
		split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database());
END $$;
ALTER TABLE zbxhist_archive.packed_group OWNER TO zabbix;
ALTER SERVER cold OWNER TO zabbix;
CREATE USER MAPPING FOR zabbix SERVER cold OPTIONS (user 'zabbix', password_required 'false');
SET SESSION AUTHORIZATION zabbix;
SELECT zbxhist.alter_parent('history', archive_server => 'cold')
SQL
chomp $archive;
my @stand_ins = qw(lo citext pg_trgm btree_gin tablefunc);
my ($databases, $free, $finished, $looking, $blocker, $base_rows, $base_read) = (0);

# ---- a Zabbix in good order ----

# Rows of three months in the parent itself, in partitions, and in a packed
# day; Zabbix's override is on.
sub make_base
{
	$node->safe_psql(
		'postgres',
		'CREATE ROLE zabbix LOGIN;' . join '',
		map { "CREATE ROLE $_;" } qw(somebody watcher monitor viewer newer other keeper archivist));
	create_database($node, 'base', 'zabbix');
	create_zabbix_tables($node, 'base', 'zabbix');
	$node->safe_psql('base', <<"SQL");
SET SESSION AUTHORIZATION zabbix;
DROP TABLE history_uint, history_log, history_bin;
CREATE TABLE config (configid bigint PRIMARY KEY, hk_history_mode integer NOT NULL, hk_history_global integer NOT NULL,
    hk_history varchar(32) NOT NULL, hk_trends_mode integer NOT NULL, hk_trends_global integer NOT NULL, hk_trends varchar(32) NOT NULL);
INSERT INTO config VALUES (1, 0, 1, '200d', 0, 1, '1000d');
CREATE TABLE hosts (hostid bigint PRIMARY KEY, host varchar(128) NOT NULL, status integer NOT NULL);
CREATE TABLE items (itemid bigint PRIMARY KEY, hostid bigint NOT NULL, name varchar(255) NOT NULL, flags integer NOT NULL,
    value_type integer NOT NULL, history varchar(255) NOT NULL, trends varchar(255) NOT NULL);
INSERT INTO hosts VALUES (1, 'web', 0);
INSERT INTO items SELECT i, 1, 'item ' || i, 0, 0, '31d', '365d' FROM generate_series(1, 9) i;
INSERT INTO history (itemid, clock, value) SELECT 1, extract(epoch FROM now())::integer - 86400 * i, i FROM generate_series(10, 89, 11) i;
INSERT INTO trends (itemid, clock) SELECT 1, extract(epoch FROM now())::integer - 86400 * i FROM generate_series(40, 700, 90) i;
SELECT * FROM zbxhist.setup(never_pack => true, history_interval => '1 day');
SELECT zbxhist.create_partition('history', (now() AT TIME ZONE 'UTC')::date - i) FROM generate_series(1, 3) i;
INSERT INTO history (itemid, clock, value) SELECT i, @{[ day(-1) ]} + i, i FROM generate_series(1, 1000) i;
INSERT INTO history (itemid, clock, value) SELECT i, @{[ day(-2) ]} + i, i FROM generate_series(1, 100) i;
INSERT INTO history (itemid, clock, value) SELECT i, @{[ day(-3) ]} + i, i FROM generate_series(1, 500) i;
ANALYZE;
CREATE FUNCTION nop() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN coalesce(new, old); END';
-- all values that there are, in whatever table, each once
CREATE FUNCTION stored(OUT rows bigint) LANGUAGE plpgsql AS \$\$
DECLARE relation regclass; found bigint;
BEGIN
    rows := 0;
    FOR relation IN
        SELECT k.oid FROM pg_class k
         WHERE k.relnamespace IN ('public'::regnamespace, 'zbxhist_partitions'::regnamespace) AND k.relkind IN ('r', 'p') AND k.relname ~ '^(history|trends|apart)'
           AND NOT EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = k.oid)
    LOOP
        EXECUTE format('SELECT count(*) FROM (SELECT DISTINCT itemid, clock FROM %s) h', relation) INTO found;
        rows := rows + found;
    END LOOP;
END \$\$;
-- what is read of the managed tables, each row once, whatever order it is in
CREATE FUNCTION contents() RETURNS text LANGUAGE plpgsql AS \$\$
DECLARE relation text; found text; result text := '';
BEGIN
    FOREACH relation IN ARRAY '{history,history_str,history_text,trends,trends_uint}'::text[] LOOP
        CONTINUE WHEN to_regclass(relation) IS NULL;
        EXECUTE format('SELECT count(*) || md5(coalesce(string_agg(r, '''' ORDER BY r COLLATE "C"), '''')) FROM (SELECT DISTINCT h::text AS r FROM %s h) d', relation) INTO found;
        result := result || format('%s: %s ', relation, found);
    END LOOP;
    RETURN result;
END \$\$;
-- as if this had been so for two days
CREATE PROCEDURE age() LANGUAGE sql AS \$\$
    UPDATE zbxhist.parent_state SET last_run = now() - interval '2 days';
    UPDATE zbxhist.parent_config SET created_at = now() - interval '2 days';
    UPDATE zbxhist.step_problem SET since = now() - interval '2 days';
\$\$;
SQL
	$node->safe_psql('base',
		"SET SESSION AUTHORIZATION zabbix; CALL zbxhist.pack('history', '$packed')");
	maintain($node, 'base', 'zabbix');
	$node->safe_psql('postgres', "ALTER DATABASE base IS_TEMPLATE true");
}

# A database like it: that of a case that left it so, or a copy.
sub take_database
{
	my $database = $free // 'case' . ++$databases;

	if (!defined $free)
	{
		end_looking();
		$node->safe_psql('postgres',
				($finished ? "DROP DATABASE $finished;\n" : '')
			  . "CREATE DATABASE $database OWNER zabbix TEMPLATE base STRATEGY file_copy;\n"
			  . "ALTER DATABASE $database SET session_preload_libraries = 'zbxhist'");
	}
	($free, $finished) = (undef, $database);
	return $database;
}

# ---- looking ----

# Ends the session of look_at().
sub end_looking
{
	$looking->quit if $looking;
	$looking = undef;
}

# What check() finds: [code, object, message, hint]; values that are stored, and what is
# read of the managed tables.  After so many runs of maintenance; in a session that does this
# alone, for as long as there is the database.
sub look_at
{
	my ($database, $case, $runs) = @_;
	my $role = $case->{role} // 'zabbix';
	my ($rows, $read, @found) = (0, '');
	my $script =
		"SET client_min_messages = error;\nSET SESSION AUTHORIZATION zabbix;\n"
	  . "CALL zbxhist.run_maintenance();\n" x ($runs // 0)
	  . "RESET SESSION AUTHORIZATION;\n"
	  . "SET ROLE $role;\n"
	  . "SELECT concat_ws(chr(9), code, object, message, coalesce(hint, '')) FROM zbxhist.check();\n"
	  . "RESET ROLE;\n";

	$script .= "SELECT concat_ws(chr(9), '=rows', rows) FROM stored();\n"
	  if $runs || !$case->{unreadable};
	$script .= "SELECT concat_ws(chr(9), '=read', contents());\n" if is_compared($case);
	end_looking() if $case->{new_session};
	$looking //= $node->background_psql($database);
	for (split /\n/, $looking->query_safe($script))
	{
		my @fields = split /\t/, $_, -1;

		if ($fields[0] eq '=rows') { $rows = $fields[1] }
		elsif ($fields[0] eq '=read') { $read = $fields[1] }
		else { push @found, \@fields }
	}
	return ($rows, $read, @found);
}

# Those of a case's code: [object, message, hint].
sub findings
{
	my ($case, @found) = @_;

	return map { [ @$_[ 1 .. 3 ] ] } grep { $_->[0] eq $case->{code} } @found;
}

# Runs a command as it was printed, by whom the message says; if it asks for an
# agreement to what it deletes, it is given that.
sub run_printed
{
	my ($database, $command, $name, $message) = @_;
	my $role = $message =~ /superuser/ ? '' : "SET SESSION AUTHORIZATION zabbix;\n";
	my ($code, $out, $err) =
	  psql_script($node, $database, "$role$command", '-v', 'ON_ERROR_STOP=1');

	if ($code != 0 && $err =~ /^HINT: .* repeat the call with accept_deletion => true\.$/m)
	{
		my $agreed = $command =~ s/\);$/, accept_deletion => true);/r;

		pass("$name: it asks before");
		($code, $out, $err) =
		  psql_script($node, $database, "$role$agreed", '-v', 'ON_ERROR_STOP=1');
	}
	is($code, 0, "$name: $command") or diag($err);
	return $out;
}

# Runs a command that makes a dump, and restores that: every row is in it.
sub run_in_shell
{
	my ($database, $command, $name) = @_;
	my $directory = PostgreSQL::Test::Utils::tempdir();
	my $stored = 'SELECT rows FROM stored()';

	local $ENV{PGHOST} = $node->host;
	local $ENV{PGPORT} = $node->port;
	local $ENV{PATH} = $node->config_data('--bindir') . ":$ENV{PATH}";
	is(system('sh', '-c', "cd $directory && $command"), 0, "$name: $command");
	$node->safe_psql('postgres', 'CREATE DATABASE restored');
	is(system('sh', '-c', "pg_restore -d restored $directory/*.dump"),
		0, "$name: it can be restored");
	is( $node->safe_psql('restored', $stored),
		$node->safe_psql($database, $stored),
		"$name: every row is in it");
	$node->safe_psql('postgres', 'DROP DATABASE restored');
}

# Rows that a message says are deleted; none, if it says nothing of that.
sub announced
{
	my ($message) = @_;

	return $message =~ /delet\w+ (?:what is .*? in )?about (\d+) rows/ ? $1 : 0;
}

# ---- the findings ----

# A transaction that has a table locked, or only a snapshot.
sub block
{
	my ($database, $sql) = @_;

	$blocker = $node->background_psql($database);
	$blocker->query_safe("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1; $sql");
}

sub unblock
{
	$blocker->quit if $blocker;
	$blocker = undef;
}

# One packed value is not what it was.
my $damage =
  "UPDATE $packed_table SET payload = set_byte(payload, length(payload) - 5, get_byte(payload, length(payload) - 5) # 255);";

# code: what is found; provoke: SQL or code that brings it about, as the owner of the database unless
# by_superuser; role: who looks; look: the hint shows what is to be done, which is: then; lines: how many
# there are, at least; changes: the hint changes what is read, as its message says; back: the
# message has a command that takes back what the hint did; restores: the hint leaves the database
# as it was; new_session: only a new session shows the difference.
my @cases = (

	# of the database
	{
		code => 'nothing_managed',
		provoke => join('',
			map { "CALL zbxhist.undo('$_');\n" }
			  qw(history history_str history_text trends trends_uint))
	},
	{
		# the tables are partitioned, and the extension for these is not there
		code => 'nothing_managed',
		provoke => join('',
			map { "CALL zbxhist.undo('$_');\n" }
			  qw(history history_str history_text trends trends_uint))
		  . 'ALTER TABLE history RENAME TO former; CREATE TABLE history (LIKE former) PARTITION BY RANGE (clock);'
		  . " CREATE TABLE history_old PARTITION OF history FOR VALUES FROM (MINVALUE) TO (@{[ day(-9) ]});"
		  . " CREATE TABLE history_new PARTITION OF history FOR VALUES FROM (@{[ day(-9) ]}) TO (@{[ day(9) ]});"
		  . ' INSERT INTO history SELECT * FROM former; DROP TABLE former',
		twice => 1
	},
	{
		code => 'maintenance_late',
		restores => 1,
		provoke => 'CALL age()'
	},
	{
		# as a clock that was ahead leaves it
		code => 'maintenance_late',
		restores => 1,
		provoke => "UPDATE zbxhist.parent_state SET last_run = now() + interval '400 days'"
	},
	{ code => 'partial_dump', provoke => '', shell => 1 },
	{
		code => 'take_up_failed',
		provoke =>
		  "CREATE TABLE history_json (itemid bigint NOT NULL, clock bigint NOT NULL); $late",
		then => 'ALTER TABLE history_json ALTER clock TYPE integer'
	},
	{
		code => 'not_taken_up',
		by_superuser => 1,
		provoke => 'CREATE TABLE history_json (LIKE history_text INCLUDING ALL);'
		  . ' ALTER TABLE history_json OWNER TO somebody'
	},
	{
		code => 'foreign_routine',
		restores => 1,
		by_superuser => 1,
		provoke => "CREATE FUNCTION zbxhist.undo(text) RETURNS void LANGUAGE sql AS ''"
	},
	{
		code => 'deleted_items',
		provoke =>
		  "SELECT zbxhist.alter_parent('history', deleted_items => 'drop'); ALTER TABLE items RENAME TO things"
	},
	{
		code => 'orphaned_day',
		restores => 1,
		provoke => 'CREATE TABLE zbxhist_packed.lost_1 (a integer);'
		  . ' CREATE TABLE zbxhist_packed.lost_2 AS SELECT generate_series(1, 1000)',
		says => qr/deletes 2 packed days, \d+ kB/
	},
	{
		code => 'not_preloaded',
		new_session => 1,
		restores => 1,
		provoke => sub {
			my ($database) = @_;
			$node->safe_psql('postgres',
				"ALTER DATABASE $database RESET session_preload_libraries");
		}
	},
	{
		code => 'timescaledb',
		provoke => sub {
			my ($database) = @_;
			my ($name) = grep { has_extension($node, $_) } @stand_ins;

			# any extension by that name will do
			$node->safe_psql($database,
				"CREATE EXTENSION zbxhist_migrate; CREATE EXTENSION $name; SET allow_system_table_mods = on;"
				  . " UPDATE pg_extension SET extname = 'timescaledb' WHERE extname = '$name'");
		},
		skip_unless => sub {
			grep { has_extension($node, $_) } @stand_ins;
		}
	},

	{
		code => 'not_seen',
		by_superuser => 1,
		provoke => 'GRANT pg_monitor TO watcher',
		role => 'watcher'
	},

	# of Zabbix's settings
	{
		code => 'settings_unreadable',
		provoke => 'GRANT USAGE ON SCHEMA public TO monitor',
		role => 'monitor'
	},
	{
		code => 'settings_unreadable',
		provoke => 'REVOKE ALL ON SCHEMA public FROM PUBLIC',
		role => 'viewer',
		twice => 1
	},
	{
		code => 'settings_unreadable',
		provoke => 'DROP TABLE config;'
		  . ' CREATE TABLE settings (name varchar(255) PRIMARY KEY, value_str text NOT NULL, value_int integer NOT NULL)',
		role => 'newer'
	},
	{
		code => 'no_retention',
		provoke => 'UPDATE config SET hk_history_global = 0, hk_history = $$50d$$',
	},
	{
		code => 'no_retention',
		provoke => 'UPDATE config SET hk_trends_global = 0, hk_history_global = 0',
		lines => 2
	},
	{
		code => 'no_retention',
		provoke => 'UPDATE config SET hk_history_global = 0;'
		  . ' UPDATE items SET history = $$900d$$ WHERE itemid = 1',
	},
	{ code => 'no_retention', provoke => 'UPDATE config SET hk_trends = $$0$$; ' },
	{ code => 'no_retention', provoke => 'DROP TABLE config' },

	# as a dump of the schema only is restored
	{ code => 'no_retention', provoke => 'DELETE FROM config' },
	{
		code => 'housekeeper_on',
		provoke => 'UPDATE config SET hk_history_mode = 1, hk_trends_mode = 1',
		lines => 2
	},
	{
		code => 'housekeeper_on',
		provoke => 'UPDATE config SET hk_trends_mode = 1, hk_trends_global = 0',
		lines => 1
	},
	{
		code => 'housekeeper_on',
		provoke => 'UPDATE config SET hk_trends_mode = 1, hk_trends_global = 0;'
		  . " SELECT zbxhist.alter_parent(t, retention => '900 days') FROM unnest('{trends,trends_uint}'::regclass[]) t"
	},
	{
		code => 'zabbix_hides_rows',
		provoke => "SELECT zbxhist.alter_parent('history', retention => '300 days')"
	},
	{
		code => 'zabbix_hides_rows',
		provoke => "DROP TABLE config;"
		  . ' CREATE TABLE settings (name varchar(255) PRIMARY KEY, value_str text NOT NULL, value_int integer NOT NULL);'
		  . " INSERT INTO settings VALUES ('hk_history', '14d', 0), ('hk_history_mode', '', 1), ('hk_history_global', '', 1);"
		  . " SELECT zbxhist.alter_parent(parent, retention => '1000 days 1 hour') FROM zbxhist.parent_config"
	},
	{
		code => 'housekeeper_on',
		provoke => "DROP TABLE config;"
		  . ' CREATE TABLE settings (name varchar(255) PRIMARY KEY, value_str text NOT NULL, value_int integer NOT NULL);'
		  . " INSERT INTO settings VALUES ('hk_history', '1000d', 0), ('hk_history_mode', '', 1), ('hk_history_global', '', 1);"
		  . " SELECT zbxhist.alter_parent(parent, retention => '1000 days') FROM zbxhist.parent_config"
	},

	# of deletions: a retention that came without an agreement
	{
		code => 'deletion_stopped',
		provoke =>
		  "UPDATE zbxhist.parent_config SET retention = '1 minute' WHERE parent = 'history'::regclass",
		expired => 1
	},
	{
		code => 'deletion_ahead',
		provoke =>
		  "UPDATE config SET hk_history = '1d', hk_history_global = 1; CALL zbxhist.run_maintenance('history')",
		expired => 1
	},

	# of maintenance
	{
		code => 'undo_unfinished',
		provoke =>
		  "UPDATE zbxhist.parent_config SET routing = false WHERE parent = 'history'::regclass"
	},
	{
		code => 'step_failed',
		provoke => "CREATE VIEW in_the_way AS SELECT * FROM $yesterday;"
		  . " SELECT zbxhist.alter_parent('history', retention => '1 minute', accept_deletion => true); $late",
		expired => 1
	},
	{
		# the session that ran it is gone
		code => 'run_broken_off',
		restores => 1,
		provoke =>
		  "UPDATE zbxhist.parent_state SET begun_at = now(), begun_pid = 2147483647 WHERE parent = 'history'::regclass"
	},
	{
		code => 'no_ns',
		provoke => "CALL zbxhist.undo('history_str'); ALTER TABLE history_str DROP COLUMN ns;"
		  . " SELECT zbxhist.create_parent('history_str')",
		changes => 1
	},
	{
		code => 'no_key',
		restores => 1,
		provoke => 'ALTER TABLE history DROP CONSTRAINT history_pkey'
	},
	{
		code => 'waits_for_lock',
		provoke => sub {
			my ($database) = @_;
			block($database, "SELECT 1 FROM $yesterday LIMIT 1");
			$node->safe_psql($database,
				"SELECT zbxhist.alter_parent('history', retention => '1 minute', accept_deletion => true)"
			);
			maintain($node, $database, 'zabbix');
			$node->safe_psql($database, 'CALL age()');
		},

		# the owner of the database sees no more of another role's session
		look => qr/^\d+\|\w+\|\|\|<insufficient privilege>$/m,
		then => \&unblock,
		expired => 1
	},
	{
		code => 'clocks',
		provoke => "SELECT zbxhist.alter_parent('history', max_age => '30 days');"
		  . 'INSERT INTO history (itemid, clock) VALUES (7, 86400), (7, 1);',
		look => qr/^history\|7\|2\|1\|86400\|/m,
		then => 'DELETE FROM zbxhist.left_out'
	},
	{
		code => 'clocks_ahead',
		restores => 1,
		provoke => 'INSERT INTO history (itemid, clock) VALUES (7, 2147483647)'
	},
	{
		code => 'duplicates',
		provoke => 'ALTER TABLE history DISABLE TRIGGER ALL;'
		  . "INSERT INTO history (itemid, clock, value) VALUES (7, @{[ day(-1) ]} + 7, -1);"
		  . "ALTER TABLE history ENABLE TRIGGER USER; ALTER TABLE history ENABLE REPLICA TRIGGER zzz_zbxhist_replica; $late",
		look => qr/(?=.*^history\|7\|)(?=.*^$yesterday\|7\|)/ms,
		then => "DELETE FROM ONLY history WHERE value = -1; $late"
	},

	{ code => 'unfit', provoke => 'ALTER TABLE history_text ALTER clock TYPE bigint' },
	{
		code => 'unfit',
		restores => 1,
		provoke =>
		  'CREATE TABLE referring (itemid bigint, clock integer, ns integer, FOREIGN KEY (itemid, clock, ns) REFERENCES history_text)'
	},

	# of triggers, rules and row security
	{
		code => 'trigger_missing',
		restores => 1,
		provoke =>
		  'DROP TRIGGER zzz_zbxhist_route ON history; DROP TRIGGER "00_zbxhist_flush" ON history',
		lines => 2
	},
	{
		code => 'trigger_disabled',
		restores => 1,
		provoke => 'ALTER TABLE history DISABLE TRIGGER zzz_zbxhist_route;'
		  . ' ALTER TABLE history ENABLE ALWAYS TRIGGER "00_zbxhist_flush";'
		  . ' ALTER TABLE history ENABLE TRIGGER zzz_zbxhist_replica',
		lines => 3
	},
	{
		code => 'trigger_order',
		provoke =>
		  'CREATE TRIGGER zzzz BEFORE INSERT ON history FOR EACH ROW EXECUTE FUNCTION nop();'
		  . ' CREATE TRIGGER zzy_zzzz BEFORE INSERT ON history FOR EACH ROW EXECUTE FUNCTION nop()'
	},
	{
		code => 'transition_table',
		restores => 1,
		provoke =>
		  'CREATE TRIGGER t AFTER INSERT ON history REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION nop()'
	},
	{
		code => 'rule',
		restores => 1,
		provoke => 'CREATE RULE nothing AS ON DELETE TO history DO ALSO NOTHING'
	},
	{
		code => 'row_security',
		restores => 1,
		provoke => 'ALTER TABLE history ENABLE ROW LEVEL SECURITY'
	},

	# of partitions
	{
		code => 'no_bounds',
		provoke =>
		  "CREATE TABLE apart () INHERITS (history); INSERT INTO apart VALUES (77, @{[ day(-1) ]}), (77, @{[ day(5) ]})",
		changes => 1,
		says =>
		  qr/INSERT INTO public\.history \(.*SELECT .* FROM public\.apart ON CONFLICT DO NOTHING; puts them where they belong/
	},
	{
		code => 'no_bounds',
		provoke => "ALTER TABLE $yesterday DROP CONSTRAINT zbxhist_clock; $late",
		changes => 1
	},
	{
		code => 'no_bounds',
		by_superuser => 1,
		provoke => 'CREATE EXTENSION file_fdw; CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;'
		  . " CREATE FOREIGN TABLE elsewhere () INHERITS (history) SERVER files OPTIONS (filename '/dev/null');"
		  . ' ALTER FOREIGN TABLE elsewhere OWNER TO zabbix',
		back => 1,
		skip_unless => sub { has_extension($node, 'file_fdw') }
	},
	{
		# one table that is in the way of many is one cause
		code => 'overlap',
		provoke =>
		  "CREATE TABLE apart (CONSTRAINT zbxhist_clock CHECK (clock >= @{[ day(-3) ]} AND clock < @{[ day(2) ]})) INHERITS (history);"
		  . " INSERT INTO apart SELECT 77, @{[ day(-3) ]} + i * 3600 FROM generate_series(0, 95) i",
		changes => 1
	},
	{
		code => 'overlap',
		provoke =>
		  "CREATE TABLE apart (CONSTRAINT zbxhist_clock CHECK (clock >= @{[ day(-1) + 100 ]} AND clock < @{[ day(0) ]})) INHERITS (history);"
		  . " ALTER TABLE apart ADD PRIMARY KEY (itemid, clock, ns); INSERT INTO apart VALUES (77, @{[ day(-1) + 7777 ]})",
		changes => 1
	},
	{
		code => 'owner',
		restores => 1,
		by_superuser => 1,
		provoke => "ALTER TABLE $yesterday OWNER TO other; SET SESSION AUTHORIZATION zabbix; $late"
	},
	{
		code => 'owner',
		restores => 1,
		by_superuser => 1,
		provoke =>
		  "GRANT CREATE ON SCHEMA zbxhist_packed, public TO other; ALTER TABLE $packed_table OWNER TO other; SET SESSION AUTHORIZATION zabbix; $late"
	},
	{
		code => 'indexes',
		restores => 1,
		provoke => "ALTER TABLE $yesterday DROP CONSTRAINT ${yesterday}_pkey;"
		  . ' ALTER TABLE '
		  . partition('history', -2)
		  . ' DROP CONSTRAINT '
		  . partition('history', -2) . '_pkey',
		twice => 1
	},
	{
		code => 'own_column',
		restores => 1,
		provoke => "ALTER TABLE $yesterday ADD COLUMN note text DEFAULT 'x'",
		drops => 'column'
	},
	{
		code => 'tool_trigger',
		restores => 1,
		provoke =>
		  'CREATE FUNCTION repack_trigger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;'
		  . " CREATE TRIGGER repack_trigger AFTER INSERT ON $yesterday FOR EACH ROW EXECUTE FUNCTION"
		  . " repack_trigger('INSERT INTO repack.log_1(pk, row) VALUES (NULL)')"
	},

	# of packed days
	{
		code => 'no_packed_table',
		provoke => 'ALTER FOREIGN TABLE history_packed NO INHERIT history',
		missing => 500
	},
	{
		code => 'damaged_day',
		provoke => "$damage SELECT zbxhist_internal.step_unpack('history', '$packed_table'); $late",
		unreadable => 1
	},
	{
		code => 'lost_values',
		provoke => "$damage CALL zbxhist.salvage('$packed_table')",
		look => qr/history\|$packed_table\|/,
		then => 'DELETE FROM zbxhist.lost_values'
	},
	{
		code => 'day_dropped',
		provoke => "SET zbxhist.allow_packed_drop = on; DROP TABLE $packed_table",
		says => qr/1 packed day, with 500 values/
	},
	{
		code => 'retention_schema',
		provoke =>
		  "CREATE SCHEMA archive; SELECT zbxhist.alter_parent('history', retention_action => 'detach', retention_schema => 'archive'); DROP SCHEMA archive"
	},
	{
		# met by verify(), by maintenance
		code => 'damaged_day',
		provoke => "$damage SELECT count(*) FROM zbxhist.verify('history')",
		unreadable => 1
	},
	{
		code => 'damaged_day',
		provoke =>
		  "$damage UPDATE zbxhist.packed_day SET packed_at = now() - interval '40 days'; $late",
		unreadable => 1
	},
	{
		code => 'auditlog_housekeeping',
		provoke => <<'SQL',
ALTER TABLE config ADD COLUMN hk_audit_mode integer DEFAULT 1 NOT NULL, ADD COLUMN hk_audit varchar(32) DEFAULT '31d' NOT NULL;
CREATE TABLE auditlog (auditid varchar(25) PRIMARY KEY, clock integer DEFAULT 0 NOT NULL);
SELECT zbxhist.partition_auditlog('auditlog');
SQL
	},
	{
		code => 'no_current_partition',
		provoke => <<'SQL',
CREATE TABLE auditlog (auditid varchar(25) PRIMARY KEY, clock integer DEFAULT 0 NOT NULL);
SELECT zbxhist.partition_auditlog('auditlog');
SELECT format('DROP TABLE %s', relation) FROM zbxhist_internal.list_ranges('auditlog')
 WHERE extract(epoch FROM now()) BETWEEN from_clock AND to_clock - 1 \gexec
SQL
	},
	{
		# the configuration alone was restored
		code => 'auditlog_unknown',
		provoke =>
		  'CREATE TABLE auditlog (auditid varchar(25), clock integer DEFAULT 0 NOT NULL, PRIMARY KEY (auditid, clock))'
		  . ' PARTITION BY RANGE (clock)'
	},
	{
		# it is gone, or not for the owner of the table
		code => 'packed_tablespace',
		restores => 1,
		by_superuser => 1,
		provoke =>
		  "SET allow_in_place_tablespaces = on; CREATE TABLESPACE slow LOCATION ''; GRANT CREATE ON TABLESPACE slow TO zabbix;"
		  . " SELECT zbxhist.alter_parent('history', packed_tablespace => 'slow'); DROP TABLESPACE slow"
	},
	{
		code => 'packed_tablespace',
		by_superuser => 1,
		provoke => <<'SQL',
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE slow LOCATION '';
GRANT CREATE ON TABLESPACE slow TO keeper;
ALTER TABLE history OWNER TO keeper;
SELECT zbxhist.alter_parent('history', packed_tablespace => 'slow');
REVOKE CREATE ON TABLESPACE slow FROM keeper;
SQL
	},
	{
		code => 'archive_server',
		by_superuser => 1,
		provoke => "$archive; DROP USER MAPPING FOR zabbix SERVER cold"
	},
	{
		code => 'archive_server',
		by_superuser => 1,
		provoke => <<"SQL"
$archive;
RESET SESSION AUTHORIZATION;
CREATE USER MAPPING FOR archivist SERVER cold;
ALTER TABLE history OWNER TO archivist
SQL
	},
	{
		code => 'archived_days_unreadable',
		by_superuser => 1,
		unreadable => 1,
		provoke =>
		  "$archive; CALL zbxhist.archive('history', '$packed'); DROP FOREIGN TABLE zbxhist_packed.cold_groups"
	},
	{ code => 'archive_timeout', by_superuser => 1, provoke => $archive },
	{
		code => 'archive_unreachable',
		by_superuser => 1,
		unreadable => 1,
		provoke => <<"SQL",
$archive;
ALTER SERVER cold OPTIONS (ADD connect_timeout '2');
CALL zbxhist.archive('history', '$packed');
ALTER SERVER cold OPTIONS (SET port '1');
$late
SQL
		then => "ALTER SERVER cold OPTIONS (SET port '${\ $node->port }')"
	},
	{
		code => 'archive_of_another',
		by_superuser => 1,
		provoke =>
		  "$archive; CALL zbxhist.archive('history', '$packed'); UPDATE zbxhist.archive_copy SET origin = 'elsewhere'"
	},
	{
		code => 'columns_altered',
		provoke =>
		  "ALTER TABLE history ALTER value TYPE real; INSERT INTO history VALUES (77, ${\ day(-3)} + 7, 1, 1)"
	},
	{
		code => 'not_packable',
		provoke => 'ALTER TABLE history_str ADD COLUMN payload integer;'
		  . " SELECT zbxhist.alter_parent('history_str', pack_after => '1 day')"
	},
	{
		code => 'not_packable',
		provoke => "CREATE VIEW on_it AS SELECT * FROM $yesterday;"
		  . " SELECT zbxhist.alter_parent('history', pack_after => '1 minute')",
		then => 'DROP VIEW on_it'
	},
	{
		code => 'not_compacted',
		provoke => <<"SQL",
SELECT zbxhist.alter_parent('history_str', partition_interval => '1 hour', pack_after => '1 hour'),
       zbxhist_internal.create_range('history_str', @{[ day(-3) ]}, @{[ day(-3) ]} + 3600),
       zbxhist_internal.create_range('history_str', @{[ day(-3) ]} + 3600, @{[ day(-3) ]} + 7200);
INSERT INTO history_str SELECT i, @{[ day(-3) ]} + i * 10, i, 0 FROM generate_series(1, 700) i;
CALL zbxhist.pack('history_str', '$packed');
SELECT format('CREATE VIEW on_it AS SELECT * FROM %s', day) FROM zbxhist.packed_day
 WHERE parent = 'history_str'::regclass ORDER BY from_clock LIMIT 1 \\gexec
$late
SQL
		twice => 1
	});

# Can the managed tables be read, and do their rows stay?
sub is_compared
{
	my ($case) = @_;

	return !grep { $case->{$_} } qw(unreadable expired missing changes);
}

# What is read of them.
sub contents
{
	my ($database, $case) = @_;

	return is_compared($case) ? $node->safe_psql($database, 'SELECT contents()') : '';
}

# Runs what the message says takes the hint back, and the hint again.
sub run_back
{
	my ($database, $finding, $case, $name) = @_;
	my ($object, $message, $hint) = @$finding;
	my ($back) = $message =~ /(ALTER FOREIGN TABLE \S+ INHERIT \S+;)/;

	run_printed($database, $back // 'there is none', "$name: the way back", $message);
	my (undef, undef, @found) = look_at($database, $case);
	is_deeply([ findings($case, @found) ], [$finding], "$name: all is as before");
	run_printed($database, $hint, $name, $message);
}

# Brings a case about.
sub provoke
{
	my ($database, $case, $name) = @_;

	if (ref $case->{provoke})
	{
		$case->{provoke}->($database);
		return;
	}
	my $role = $case->{by_superuser} ? '' : "SET SESSION AUTHORIZATION zabbix;\n";
	my ($failed, undef, $err) =
	  psql_script($node, $database, "$role$case->{provoke}", '-v', 'ON_ERROR_STOP=1');
	is($failed, 0, "$name: brought about") or diag($err);
}

# Runs the hints of findings.  Returns how many rows their messages say are deleted.
sub run_hints
{
	my ($database, $case, $name, $read, @found) = @_;
	my $goes = 0;

	for my $finding (@found)
	{
		my ($object, $message, $hint) = @$finding;

		if ($case->{then} && !$case->{look})
		{
			$node->safe_psql($database, $case->{then});
			$read = contents($database, $case);
		}
		next if $hint eq '';
		unlike($hint, qr/\.\.\.|;.*;|zbxhist_internal/, "$name: the hint is one command for users");
		like($hint, qr/;$/, "$name: ... complete");
		my $out = run_printed($database, $hint, $name, $message);
		my $now = contents($database, $case);
		is($now, $read, "$name: the same rows are read after it") unless announced($message);
		$read = $now;
		run_back($database, $finding, $case, $name) if $case->{back};
		$goes += announced($message) unless $case->{drops};
		like($out, $case->{look}, "$name: it shows what is in the way") if $case->{look};
	}
	return $goes;
}

# Does what a hint has only shown.
sub do_then
{
	my ($database, $case) = @_;

	if (ref $case->{then}) { $case->{then}->() }
	else
	{
		psql_script($node, $database, $case->{then}, '-v', 'ON_ERROR_STOP=1');
	}
}

# Runs one of them.
sub run_case
{
	my ($case) = @_;

	if ($case->{skip_unless} && !$case->{skip_unless}->())
	{
		note("$case->{code}: skipped, its extension is not here");
		return;
	}
	my $database = take_database();
	my $code = $case->{code};
	my $name = "$code ($database)";

	provoke($database, $case, $name);
	my ($rows, $read, @all) = look_at($database, $case);
	my @found = findings($case, @all);
	cmp_ok(scalar @found, '>=', $case->{lines} // 1, "$name: found") or return;
	cmp_ok(scalar @found, '<=', $case->{lines} // 1, "$name: a line for each cause");
	note("$code: $_->[0]: $_->[1]: $_->[2]") for @found;
	like($found[0][1], $case->{says}, "$name: it says how much goes") if $case->{says};

	if ($case->{shell})
	{
		run_in_shell($database, $found[0][2], $name);
		$free = $database;
		return;
	}
	my $goes = run_hints($database, $case, $name, $read, @found);
	if ($case->{twice})
	{
		(undef, $read, @all) = look_at($database, $case);
		$goes += run_hints($database, $case, $name, $read, findings($case, @all));
	}
	do_then($database, $case) if $case->{look};
	my ($left, $last, @after) = look_at($database, $case, $case->{look} ? 2 : 1);
	if ($case->{expired})
	{
		cmp_ok($left, '<', $rows, "$name: what is past retention is gone");
	}
	elsif ($case->{unreadable})
	{
		cmp_ok($left, '>', 0, "$name: the rest is read");
	}
	elsif ($code eq 'duplicates') { is($left, $base_rows, "$name: rows") }
	else
	{
		is( $left,
			$rows - $goes + ($case->{missing} // 0),
			"$name: " . ($goes ? "only the $goes rows announced are gone" : 'no row is lost'));
	}
	is(scalar findings($case, @after), 0, "$name: gone");
	if ($case->{restores})
	{
		is_deeply(
			[ $left, $last, map { $_->[0] } grep { $_->[0] ne 'partial_dump' } @after ],
			[ $base_rows, $base_read ],
			"$name: the database is as it was");
		$free = $database;
	}
}

make_base();
my @found;
$free = take_database();
($base_rows, $base_read, @found) = look_at($free, {});
is_deeply([ map { $_->[0] } @found ], ['partial_dump'], 'at first there is nothing to find');

my @codes = split /\n/, $node->safe_psql('base', <<'SQL');
SELECT DISTINCT m[1]
  FROM pg_proc p, regexp_matches(p.prosrc, $$'(?:error|warning|info)', '(\w+)'$$, 'g') m
 WHERE p.pronamespace = 'zbxhist_internal'::regnamespace AND p.proname ~ '^check_'
 ORDER BY 1
SQL

# 063_migrate_timescaledb.pl brings these about
@codes = grep { !/^hypertable/ } @codes;
cmp_ok(scalar @codes, '>', 40, 'the codes are found in the SQL of check()');
for my $code (@codes)
{
	ok((grep { $_->{code} eq $code } @cases),
		"$code is brought about here (else add it to \@cases)");
}
run_case($_) for @cases;

# the damage that was made above, with what belongs to that error
log_is_clean($node, undef,
	qr/packed values of item 500 in .* are corrupt|XX001 \S+ (?:HINT|STATEMENT): /);
$node->stop;
done_testing();
