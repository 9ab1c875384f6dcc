# Sessions of a standby read while the primary stores values, packs, repacks
# and unpacks days, deletes and vacuums.  Each answer is right, each cancel is
# a conflict with recovery, and with the settings that prevent conflicts there
# is none.  And libpq finds the server that a session asks for.
# ZBXHIST_SECONDS=60 for more of each setting; the counts are printed.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PgWire;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);
use ZbxhistTest;

my $seconds = $ENV{ZBXHIST_SECONDS} // 8;
my $primary = test_server(
	'primary',
	-allows_streaming => 1,
	autovacuum => 'off',
	hot_standby => 'on',
	wal_receiver_status_interval => '1s',
	shared_preload_libraries => 'zbxhist');
create_database($primary, 'zabbix');
create_zabbix_tables($primary, 'zabbix');
$primary->safe_psql('zabbix',
	"SELECT zbxhist.create_parent('history', '1 hour', retention => '200 years', pack_after => '1 hour')"
);
$primary->safe_psql(
	'zabbix', qq{
	SELECT zbxhist_internal.create_range('history', $_, $_ + 86400);
	INSERT INTO history SELECT i, $_ + j * 60, i + j % 7 / 8.0, i * j FROM generate_series(1, 50) i, generate_series(0, 1439) j;
}) for map { day($_) } -6, -5;
$primary->safe_psql('zabbix', "CALL zbxhist.pack('history', '${\ date($_)}')") for -6, -5;
$primary->safe_psql('zabbix',
	'CREATE TABLE plain (LIKE history); INSERT INTO plain SELECT * FROM history');

$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->start;

# ---- what sessions do ----

# Counts the errors of an answer, or as right or wrong if the last statement
# has returned no row, or some.
sub note_answer
{
	my ($counts, $name, $answer) = @_;

	if (@{ $answer->{errors} })
	{
		$counts->{"$name cancelled $_"}++ for @{ $answer->{errors} };
	}
	else
	{
		$counts->{ @{ $answer->{rows} } ? "$name wrong" : "$name right" }++;
	}
}

# The two tables, as far as a condition goes.
sub compared
{
	my ($condition) = @_;
	my $which = "(SELECT count(*), sum(value) FROM %s WHERE $condition)";

	return sprintf "$which EXCEPT $which", 'history', 'plain';
}

my %jobs = (
	graph => sub {
		my ($client, $counts) = @_;

		note_answer($counts, 'graph', $client->query(compared('itemid = ' . (1 + int rand 50))));
		sleep 0.02;
	},

	# something else for some seconds, then the rows once more
	report => sub {
		my ($client, $counts) = @_;

		note_answer(
			$counts, 'report',
			$client->query(
				"BEGIN ISOLATION LEVEL REPEATABLE READ; ${\ compared('true') }; DO 'BEGIN PERFORM pg_sleep(3); END'; ${\ compared('true') }; COMMIT"
			));
		$client->query('ROLLBACK');
	});

# What changes on the primary: rows of a few hours, and of the
# packed days.
my $hour = day(-2);

sub write_values
{
	my ($client, $counts) = @_;
	my $clock = any($hour + int rand 3600, day(-6) + int rand 172800);
	my $rows = join ',',
	  map { sprintf '(%d,%d,%d,%d)', 1 + int rand 50, $clock, $_, int rand 1e9 } 1 .. 20;

	$client->query(
		"BEGIN; INSERT INTO history (itemid,clock,value,ns) VALUES $rows; INSERT INTO plain (itemid,clock,value,ns) VALUES $rows; COMMIT"
	);
	$counts->{values} += 20;
	sleep 0.01;
}

sub change_days
{
	my ($client, $counts) = @_;
	my $date = date(any(-6, -5));
	my $gone = sprintf 'itemid = %d AND clock < %d', 1 + int rand 50, day(-6) + 7200;

	for my $command (
		"BEGIN; DELETE FROM history WHERE $gone; DELETE FROM plain WHERE $gone; COMMIT",
		'CALL zbxhist.run_maintenance()',
		"CALL zbxhist.repack('history', '$date')",
		"CALL zbxhist.unpack('history', '$date')",
		"CALL zbxhist.pack('history', '$date')",
		'VACUUM')
	{
		$client->query($command);
		$counts->{changes}++;
	}
}

# ---- with several settings ----

sub conflicts
{
	return $standby->safe_psql('zabbix',
		'SELECT confl_lock, confl_snapshot, confl_bufferpin, confl_deadlock FROM pg_stat_database_conflicts WHERE datname = current_database()'
	);
}

