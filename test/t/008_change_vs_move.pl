# Statements change or lock rows while maintenance moves these: into a
# partition, back by undo, into a packed day, out of one.  At READ COMMITTED
# each waits and then does the same as to a plain table with the same rows,
# also as the first statement of a session that has not loaded the library, and
# in each protocol.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PgWire;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes ();
use ZbxhistTest;

my $node = test_server('change_vs_move');
create_database($node, 'zabbix');

my $rows =
  'SELECT i, c, i, 0 FROM generate_series(1, 5) i,' . ' (VALUES (86400), (86460), (172800)) v (c)';
my $day = "FROM zbxhist.packed_day WHERE parent = 'history'::regclass";
my @pack = ("INSERT INTO history $rows", "CALL zbxhist.pack('history', '1970-01-02')");

# What is done before, and what moves the rows of the first day.
my %moves = (
	move => {
		before => [
			'SET zbxhist.enable_routing = off',
			"INSERT INTO history $rows",
			'RESET zbxhist.enable_routing'
		],
		move => "SELECT zbxhist_internal.step_move('history', 'history_p19700102')"
	},
	undo => {
		before => [
			"INSERT INTO history $rows",
			"UPDATE zbxhist.parent_config SET routing = false",
			"SELECT zbxhist_internal.invalidate('history')"
		],
		move => "SELECT zbxhist_internal.step_move('history', 'history_p19700102', 'undo_move')"
	},
	merge => {
		before =>
		  [ @pack, 'INSERT INTO history SELECT i, 86520, i, 1 FROM generate_series(1, 5) i' ],
		move => "SELECT zbxhist_internal.step_merge('history', day) $day"
	},
	unpack => {
		before => [
			@pack,
			"SELECT zbxhist_internal.step_unpack('history', day) $day",
			"UPDATE zbxhist.packed_day SET settling = '{}'"
		],
		move => "SELECT zbxhist_internal.step_unpack('history', day) $day"
	});

# Statements on %s, of one protocol or the other.
my %statements = (
	update => 'UPDATE %s SET value = value + 10 WHERE itemid = 2',
	'update of a clock' => 'UPDATE %s SET value = value + 10 WHERE itemid = 2 AND clock = 86460',
	delete => 'DELETE FROM %s WHERE itemid = 2 AND clock < 172800',
	housekeeper => 'DELETE FROM %1$s WHERE itemid = 2 AND ctid = ANY'
	  . ' (ARRAY (SELECT ctid FROM %1$s WHERE itemid = 2 LIMIT 5000))',
	lock => 'SELECT * FROM %s WHERE itemid = 2 ORDER BY clock FOR UPDATE',
	share => 'SELECT * FROM %s WHERE itemid = 2 ORDER BY clock FOR SHARE');

sub make_tables
{
	my ($move) = @_;
	my $sql = join(";\n",
		'SET client_min_messages = warning',
		'SET zbxhist.allow_packed_drop = on',
		'DROP TABLE IF EXISTS history, plain CASCADE',
		'CALL zbxhist.run_maintenance()',
		'CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL,'
		  . ' value double precision NOT NULL, ns integer NOT NULL,'
		  . ' PRIMARY KEY (itemid, clock, ns))',
		"SELECT zbxhist.create_parent('history', retention => '100 years')",
		"SELECT zbxhist.create_partition('history', d)"
		  . " FROM (VALUES (date '1970-01-02'), ('1970-01-03')) v (d)",
		"SELECT zbxhist_internal.step_begin('history')",
		@{ $move->{before} },
		'CREATE TABLE plain AS TABLE history');
	my ($code, $out, $err) = psql_script($node, 'zabbix', $sql, '-q', '-v', 'ON_ERROR_STOP=1');

	die "$err" if $code;
}

# Sends a statement without waiting for its end.
sub send_statement
{
	my ($client, $protocol, $sql) = @_;

	if ($protocol eq 'simple')
	{
		$client->send_message('Q', "$sql\0");
		return;
	}
	$client->parse('', $sql);
	$client->bind('', '');
	$client->execute('');
	$client->send_message('S', '');
}

# Whether it has come to wait for a lock.
sub waits
{
	my ($pid) = @_;

	for (1 .. 500)
	{
		my $state = $node->safe_psql('zabbix',
				"SELECT concat(state, ' ', wait_event_type) FROM pg_stat_activity"
			  . " WHERE pid = $pid");

		return 1 if $state eq 'active Lock';
		return 0 if $state =~ /^idle/;
		Time::HiRes::sleep(0.01);
	}
	die "session $pid neither waits nor comes to its end";
}

my $mover = PgWire->new($node, 'zabbix');

for my $kind (sort keys %moves)
{
	for my $name (sort keys %statements)
	{
		# rows of packed days are not locked
		next if $kind eq 'merge' && $name =~ /^(?:lock|share)$/;

		for my $protocol ('simple', 'extended')
		{
			my $is_loaded = $protocol eq 'extended';
			my $what =
			  "$kind, $name, " . ($is_loaded ? 'extended protocol, library' : 'simple, no library');
			my $sql = $statements{$name};

			make_tables($moves{$kind});
			my $client = PgWire->new($node, 'zabbix');
			$client->query("LOAD 'zbxhist'") if $is_loaded;
			my $pid = $client->query('SELECT pg_backend_pid()')->{rows}[0][0];
			my $expected = PgWire->new($node, 'zabbix')->query(sprintf $sql, 'plain');

			$mover->query('BEGIN');
			my $moved = $mover->query($moves{$kind}{move});
			die "$kind: @{ $moved->{messages} }" if @{ $moved->{errors} };
			send_statement($client, $protocol, sprintf($sql, 'history'));
			my $waited = waits($pid);
			$mover->query('COMMIT');
			my $result = $client->read_until_ready;

			ok($waited, "$what: waits");
			is_deeply(
				[ @$result{qw(errors tags rows)} ],
				[ @$expected{qw(errors tags rows)} ],
				"$what: as with a plain table");
			is( totals($node, 'zabbix', 'history'),
				totals($node, 'zabbix', 'plain'),
				"$what: the same rows");
		}
	}
}

log_is_clean($node);
done_testing();
