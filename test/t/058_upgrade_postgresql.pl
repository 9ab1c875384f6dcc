# pg_upgrade brings a managed database along, with partitions, packed days of
# each type of value, days amid their unpacking and late rows: copied and
# linked, with the library preloaded by the server and by the database.  From
# the server of the environment variable "oldinstall" (its directory, with
# zbxhist installed in it), else from the tested version to itself.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $OWNER = 'zabbix';

# the same on both sides, whatever the defaults of a version are
my @initdb = ('--locale', 'C', '--encoding', 'UTF8');
my $old = test_server(
	'old', $ENV{oldinstall} ? (-install_path => $ENV{oldinstall}) : (),
	-extra => [@initdb],
	shared_preload_libraries => 'zbxhist');
my $now = day(0);
my @tables = qw(history history_uint history_str history_text history_log history_bin);

# A script as the owner of the database.
sub as_owner
{
	my ($node, $database, $sql) = @_;

	return $node->safe_psql($database, "SET SESSION AUTHORIZATION $OWNER; $sql");
}

# ---- what there is ----

$old->safe_psql('postgres', "CREATE ROLE $OWNER LOGIN; CREATE ROLE reader");
create_database($old, 'zabbix', $OWNER);
set_up($old, 'zabbix', $OWNER);
as_owner(
	$old, 'zabbix', qq{
	@{[ insert_values('history', 1, 1000, $now) ]}
	@{[ insert_values('history', 2001, 500, day(-5)) ]}
	SELECT zbxhist.alter_parent('history', premake => 4, never_pack => true);
	GRANT SELECT ON history TO reader;
	ALTER TABLE history_log ADD COLUMN gone integer, ADD COLUMN note text DEFAULT 'none';
	ALTER TABLE history_log DROP COLUMN gone;
	INSERT INTO history (itemid, clock, ns, value) SELECT -1, ${\ day(-1)}, n, v
	  FROM unnest('{NaN,-0,Infinity,5e-324}'::float8[]) WITH ORDINALITY AS u (v, n);
});
for (-2, -1)
{
	my $first = day($_);

	as_owner(
		$old, 'zabbix', qq{
		SELECT zbxhist.create_partition(t, '${\ date($_)}')
		  FROM unnest('{@{[ join ',', @tables ]}}'::regclass[]) t;
		INSERT INTO history (itemid, clock, ns, value) SELECT i, $first + c * 300, c, i / 7.0 + c
		  FROM generate_series(1, 50) i, generate_series(0, 99) c;
		INSERT INTO history_uint (itemid, clock, ns, value) SELECT i, $first + c, c, 18446744073709551615 - c
		  FROM generate_series(1, 20) i, generate_series(0, 99) c;
		INSERT INTO history_str (itemid, clock, value) SELECT i, $first + i, 'it''s ' || i FROM generate_series(1, 300) i;
		INSERT INTO history_text (itemid, clock, value) SELECT i, $first + i, repeat(md5(i::text), 200) FROM generate_series(1, 100) i;
		INSERT INTO history_log (itemid, clock, source, severity, value) SELECT i, $first + i, 'source', i % 5, 'line ' || i
		  FROM generate_series(1, 300) i;
		INSERT INTO history_bin (itemid, clock, value) SELECT i, $first + i, decode(md5(i::text), 'hex') FROM generate_series(1, 50) i;
	});
}
as_owner(
	$old, 'zabbix', qq{
	SELECT zbxhist.create_partition('history', '${\ date($_)}');
	INSERT INTO history (itemid, clock, value) SELECT i, ${\ day($_)}, i FROM generate_series(1, 500) i;
}) for -3, -4;
as_owner($old, 'zabbix', "CALL zbxhist.pack('$_', '${\ date(-1)}')") for @tables;
as_owner($old, 'zabbix', "CALL zbxhist.pack('history', '${\ date($_)}')") for -3, -4;

# late rows; a group that has been changed; a partition is created for one day,
# and has the rows of another
my $unpack = "SELECT zbxhist_internal.step_unpack('history', d.day) FROM zbxhist.packed_day d"
  . " WHERE d.parent = 'history'::regclass AND d.from_clock =";
as_owner(
	$old, 'zabbix', qq{
	INSERT INTO history SELECT i, ${\ day(-1)} + 70000, 1, 1 FROM generate_series(1, 60) i;
	DELETE FROM history WHERE itemid = 7 AND clock < $now;
});
as_owner($old, 'zabbix', "$unpack ${\ day(-3)}");
as_owner($old, 'zabbix', "$unpack ${\ day(-4)}") for 1 .. 2;
is( $old->safe_psql(
		'zabbix',
		"SELECT string_agg((partition IS NOT NULL)::text || ' ' || unpacked, ', ' ORDER BY from_clock)"
		  . " FROM zbxhist.packed_day WHERE parent = 'history'::regclass"),
	'true true, true false, false false',
	'days are packed, and amid their unpacking');

# as it is after setup()
$old->safe_psql('postgres', "ALTER DATABASE zabbix SET session_preload_libraries = 'zbxhist'");

my $rows = join ';',
  map { "SELECT '$_', count(*), sum(hashtextextended(h::text, 0)::numeric) FROM $_ h" } @tables;
