# Databases whose encoding is LATIN1, or SQL_ASCII, where text may be any bytes:
# text with high bytes is inserted, packed, read, merged, changed, unpacked,
# dumped and restored as on a plain table.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $clock = day(-1);
my $day = date(-1);
my $directory = PostgreSQL::Test::Utils::tempdir();
my @tables = qw(history_str history_text history_log);
my $node = test_server('encodings');

# texts as clients send them; no text at all in SQL_ASCII's are fine there
my %texts = (
	LATIN1 =>
	  [ "caf\xE9", "\xA0\xFF\x80", 'plain', '', "\xC3\xA9", "it''s \xFC\xDF", "\xE9" x 255 ],
	SQL_ASCII => [
		"caf\xC3\xA9", "caf\xE9", "\xFF\xFE", '',
		'plain', "\xE4\xBA\x8B\xE4", "\xED\xA0\x80", "\x80" x 255
	]);

# A statement, sent as it is and run on each managed table and its plain twin.
sub run_on_both
{
	my ($database, $statement) = @_;
	my $encoding = uc $database;

	for my $table (@tables)
	{
		my @outcomes;

		for my $name ($table, "plain_$table")
		{
			my ($code, $out, $err) = psql_script($node, $database,
				"SET client_encoding = $encoding;\n" . ($statement =~ s/\{t\}/$name/gr) . ";\n");
			push @outcomes, join '|', $out, $err =~ /ERROR/ ? 'error' : 'no error';
		}
		is($outcomes[0], $outcomes[1],
			"$database, $table: " . substr($statement =~ s/[^ -~]/?/gr, 0, 60));
	}
}

# A table and its plain twin have the same bytes.
sub check_bytes
{
	my ($database, $what) = @_;

	for my $table (@tables)
	{
		my ($managed, $plain) = map {
			$node->safe_psql($database,
				"SELECT itemid, clock, ns, encode(convert_to(value, getdatabaseencoding()), 'hex')"
				  . " FROM $_ ORDER BY 1, 2, 3")
		} $table, "plain_$table";
		is($managed, $plain, "$database, $table: the same $what");
		isnt($managed, '', '... which are some');
	}
}

# Where the rows of that day are.
sub kinds_are
{
	my ($database, $kind, $what) = @_;

	is( $node->safe_psql(
			$database,
			"SELECT string_agg(DISTINCT kind, ' ') FROM zbxhist.partitions WHERE from_clock = $clock"
		),
		$kind,
		"$database: $what");
	is( $node->safe_psql(
			$database,
			"SELECT sum((SELECT count(*) FROM zbxhist.verify(parent))) FROM zbxhist.parent_config"),
		0,
		'... and nothing is found damaged');
}

sub for_each_table
{
	my ($database, $sql) = @_;

	$node->safe_psql($database, $sql =~ s/\{t\}/$_/gr) for @tables;
}

# Zabbix's INSERT of the texts, at a time of that day.
sub insert_texts
{
	my ($database, $offset) = @_;
	my @texts = @{ $texts{ uc $database } };

	run_on_both(
		$database,
		'insert into {t} (itemid,clock,ns,value) values ' . join ',',
		map {
			my $item = $_;
			map { "($item,@{[ $clock + $offset + $_ ]},$item,'$texts[$_]')" } 0 .. $#texts
		} 1 .. 5);
}

# What reads: SQL by each kind of condition, and functions.
sub read_texts
{
	my ($database) = @_;
	my $high = $texts{ uc $database }[1];

	run_on_both($database, $_)
	  for "SELECT itemid, clock, ns FROM {t} WHERE value = '$high' ORDER BY 1, 2, 3",
	  "SELECT count(*) FROM {t} WHERE value LIKE 'caf%' AND itemid = 2",
	  "SELECT value, count(*) FROM {t} WHERE clock >= $clock GROUP BY 1 ORDER BY 1",
	  'SELECT max(value), min(value), sum(length(value)), sum(octet_length(value)) FROM {t}';
	for my $table (@tables)
	{
		my ($code, $read, $err) = psql_script($node, $database,
				"SELECT * FROM zbxhist.range(NULL::$table, 2, $clock, $clock + 86400);"
			  . "SELECT * FROM zbxhist.last_values(NULL::$table, ARRAY[3], 20)");
		is($err, '', "$database, $table: functions read");
		my ($plain_code, $plain) = psql_script($node, $database,
				"SELECT * FROM plain_$table WHERE itemid = 2 ORDER BY clock, ns;"
			  . "SELECT * FROM plain_$table WHERE itemid = 3 ORDER BY clock DESC, ns DESC LIMIT 20"
		);
		is($read, $plain, '... what is there');
	}
}

