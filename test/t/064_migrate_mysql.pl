# From MySQL: docs/i-run-mysql.md is followed with a real MariaDB, as its commands
# stand there; history is imported while it goes on, the configuration copied by
# pgloader, and every value is there once, as MariaDB has it.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);
use ZbxhistTest;

my ($directory) = run_command([ $ENV{PG_CONFIG} // 'pg_config', '--sharedir' ]);
plan skip_all => 'mysql_fdw is not installed' if !-e "$directory/extension/mysql_fdw.control";

# Debian has the server where a user's path does not look
$ENV{PATH} .= ':/usr/sbin';
for my $program (qw(mariadbd mariadb-install-db mariadb pgloader))
{
	plan skip_all => "$program is not installed" if system("command -v $program >/dev/null") != 0;
}

# ---- the old database ----

my $place = PostgreSQL::Test::Utils::tempdir_short();
my $port = PostgreSQL::Test::Cluster::get_free_port();
my $old;

# What MariaDB answers, of one query or many.
sub ask_old
{
	my ($sql) = @_;
	my ($answer, $problem) = ('', '');

	IPC::Run::run(
		[
			'mariadb', '--no-defaults', '--default-character-set=utf8mb4',
			'-N', '-B', "--socket=$place/socket", '-uroot', 'zabbix'
		],
		'<',
		\$sql,
		'>',
		\$answer,
		'2>',
		\$problem) or die "MariaDB: $problem";
	return $answer;
}

system_or_bail(
	'mariadb-install-db', '--no-defaults',
	"--datadir=$place/data", '--skip-test-db',
	'--auth-root-authentication-method=normal', '--skip-name-resolve');
$old = IPC::Run::start(
	[
		'mariadbd', '--no-defaults',
		"--datadir=$place/data", "--socket=$place/socket",
		'--bind-address=127.0.0.1', "--port=$port",
		'--skip-name-resolve', "--pid-file=$place/pid",
		"--tmpdir=$place", '--innodb-flush-log-at-trx-commit=0',
		'--default-time-zone=+00:00'
	],
	'<',
	\undef,
	'>',
	"$place/log",
	'2>&1');
END { $old->kill_kill if $old; }

for my $try (1 .. 600)
{
	last
	  if IPC::Run::run(
		[
			'mariadb', '--no-defaults', "--socket=$place/socket", '-uroot', '-e',
			'CREATE DATABASE IF NOT EXISTS zabbix CHARACTER SET utf8mb4 COLLATE utf8mb4_bin'
		],
		'<',
		\undef,
		'>',
		\my $out,
		'2>',
		\my $err);
	BAIL_OUT('MariaDB does not start') if $try == 600;
	usleep(200_000);
}

# Zabbix's tables there, with values of all kinds.
my %columns = (
	history => "value DOUBLE PRECISION DEFAULT '0.0000' NOT NULL",
	history_uint => "value bigint unsigned DEFAULT '0' NOT NULL",
	history_str => "value varchar(255) DEFAULT '' NOT NULL",
	history_text => 'value text NOT NULL',
	history_bin => 'value longblob NOT NULL',
	history_json => 'value json NOT NULL',
	history_log =>
	  "timestamp integer DEFAULT '0' NOT NULL, source varchar(64) DEFAULT '' NOT NULL, severity integer DEFAULT '0' NOT NULL,"
	  . " value text NOT NULL, logeventid integer DEFAULT '0' NOT NULL");
my %value = (
	history => 'seq / 7e0 * pow(10, cast(seq % 600 AS signed) - 300)',
	history_uint => '18446744073709551615 - seq',
	history_str => q{concat('wért 🐘''\\\\', char(seq % 90 + 33), seq)},
	history_text => q{repeat(concat('日本 🐘', seq, '\n'), seq % 50)},
	history_bin => 'unhex(md5(seq))',
	history_json =>
	  q{json_object('n', seq, 'text', concat('日本 "', seq, '\\n'), 'list', json_array(seq % 7, 1.50, NULL))},
	history_log => q{seq, 'source', seq % 5, concat('\t', seq), seq % 3});

# Values of an hour a day from some days ago to others.
sub fill_old
{
	my ($from, $to, $rows) = @_;

	for my $table (sort keys %columns)
	{
		ask_old("INSERT IGNORE INTO $table SELECT seq % 20 + 1, "
			  . day($from)
			  . " + (seq div 500) * 86400 + seq % 3600, $value{$table}, seq * 7919 % 1000000000"
			  . " FROM seq_1_to_$rows WHERE seq div 500 <= @{[ $to - $from ]}");
	}
	return;
}

for my $table (sort keys %columns)
{
	ask_old(
		"CREATE TABLE $table (itemid bigint unsigned NOT NULL, clock integer DEFAULT '0' NOT NULL, $columns{$table},"
		  . " ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid, clock, ns)) ENGINE=InnoDB");
}
for ([ 'trends', 'double precision' ], [ 'trends_uint', 'bigint unsigned' ])
{
	my ($table, $type) = @$_;

	ask_old(
		"CREATE TABLE $table (itemid bigint unsigned NOT NULL, clock integer DEFAULT '0' NOT NULL, num integer DEFAULT '0' NOT NULL,"
		  . " value_min $type DEFAULT '0' NOT NULL, value_avg $type DEFAULT '0' NOT NULL, value_max $type DEFAULT '0' NOT NULL,"
		  . ' PRIMARY KEY (itemid, clock)) ENGINE=InnoDB;'
		  . "INSERT INTO $table SELECT seq % 10 + 1, ${\ day(-100)} + seq div 10 * 3600, 60, seq, seq + 1, seq * 1000 FROM seq_1_to_20000"
	);
}
fill_old(-6, 0, 4000);
ask_old(<<'SQL');
CREATE TABLE hosts (hostid bigint unsigned NOT NULL, host varchar(128) DEFAULT '' NOT NULL, PRIMARY KEY (hostid)) ENGINE=InnoDB;
CREATE TABLE items (itemid bigint unsigned NOT NULL, hostid bigint unsigned NOT NULL, params text NOT NULL, PRIMARY KEY (itemid)) ENGINE=InnoDB;
CREATE TABLE images (imageid bigint unsigned NOT NULL, image longblob NOT NULL, PRIMARY KEY (imageid)) ENGINE=InnoDB;
INSERT INTO hosts SELECT seq, concat('hôst 🐘 ', seq) FROM seq_1_to_50;
INSERT INTO items SELECT seq, seq % 50 + 1, concat('a''b\\', seq, '\n') FROM seq_1_to_500;
INSERT INTO images SELECT seq, unhex(repeat(md5(seq), 10)) FROM seq_1_to_20;
SQL

# ---- the new one ----

my $node = test_server('mysql', 'autovacuum' => 'off');
$node->safe_psql('postgres', 'CREATE ROLE zabbix LOGIN');
$node->safe_psql('postgres', 'CREATE DATABASE zabbix OWNER zabbix');
create_zabbix_tables($node, 'zabbix', 'zabbix');
$node->safe_psql('zabbix', <<'SQL');
SET SESSION AUTHORIZATION zabbix;
CREATE TABLE hosts (hostid bigint PRIMARY KEY, host varchar(128) DEFAULT '' NOT NULL);
CREATE TABLE items (itemid bigint PRIMARY KEY, hostid bigint NOT NULL REFERENCES hosts, params text DEFAULT '' NOT NULL);
CREATE TABLE images (imageid bigint PRIMARY KEY, image bytea DEFAULT '' NOT NULL);
CREATE TABLE history_json (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, ns integer DEFAULT '0' NOT NULL, value jsonb NOT NULL, PRIMARY KEY (itemid, clock, ns));
INSERT INTO hosts VALUES (777, 'what the new database had');
SQL

# ---- the document ----

my %blocks = (sql => [], mysql => [], text => []);
my $text = slurp_file("$FindBin::RealBin/../../docs/i-run-mysql.md");
my $yesterday = date(-1);
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');

while ($text =~ /^ *```(sql|mysql|text)\n(.*?)^ *```/gms)
{
	my ($kind, $block) = ($1, $2);

	$block =~ s/'mysql\.example\.com', port '3306'/'127.0.0.1', port '$port'/;
	$block =~ s/mysql\.example\.com:3306/127.0.0.1:$port/;
	$block =~ s{unix:/var/run/postgresql:5432}{"unix:" . $node->host . ":" . $node->port}e;
	$block =~ s/postgres@/$superuser@/;
	$block =~ s/2026-11-01/$yesterday/;
	push @{ $blocks{$kind} }, $block;
}

# The next block of a kind, as somebody.
sub next_step
{
	my ($kind, $role, $name) = @_;
	my $block = shift @{ $blocks{$kind} };
	my ($code, $out, $err);

	if ($kind eq 'mysql') { return ask_old($block); }
	($code, $out, $err) =
	  psql_script($node, 'zabbix',
		(defined $role ? "SET SESSION AUTHORIZATION $role;\n" : '') . $block,
		'-v', 'ON_ERROR_STOP=1');
	is($code, 0, $name) or diag("$block\n$err");
	return "$out\n$err";
}

# What the old tables have and the new ones not, and the other way round.
sub differences
{
	my (@tables) = @_;

	return join ' ', map {
		sql_as($node, 'zabbix', 'zabbix',
			"SELECT count(*) FROM ((TABLE old_zabbix.$_ EXCEPT ALL TABLE $_) UNION ALL (TABLE $_ EXCEPT ALL TABLE old_zabbix.$_)) d"
		)
	} @tables;
}

next_step('sql', 'zabbix', 'extensions and setup()');
next_step('mysql', undef, 'a reader');
next_step('sql', undef, 'mysql_fdw');
next_step('sql', 'zabbix', 'foreign tables');
next_step('sql', 'zabbix', 'history is imported');
is( sql_as(
		$node,
		'zabbix',
		'zabbix',
		"CALL zbxhist.import('old_zabbix.history_bin', 'history_bin');"
		  . "CALL zbxhist.import('old_zabbix.history_json', 'history_json')"),
	'',
	'... those of 7.0 and 8.0, too');
is(differences(sort keys %columns), '0 0 0 0 0 0 0', 'every value is there once, as it was');

# what mysql_fdw reads is not always what is stored
for my $table (qw(history_str history_text history_log))
{
	is( sql_as(
			$node, 'zabbix', 'zabbix',
			"SELECT md5(string_agg(value, '' ORDER BY itemid, clock, ns)) FROM $table"),
		ask_old(
			"SET SESSION group_concat_max_len = 10000000; SELECT md5(group_concat(value ORDER BY itemid, clock, ns SEPARATOR '')) FROM $table"
		) =~ s/\n\z//r,
		"... in $table as MariaDB itself tells");
}
cmp_ok(
	sql_as(
		$node, 'zabbix', 'zabbix',
		"SELECT count(*) FROM zbxhist.partitions WHERE kind = 'packed' AND rows > 0"),
	'>', 20,
	'days are packed');

# Zabbix has gone on meanwhile
fill_old(-1, 1, 1400);
ask_old("INSERT INTO history SELECT seq + 100, ${\ day(0)} + seq, 5.5, 1 FROM seq_1_to_300");
isnt(differences('history'), '0', 'the old Zabbix goes on');

# the change over
my $load = "$place/zabbix.load";
append_to_file($load, shift @{ $blocks{text} });
{
	my ($out, $err);

	local $ENV{HOME} = $place;
	IPC::Run::run([ 'pgloader', $load ], '<', \undef, '>', \$out, '2>', \$err);
	like($out, qr/Total import time/, 'pgloader') or diag("$out\n$err");
	unlike($out, qr/ERROR|FATAL/, '... without errors') or diag($out);
}
is( sql_as($node, 'zabbix', 'zabbix',
		"SELECT count(*), min(hostid), max(host) FROM hosts UNION ALL SELECT count(*), sum(hostid), md5(string_agg(params, '' ORDER BY itemid)) FROM items"
	  )
	  . "\n"
	  . sql_as(
		$node, 'zabbix', 'zabbix',
		"SELECT count(*), md5(string_agg(image, '' ORDER BY imageid)) FROM images"),
	ask_old(
		"SET SESSION group_concat_max_len = 10000000; SELECT concat_ws('|', count(*), min(hostid), max(host)) FROM hosts;"
		  . " SELECT concat_ws('|', count(*), sum(hostid), md5(group_concat(params ORDER BY itemid SEPARATOR ''))) FROM items;"
		  . " SELECT concat_ws('|', count(*), md5(group_concat(image ORDER BY imageid SEPARATOR ''))) FROM images"
	) =~ s/\n\z//r,
	'the configuration is what it was');

next_step('mysql', undef, 'a view of the rest');
next_step('sql', 'zabbix', 'the rest is imported');
is(differences('history'), '0', '... of history');
next_step('sql', 'zabbix', 'trends are imported');
is(differences('trends', 'trends_uint'), '0 0', '... as they were');
my ($there, $here) = split /\n/, next_step('sql', 'zabbix', 'both are counted') =~ s/\n+\z//r;
isnt($there, '', 'and compared');
maintain($node, 'zabbix');
is(differences('history'), '0', 'after maintenance as well');
next_step('sql', 'zabbix', 'what is left is removed');
is(scalar @{ $blocks{sql} }, 0, 'these were all commands');

$node->stop;
done_testing();
