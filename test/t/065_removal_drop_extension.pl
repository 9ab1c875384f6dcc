# DROP EXTENSION leaves every row readable, and Zabbix can insert.  When the
# extension is created again, it takes the partitions over.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use Test::More;
use ZbxhistTest;

my $node = test_server('drop');
create_database($node, 'zabbix');
set_up($node, 'zabbix');

# a session that has the library, open all the time
my $session = $node->background_psql('zabbix', on_error_stop => 0);
$session->query_safe(insert_values('history', 1, 1000, day(0)));
$session->query_safe(insert_values('history', 1, 10, day(-9)));

my $partitions = "SELECT oid, relname FROM pg_class WHERE relname ~ '_p20' ORDER BY 1";
my $before = totals($node, 'zabbix', 'history');
my $made = $node->safe_psql('zabbix', $partitions);

my ($code, $out, $err) = $node->psql('zabbix', 'DROP EXTENSION zbxhist');
isnt($code, 0, 'DROP EXTENSION without CASCADE is refused');
like($err, qr/zzz_zbxhist_route.*depends on function/s, '... for the triggers');
$node->safe_psql('zabbix', 'DROP EXTENSION zbxhist CASCADE');

is(totals($node, 'zabbix', 'history'), $before, 'every row is there');
is($node->safe_psql('zabbix', $partitions), $made, 'every partition is there');
is($node->safe_psql('zabbix', "SELECT count(*) FROM pg_trigger WHERE tgname ~ 'zbxhist'"),
	0, 'no trigger is left');
is($node->safe_psql('zabbix', <<'SQL'), '0|0', 'an empty schema at most is left');
SELECT (SELECT count(*) FROM pg_class WHERE relnamespace = ANY (ARRAY[to_regnamespace('zbxhist'), to_regnamespace('zbxhist_internal')])),
       (SELECT count(*) FROM pg_proc WHERE pronamespace = ANY (ARRAY[to_regnamespace('zbxhist'), to_regnamespace('zbxhist_internal')]))
SQL

# Zabbix goes on, with old connections and with new ones
my $answer = $session->query(insert_values('history', 2001, 100, day(0)) . 'select 1;');
like($answer, qr/^1\s*$/, 'an old session inserts');
$node->safe_psql('zabbix', insert_values('history', 3001, 100, day(0)));
is(rows_of($node, 'zabbix', 'ONLY history WHERE itemid > 2000'), 200, 'the rows are in the parent');
is(rows_of($node, 'zabbix', 'history'), 1210, '... and can be read');
$node->safe_psql('zabbix',
	'UPDATE history SET value = 5 WHERE itemid = 7; DELETE FROM history WHERE itemid = 8');
is(rows_of($node, 'zabbix', 'history WHERE itemid = 7 AND value = 5'), 2, 'UPDATE works');
is(rows_of($node, 'zabbix', 'history WHERE itemid = 8'), 0, 'DELETE works');

# without the extension a key can come twice
$node->safe_psql('zabbix',
		'INSERT INTO history SELECT * FROM '
	  . partition('history', 0)
	  . ' WHERE itemid < 5;'
	  . 'UPDATE ONLY history SET value = -1 WHERE itemid = 4');

# ---- again ----

$node->safe_psql('zabbix', 'CREATE EXTENSION zbxhist');
$node->safe_psql('zabbix',
	"SELECT * FROM zbxhist.setup('public', '30 days', '1 year', history_interval => '1 day')");
is($node->safe_psql('zabbix', $partitions), $made, 'set-up takes the partitions over');
is($node->safe_psql('zabbix', "SELECT count(*) FROM zbxhist.list_partitions('history')"),
	5, '... all of them');
$answer = $session->query(insert_values('history', 4001, 300, day(0)) . 'select 1;');
like($answer, qr/^1\s*$/, 'the old session inserts');
is(rows_of($node, 'zabbix', 'ONLY history WHERE itemid BETWEEN 4001 AND 4999'),
	0, '... and routes again');

maintain($node, 'zabbix');
is(rows_of($node, 'zabbix', 'ONLY history WHERE itemid > 2000'),
	0, 'maintenance moves what came in between');
is(rows_of($node, 'zabbix', 'history WHERE itemid > 2000'), 500, '... each row');
is(rows_of($node, 'zabbix', 'history WHERE itemid < 4 AND clock >= ' . day(-1)),
	3, 'the same row in both is one now');
is(rows_of($node, 'zabbix', 'history WHERE itemid = 4 AND clock >= ' . day(-1)),
	2, 'different rows of one key both stay');
like(
	$node->safe_psql('zabbix', 'SELECT string_agg(message, \' \') FROM zbxhist.check()'),
	qr/duplicate|same key/i,
	'... and check() says so');

# ---- packed days ----

$node->safe_psql('zabbix', 'CALL zbxhist.pack(\'history\', \'' . date(-1) . '\')');
my $kept = rows_of($node, 'zabbix', 'history WHERE clock >= ' . day(0));
my $all = totals($node, 'zabbix', 'history');
my ($day) = $node->safe_psql('zabbix', 'SELECT day FROM zbxhist.packed_day');

# Runs SQL in a session that has not loaded the library when it begins.
sub without_library
{
	local $ENV{PGOPTIONS} = '-c session_preload_libraries=';
	return $node->psql(@_);
}