# pg_dump and its restore into another database.
sub restore
{
	my ($database, $target, $encoding) = @_;
	my $file = "$directory/$target.sql";

	$node->safe_psql('postgres',
		"CREATE DATABASE $target ENCODING '$encoding' LOCALE 'C' TEMPLATE template0");
	$node->command_ok([ 'pg_dump', '-f', $file, $database ], "$database: dumped");
	$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $target, '-f', $file ],
		"... and restored with encoding $encoding");
}

for my $database (qw(latin1 sql_ascii))
{
	my $encoding = uc $database;

	$node->safe_psql('postgres',
		"CREATE DATABASE $database ENCODING '$encoding' LOCALE 'C' TEMPLATE template0");
	$node->safe_psql($database,
		"CREATE EXTENSION zbxhist; ALTER DATABASE $database SET session_preload_libraries = 'zbxhist'"
	);
	create_zabbix_tables($node, $database);
	for_each_table($database,
			'CREATE TABLE plain_{t} (LIKE {t} INCLUDING ALL);'
		  . "SELECT zbxhist.create_parent('{t}', pack_after => '1 hour'), zbxhist.create_partition('{t}', '$day')"
	);

	insert_texts($database, 0);
	check_bytes($database, 'bytes in partitions');
	for_each_table($database, "CALL zbxhist.pack('{t}', '$day')");
	kinds_are($database, 'packed', 'they are packed');
	check_bytes($database, 'bytes packed');
	read_texts($database);

	# late values, one of them there already, are merged
	insert_texts($database, 0);
	insert_texts($database, 600);
	for_each_table($database,
		"SELECT zbxhist_internal.run_step('{t}', 'merge', 'zbxhist_packed.${\ partition('{t}', -1)}')"
	);
	is( $node->safe_psql(
			$database,
			"SELECT sum((SELECT count(*) FROM ONLY $tables[$_])) FROM generate_series(1, 1)"),
		0,
		"$database: late values are merged into $tables[$_]") for 0 .. $#tables;
	kinds_are($database, 'packed', 'late values are packed');
	check_bytes($database, 'bytes merged');

	# changes of packed rows
	my ($first, $second) = @{ $texts{$encoding} };
	run_on_both($database, $_)
	  for "UPDATE {t} SET value = '$second' || value WHERE itemid = 1 AND value = '$first'",
	  "UPDATE {t} SET value = '$first' WHERE itemid = 5 AND clock > $clock + 600",
	  "DELETE FROM {t} WHERE itemid = 2 AND value = '$second'",
	  "DELETE FROM {t} WHERE itemid = 3 AND value = '$first' RETURNING value";
	check_bytes($database, 'bytes changed');
	read_texts($database);

	restore($database, "restored_$database", $encoding);
	for my $table (@tables)
	{
		is( totals($node, "restored_$database", $table),
			totals($node, $database, $table),
			"$database, $table: the same rows");
		is( $node->safe_psql("restored_$database", "SELECT count(*) FROM zbxhist.verify('$table')"),
			0,
			'... and found good');
	}

	# what docs/limits.md warns of
	restore($database, "utf8_$database", 'UTF8') if $encoding eq 'LATIN1';

	for_each_table($database, "CALL zbxhist.unpack('{t}', '$day')");
	kinds_are($database, 'heap', 'they are unpacked');
	check_bytes($database, 'bytes unpacked');
}

# packed text stays in the encoding of before
my ($code, $out, $err) =
  psql_script($node, 'utf8_latin1', "\\set VERBOSITY verbose\nSELECT value FROM history_str;");
like(
	$err,
	qr/ERROR:  XX001: packed values of item \d+ in "[^"]+" are corrupt/,
	'packed text that is none in the encoding of another database is an error');
isnt($node->safe_psql('utf8_latin1', "SELECT count(*) FROM zbxhist.verify('history_str')"),
	0, '... which verify() tells of');

log_is_clean($node, 'nothing unusual in the log', 'XX001');
$node->stop;
done_testing();