my $verified = join ' UNION ALL ', map { "SELECT count(*) AS n FROM zbxhist.verify('$_')" } @tables;
my $whole = "SELECT sum(n) FROM ($verified) v";
my @places = map { "SELECT tableoid::regclass, count(*) FROM $_ GROUP BY 1 ORDER BY 1" } @tables;
my $state = join ';', 'SET timezone = UTC', $rows, @places,
  'SELECT * FROM zbxhist.parent_config ORDER BY parent::text',
  'SELECT parent, day, from_clock, to_clock, nrows, partition, unpacked FROM zbxhist.packed_day ORDER BY 2',
  'SELECT parent, action, relation FROM zbxhist.maintenance_log ORDER BY id',
  'SELECT parent, partition, kind, state, from_clock, to_clock FROM zbxhist.partitions',

  # the owner may MAINTAIN since PostgreSQL 17
  "SELECT oid, relname, relkind, pg_get_userbyid(relowner), replace(relacl::text, 'arwdDxtm', 'arwdDxt') FROM pg_class"
  . " WHERE relnamespace IN ('public'::regnamespace, 'zbxhist_packed'::regnamespace) AND relkind <> 'i' ORDER BY 1",
  'SELECT tgrelid::regclass, tgname, tgtype, tgenabled FROM pg_trigger'
  . ' WHERE NOT tgisinternal ORDER BY tgrelid::regclass::text, tgname',
  'SELECT severity, code, object, message FROM zbxhist.check() ORDER BY 1, 2, 3', $whole,
  'SELECT * FROM zbxhist.range(NULL::history, 6, 0, 2147483647)';
my $before = $old->safe_psql('zabbix', $state);
$old->stop;

# ---- the upgrade ----

# A new server, made of the old one.
sub upgrade
{
	my ($name, @options) = @_;
	my $new = PostgreSQL::Test::Cluster->new($name);

	$new->init(extra =>
		  [ @initdb, $new->pg_version >= 18 && $old->pg_version < 18 ? '--no-data-checksums' : () ]
	);
	$new->append_conf('postgresql.conf',
		qq{shared_preload_libraries = 'zbxhist'\nsearch_path = '$search_path'});
	upgrade_server($old, $new, @options);
	return $new;
}

# Everything is there and works.
sub works
{
	my ($new, $name) = @_;

	$new->start;
	is($new->safe_psql('zabbix', $state), $before, "$name: everything is there");

	as_owner($new, 'zabbix', insert_values('history', 3001, 1000, $now));
	is(rows_of($new, 'zabbix', "ONLY history WHERE itemid > 3000 AND clock >= $now"),
		0, "$name: new rows are routed");
	my ($code, $out, $err) = psql_script($new, 'zabbix',
		"INSERT INTO history (itemid, clock, ns) VALUES (3, ${\ day(-1)}, 0);");
	like($err, qr/duplicate key/, "$name: keys of packed rows are duplicates");
	is( as_owner(
			$new, 'zabbix', qq{
		INSERT INTO history SELECT i, ${\ day(-1)} + 70001, 1, 1 FROM generate_series(1, 60) i;
		WITH d AS (DELETE FROM history WHERE itemid = 8 AND clock < $now RETURNING 1) SELECT count(*) FROM d;
		WITH u AS (UPDATE history SET value = 5 WHERE itemid = 9 AND clock < $now RETURNING 1) SELECT count(*) FROM u;
	}),
		"204\n205",
		"$name: packed rows are deleted and updated");

	my $stored = $new->safe_psql('zabbix', $rows);
	as_owner($new, 'zabbix',
			"SELECT zbxhist.create_partition('history', '${\ date(-5)}');"
		  . "SELECT zbxhist.alter_parent('history', premake => 6)");
	maintain($new, 'zabbix', $OWNER);
	is( $new->safe_psql(
			'zabbix', 'SELECT count(*) FROM zbxhist.maintenance_log WHERE sqlstate IS NOT NULL'),
		0,
		"$name: maintenance has no error");
	is(rows_of($new, 'zabbix', 'ONLY history WHERE clock >= ' . day(-5)),
		0, "$name: ... moves and merges");
	is( $new->safe_psql(
			'zabbix', "SELECT to_regclass('" . partition('history', 6) . "') IS NOT NULL"),
		't',
		"$name: ... premakes");
	is( $new->safe_psql(
			'zabbix',
			"SELECT string_agg(kind, ' ' ORDER BY from_clock) FROM zbxhist.partitions"
			  . " WHERE parent = 'history'::regclass"
			  . " AND from_clock >= ${\ day(-4)} AND to_clock <= $now"),
		'heap heap heap packed',
		"$name: ... and brings the unpacking of days to its end");

	as_owner($new, 'zabbix', "CALL zbxhist.unpack('$_', '${\ date(-1)}')") for @tables;
	as_owner($new, 'zabbix', "CALL zbxhist.pack('history', '${\ date(-2)}')");
	is($new->safe_psql('zabbix', $rows), $stored, "$name: no row is lost by all of it");
	is($new->safe_psql('zabbix', $whole), 0, "$name: packed days are whole");
	$new->safe_psql('zabbix',
		'SET zbxhist.allow_packed_drop = on; DROP TABLE history_uint CASCADE');
	is( $new->safe_psql(
			'zabbix',
			'SELECT count(*) FROM pg_class'
			  . " WHERE relnamespace = 'zbxhist_packed'::regnamespace AND relkind = 'r'"),
		5,
		"$name: a table takes its packed days along");
	unlike(
		slurp_file($new->logfile),
		qr/launcher.*exited with exit code/,
		"$name: no worker has failed");
	log_is_clean($new, "$name: nothing unusual in the log");
	$new->stop;
}

works(upgrade('copied'), 'copied');
works(upgrade('linked', '--link'), 'linked');
done_testing();