# each in a session without the library, and in one that has it
for my $library ('', "LOAD 'zbxhist';")
{
	my $how = $library ? 'with the library' : 'without the library';

	for my $command (
		'DROP EXTENSION zbxhist CASCADE',
		'DROP SCHEMA zbxhist CASCADE',
		'DROP FOREIGN TABLE history_packed CASCADE',
		"DROP TABLE $day, history CASCADE",
		'DROP TABLE history CASCADE',
		'DROP SCHEMA public CASCADE',
		'DROP SERVER zbxhist CASCADE',
		'BEGIN; DROP FOREIGN TABLE history_packed CASCADE; COMMIT')
	{
		($code, $out, $err) = without_library('zabbix', "$library $command");
		isnt($code, 0, "$command, $how, is refused");
		like(
			$err,
			$command =~ /SERVER/
			? qr/extension zbxhist requires it/
			: qr/ERROR:  cannot drop .*values of 1 packed day would be lost.*SET zbxhist.allow_packed_drop = on.*CALL zbxhist.undo\('public.history'\);/s,
			'... with the way to keep the values');
	}
	($code, $out, $err) = without_library('zabbix', "$library DROP EXTENSION zbxhist");
	isnt($code, 0, "DROP EXTENSION without CASCADE, $how, is refused");
	like(
		$err,
		$library
		? qr/1 packed day would be lost.*CALL zbxhist.undo/s
		: qr/other objects depend on it/,
		'... with a reason');
}
is(totals($node, 'zabbix', 'history'), $all, 'nothing was lost');

# the owner of the database owns the extension and the tables
$node->safe_psql('postgres', 'CREATE ROLE keeper LOGIN');
create_database($node, 'kept', 'keeper');
$node->safe_psql('kept', <<'SQL');
SET ROLE keeper;
CREATE TABLE readings (itemid bigint, clock integer, value float8, ns integer, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('readings'), zbxhist.create_partition('readings', '1970-01-02');
INSERT INTO readings VALUES (1, 86400, 1.5, 0);
CALL zbxhist.pack('readings', '1970-01-02');
SQL
($code, $out, $err) = without_library('kept', 'DROP OWNED BY keeper CASCADE');
isnt($code, 0, 'DROP OWNED of the owner of the extension is refused');
like($err, qr/values of 1 packed day would be lost/, '... for the packed day');
is($node->safe_psql('kept', 'SELECT count(*) FROM readings'), 1, 'nothing was lost');

# consent comes from the session and nowhere else
($code, $out, $err) =
  $node->psql('zabbix', 'ALTER DATABASE zabbix SET zbxhist.allow_packed_drop = on');
($code, $out, $err) = $node->psql('zabbix', 'DROP FOREIGN TABLE history_packed CASCADE');
isnt($code, 0, 'consent of the whole database does not count');
$node->safe_psql('zabbix', 'ALTER DATABASE zabbix RESET zbxhist.allow_packed_drop');
is(totals($node, 'zabbix', 'history'), $all, 'nothing was lost');

# the way that the hint tells
($code, $out, $err) = $node->psql('zabbix', 'DROP EXTENSION zbxhist CASCADE');
my ($hint) = $err =~ /HINT:  To keep them, run first: (.*)/;
($code, $out, $err) = $node->psql('zabbix', $hint);
like(
	$err,
	qr/1 partition and 0 packed days are left.*have keys of other rows.*HINT:  SELECT tableoid/s,
	'the command of the hint asks which row of a key is right');
($code, $out, $err) = $node->psql('zabbix', 'DROP EXTENSION zbxhist CASCADE');
like($err, qr/the undo of "history" is not finished/, '... and the extension stays until then');
$node->safe_psql('zabbix', 'DELETE FROM ONLY history WHERE itemid = 4 AND value = -1');
$all = totals($node, 'zabbix', 'history');
$kept = rows_of($node, 'zabbix', 'history WHERE clock >= ' . day(0));
$node->safe_psql('zabbix', "SET client_min_messages = error; $hint");
$node->safe_psql('zabbix', 'DROP EXTENSION zbxhist CASCADE');
is(totals($node, 'zabbix', 'history'),
	$all, 'after the command of the hint the extension goes and no value');

# what was consented to
$node->safe_psql('zabbix',
		'CREATE EXTENSION zbxhist;'
	  . " SELECT zbxhist.create_parent('history', move_existing => true)");
maintain($node, 'zabbix');
$node->safe_psql('zabbix',
	'CALL zbxhist.pack(\'history\', \'' . POSIX::strftime('%Y-%m-%d', gmtime(day(-1))) . '\')');
($code, $out, $err) =
  $node->psql('zabbix', 'SET zbxhist.allow_packed_drop = on; DROP EXTENSION zbxhist CASCADE');
is($code, 0, 'with consent CASCADE drops');
like($err, qr/NOTICE:  the values of 1 packed day are dropped/, '... and says so');
like($err, qr/drop cascades to/, '... and a list');
is($node->safe_psql('zabbix', "SELECT count(*) FROM pg_class WHERE relname ~ '_packed'"),
	0, 'the packed day is gone');
is(rows_of($node, 'zabbix', 'history WHERE clock >= ' . day(0)), $kept, '... and nothing else');

$session->quit;
log_is_clean($node);
$node->stop;
done_testing();
