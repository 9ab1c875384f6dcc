# Maintenance beside a transaction at REPEATABLE READ that has read one packed
# day: all other days are packed and dropped at once, that one by the first run
# after the transaction.  Likewise beside a pg_dump, which gets the rows of its
# start.  While a synchronous standby is down, maintenance does not wait for
# it, and nobody waits for maintenance.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PgWire;
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $node = test_server('beside_readers', autovacuum => 'off');
create_database($node, 'zabbix');
create_zabbix_tables($node, 'zabbix');
create_packed_history(
	$node,
	'zabbix',
	'i, :from + c * 60, i / 8.0 + c, i * c FROM generate_series(1, 20) i, generate_series(0, 99) c',
	6,
	5,
	4);

# Says which days there are, counted from today, and in which form.
sub days
{
	return $node->safe_psql('zabbix',
			q{SELECT string_agg(concat((from_clock - }
		  . day(0)
		  . q{) / 86400, ' ', kind), ', ' ORDER BY from_clock) FROM zbxhist.partitions}
		  . q{ WHERE parent = 'history'::regclass AND to_clock <= }
		  . day(0));
}

# Adds a day that is to be packed.
sub add_day
{
	my ($ago) = @_;

	$node->safe_psql(
		'zabbix', qq{
		SET synchronous_commit = local;
		SELECT zbxhist.create_partition('history', '${\ date(-$ago)}');
		INSERT INTO history SELECT i, ${\ day(-$ago)} + c, c, 0 FROM generate_series(1, 20) i, generate_series(0, 99) c;
		INSERT INTO plain SELECT i, ${\ day(-$ago)} + c, c, 0 FROM generate_series(1, 20) i, generate_series(0, 99) c;
	});
	return;
}

# ---- a reader ----

add_day(3);
my $reader = PgWire->new($node, 'zabbix');
my $count =
	'SELECT count(*), sum(value) FROM history WHERE itemid IN ('
  . join(', ', 1 .. 20)
  . ') AND clock BETWEEN '
  . day(-6) . ' AND '
  . (day(-5) - 1);
$reader->query($_) for "LOAD 'zbxhist'", 'BEGIN ISOLATION LEVEL REPEATABLE READ';
my $before = $reader->query($count);
is($before->{rows}[0][0], 2000, 'a transaction has read one packed day');

$node->safe_psql('zabbix',
	"SELECT zbxhist.alter_parent('history', retention => '4 days', accept_deletion => true)");
maintain($node, 'zabbix');
is( days(),
	'-6 packed, -4 packed, -3 packed',
	'the next day is dropped beside it, and another one packed');
is_deeply($reader->query($count), $before, 'it reads its day once more');
$reader->query('COMMIT');
maintain($node, 'zabbix');
is(days(), '-4 packed, -3 packed', 'its day is dropped by the next run');
$node->safe_psql('zabbix', 'DELETE FROM plain WHERE clock < ' . day(-4));
is($node->safe_psql('zabbix', 'SELECT count(*) FROM difference'), 0, 'all else is there');

# ---- a dump ----

add_day(2);
my $rows = $node->safe_psql('zabbix', 'SELECT count(*), sum(value) FROM history');
open(my $dump, '-|', 'pg_dump', '-d', $node->connstr('zabbix')) or die "pg_dump: $!";

# it has its snapshot and all tables, and waits until more is read of it
my $dumped = <$dump>;
add_day(7);
$node->safe_psql('zabbix', "SELECT zbxhist.alter_parent('history', retention => '8 days')");
maintain($node, 'zabbix');
is( days(),
	'-7 heap, -4 packed, -3 packed, -2 heap',
	'beside a dump neither what it has nor what is newer is packed');
$node->safe_psql('zabbix',
	"SELECT zbxhist.alter_parent('history', retention => '3 days', accept_deletion => true)");
maintain($node, 'zabbix');
is( days(),
	'-4 packed, -3 packed, -2 heap',
	'... and dropped what was made since it began, no other');
is( $node->safe_psql(
		'zabbix',
		q{SELECT count(*) FROM pg_stat_activity WHERE state <> 'idle' AND query LIKE 'COPY %'}),
	1,
	'the dump goes on');
$dumped .= do { local $/; <$dump> };
ok(close($dump), '... to its end');
$node->safe_psql('postgres', 'CREATE DATABASE again');
$node->safe_psql('again', $dumped);
is($node->safe_psql('again', 'SELECT count(*), sum(value) FROM history'),
	$rows, 'restored it has what there was');
is($node->safe_psql('again', 'SELECT count(*) FROM difference'), 0, '... each row');
maintain($node, 'zabbix');
is(days(), '-3 packed, -2 packed', 'the next run does what the dump held up');
$node->safe_psql('zabbix', 'DELETE FROM plain WHERE clock < ' . day(-3));
is($node->safe_psql('zabbix', 'SELECT count(*) FROM difference'), 0, 'all else is there');
$node->safe_psql('zabbix', "SELECT zbxhist.alter_parent('history', retention => '8 days')");

# ---- a synchronous standby that is away ----

$node->append_conf('postgresql.conf', q{synchronous_standby_names = 'away'});
$node->reload;
add_day(6);
my $timed_out;
$node->psql(
	'zabbix', 'CALL zbxhist.run_maintenance()',
	timeout => $PostgreSQL::Test::Utils::timeout_default,
	timed_out => \$timed_out);
ok(!$timed_out, 'maintenance does not wait for a standby');
is(days(), '-6 packed, -3 packed, -2 packed', '... and packs');
$reader->query($_) for 'BEGIN', $count;
is($node->safe_psql('zabbix', 'SELECT count(*) FROM difference'),
	0, '... and nobody who reads waits');
$reader->close;

log_is_clean($node);
$node->stop;
done_testing();