my %outcome;
my $number = 0;
for my $setting ([ 'off', '1s' ], [ 'on', '1s' ], [ 'on', '-1' ])
{
	my ($feedback, $delay) = @$setting;
	my $name = "hot_standby_feedback $feedback, max_standby_streaming_delay $delay";
	my @before = split /\|/, conflicts();

	$number++;
	$hour += 3600;
	$primary->safe_psql('zabbix',
		"SELECT zbxhist_internal.create_range('history', $hour, $hour + 3600)");
	$standby->append_conf('postgresql.conf',
		"hot_standby_feedback = $feedback\nmax_standby_streaming_delay = $delay");
	$standby->reload;

	# what it takes part in has begun or ended when the primary has heard of it
	$primary->poll_query_until('zabbix',
		"SELECT (backend_xmin IS NOT NULL) = '$feedback'::boolean FROM pg_stat_replication")
	  or die 'the primary does not hear of feedback';
	$primary->wait_for_catchup($standby);
	my @processes;

	for my $job (sort keys %jobs)
	{
		push @processes,
		  in_background($standby, 'zabbix', "$job $number", $seconds, $number, $jobs{$job});
	}
	push @processes,
	  ( in_background($primary, 'zabbix', "writer $number", $seconds, $number, \&write_values),
		in_background(
			$primary, 'zabbix', "days $number", $seconds,
			$number, \&change_days, sub { $_[1] > 0 }));
	waitpid($_, 0) for @processes;
	my @after = split /\|/, conflicts();
	my %conflicts;
	@conflicts{qw(lock snapshot bufferpin deadlock)} = map { $after[$_] - $before[$_] } 0 .. 3;
	my $counts = join '',
	  map { outcome_of(m/graph|report/ ? $standby : $primary, "$_ $number") =~ s/^rounds \d+\n//mr }
	  sort(keys %jobs), 'writer', 'days';

	diag("$name:\n$counts" . join ', ', map { "$_ $conflicts{$_}" } sort keys %conflicts)
	  if $ENV{ZBXHIST_SECONDS};
	note($counts);
	unlike($counts, qr/wrong/, "$name: what is answered is right");
	like($counts, qr/^graph right \d+$/m, '... graphs are');
	my @cancelled = $counts =~ /cancelled (\w+)|lost connection: (.*)/g;

	# one that is idle when it is in the way loses its connection
	my $has_ended =
	  slurp_file($standby->logfile) =~ /terminating connection due to conflict with recovery/;

	is( join(
			' ',
			grep {
					 defined
				  && !/^(?:40001|40P01)$|conflict with recovery/
				  && !($has_ended && /Broken pipe|connection lost/)
			} @cancelled),
		'',
		'... cancelled is what conflicts with recovery');
	is($conflicts{snapshot}, 0, '... no rows are missed') if $feedback eq 'on';
	is(join(' ', grep { defined && !($conflicts{deadlock} && /40P01/) } @cancelled),
		'', '... nothing is cancelled')
	  if $delay eq '-1';
	$primary->wait_for_catchup($standby);
	is($standby->safe_psql('zabbix', compared('true')),
		'', '... in the end both have the same rows');
}

# ---- which server? ----

# Where a session comes to that asks both for one of a kind.
sub arrives_at
{
	my ($kind) = @_;
	my $hosts = join ',', map { $_->host } $primary, $standby;
	my $ports = join ',', map { $_->port } $primary, $standby;
	my ($out, $err);

	IPC::Run::run(
		[
			'psql', '-XAtq', '-d',
			"dbname=zabbix host=$hosts port=$ports target_session_attrs=$kind",
			'-c', 'SHOW cluster_name'
		],
		'>',
		\$out,
		'2>',
		\$err);
	chomp $out;
	return $out || $err;
}

is(arrives_at('read-write'), 'primary', 'Zabbix writes to the primary');
is(arrives_at('prefer-standby'), 'standby', 'Grafana reads from the standby');
$standby->stop('fast');
is(arrives_at('prefer-standby'), 'primary', '... from the primary, where there is no other');
$standby->start;
$primary->stop('immediate');
is(arrives_at('prefer-standby'), 'standby', '... while the primary is away');
unlike(arrives_at('read-write'), qr/standby/, 'nobody writes to a standby');
$standby->promote;
is(arrives_at('read-write'), 'standby', '... until it is promoted');
is($standby->safe_psql('zabbix', compared('true')), '', '... with all rows');
$standby->safe_psql('zabbix',
	"INSERT INTO history VALUES (1, ${\ day(-1)}, 1, 1); CALL zbxhist.run_maintenance()");
is( $standby->safe_psql('zabbix', "SELECT count(*) FROM zbxhist.check() WHERE severity <> 'info'"),
	0,
	'... where maintenance goes on');

log_is_clean($_) for $primary, $standby;
$standby->stop;
done_testing();
