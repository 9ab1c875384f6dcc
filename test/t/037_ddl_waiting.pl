# Commands that cannot be held open in a transaction:  CONCURRENTLY in each of
# its phases, VACUUM, and commands that wait for their lock; on a parent, a
# partition, a packed day's table, and the catalogs of the extension.  INSERTs
# as of Zabbix succeed, wait or fail as in a plain table.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use InsertTrial;
use Test::More;
use Time::HiRes ();
use ZbxhistTest;

# What a session holds, one after the other, that the command waits for: locks
# of these modes, or a snapshot.  Before one is given up the next is there.
my @building = ('ROW EXCLUSIVE', 'ROW EXCLUSIVE', 'snapshot');
my @replacing = (@building, 'ACCESS SHARE', 'ACCESS SHARE');
my @dropping = ('ACCESS SHARE', 'ACCESS SHARE');
my @locking = ('ACCESS SHARE');

# %t is the table, %s its schema, %k the index of its key.  "on" says which
# tables the command is for: p(arent), c(hild: a partition), d(ay: a packed
# day's table), o(wn) ones of the extension and m(arks), which has no index.
my @commands = (
	(   map { { sql => "CREATE $_", until => \@building, undo => 'DROP INDEX %s.i', on => 'pcd' } }
		  'INDEX CONCURRENTLY i ON %t (clock)',
		'UNIQUE INDEX CONCURRENTLY i ON %t (itemid, clock, ns)',
		'UNIQUE INDEX CONCURRENTLY i ON %t (ns, clock, itemid)',
		'UNIQUE INDEX CONCURRENTLY i ON %t ((clock + 1), itemid, ns) WHERE ns >= 0',),
	{
		sql => 'CREATE UNIQUE INDEX CONCURRENTLY i ON %t ((0))',
		on => 'pc',
		until => ['ROW EXCLUSIVE'],
		fails => 1,
		undo => 'DROP INDEX %s.i'
	},
	{ sql => 'REINDEX TABLE CONCURRENTLY %t', on => 'pcdo', until => \@replacing },
	{ sql => 'REINDEX INDEX CONCURRENTLY %s.%k', on => 'pcd', until => \@replacing },
	{
		sql => 'REINDEX (TABLESPACE elsewhere) TABLE CONCURRENTLY %t',
		on => 'pcd',
		until => \@replacing
	},
	{
		sql => 'DROP INDEX CONCURRENTLY %s.i',
		on => 'pcd',
		until => \@dropping,
		before => 'CREATE UNIQUE INDEX i ON %t (clock, itemid, ns)'
	},
	{ sql => 'VACUUM %t', on => 'pcdom', until => ['SHARE UPDATE EXCLUSIVE'] },
	{ sql => 'VACUUM (FREEZE, ANALYZE) %t', on => 'pcdom', until => ['SHARE UPDATE EXCLUSIVE'] },
	{ sql => 'ANALYZE %t', on => 'pcdom', until => ['SHARE UPDATE EXCLUSIVE'] },
	{ sql => 'VACUUM FULL %t', on => 'pcdom', until => \@locking },
	{
		sql => 'CLUSTER %t USING %k',
		on => 'pcd',
		until => \@locking,
		undo => 'ALTER TABLE %t SET WITHOUT CLUSTER'
	},
	{ sql => 'REINDEX TABLE %t', on => 'pcdo', until => ['ROW EXCLUSIVE'] },
	{ sql => 'ALTER TABLE %t SET TABLESPACE elsewhere', on => 'pcd', until => \@locking },
	{ sql => 'BEGIN; LOCK TABLE ONLY %t; COMMIT', on => 'pcdom', until => \@locking },);

# ---- the tables ----

my $node = test_server('ddl_waiting', max_connections => 40);
my $directory = $node->basedir . '/elsewhere';

mkdir $directory or die "$directory: $!";
create_database($node, 'zabbix');
my $trial = InsertTrial->new($node, 'zabbix');
my @runners = map { $trial->superuser } 0, 1;

$trial->sql("CREATE TABLESPACE elsewhere LOCATION '$directory'");
$trial->create_tables;

# The tables that a command is for, by the letter, with the plain one.
sub targets
{
	my ($letter) = @_;
	my ($managed, $plain) = @{ $trial->{name} }{ 'managed', 'plain' };
	my %names = (
		p => [ [ 'managed', $managed ] ],
		c => [ [ 'zbxhist_partitions', "${managed}_p20010102" ] ],
		d => [ [ 'zbxhist_packed', "${managed}_p20010101" ] ],
		o => [ map { [ 'zbxhist', $_ ] } qw(packed_day parent_config partition_state) ],
		m => [ [ 'zbxhist', 'stray_mark' ] ]);

	return map { [ $_, [ 'plain', $plain ] ] } @{ $names{$letter} };
}

sub fill
{
	my ($statements, $target) = @_;
	my ($schema, $name) = @$target;
	my %value = (t => "$schema.$name", s => $schema, k => "${name}_pkey");

	return map { s/%([tsk])/$value{$1}/gr } split /; /, $statements // '';
}

# ---- what is held and waited for ----

# A session that holds a lock on all tables, or a snapshot.
sub hold
{
	my ($mode, @targets) = @_;
	my $client = $trial->superuser;
	my $statement =
	  $mode eq 'snapshot'
	  ? 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1'
	  : 'BEGIN; LOCK TABLE '
	  . join(', ', map { "ONLY $_->[0].$_->[1]" } @targets)
	  . " IN $mode MODE";
	my $result = $client->query($statement);

	die "$statement: @{ $result->{messages} }\n" if @{ $result->{errors} };
	return $client;
}

# Waits until all runners wait for the holder.
sub wait_for_waiters
{
	my ($what, $holder) = @_;
	my $pids = join ',', map { $_->pid } @runners;
	my $all = @runners;

	for (1 .. 30000)
	{
		my ($n) = @{
			$trial->sql(
				"SELECT count(*) FROM unnest('{$pids}'::integer[]) pid WHERE $holder->{pid} = ANY (pg_blocking_pids(pid))"
			)->[0]
		};
		return if $n == $all;
		Time::HiRes::sleep(0.002);
	}
	die "$what does not wait\n";
}

# One command on one table and the plain one: a trial in each phase of it.
sub try_command
{
	my ($command, $what, @targets) = @_;
	my @modes = @{ $command->{until} };
	my $holder;

	$trial->sql(map { fill($command->{before}, $_) } @targets);
	$holder = hold($modes[0], @targets);
	$runners[$_]->send_message('Q', join('; ', fill($command->{sql}, $targets[$_])) . "\0")
	  for 0, 1;
	for my $i (0 .. $#modes)
	{
		my $next;

		wait_for_waiters($what, $holder);
		$trial->start;
		$trial->watch($holder->pid, map { $_->pid } @runners);
		$next = hold($modes[ $i + 1 ], @targets) if $i < $#modes;
		$holder->query('COMMIT');
		$holder->close;
		$trial->finish;
		$trial->compare("$what, waiting for $modes[$i] ($i)");
		$holder = $next;
	}
	for my $i (0, 1)
	{
		my $result = $runners[$i]->read_until_ready;

		is("@{ $result->{errors} }", $command->{fails} ? '23505' : '', "$what: @{ $targets[$i] }");
	}
	$trial->go_on($what);
	$trial->rows_are_there($what);
	$trial->sql(map { fill($command->{undo}, $_) } @targets);
}

for my $command (@commands)
{
	for my $letter (split //, $command->{on})
	{
		for (targets($letter))
		{
			my $what = (fill($command->{sql}, $_->[0]))[0];

			try_command($command, $what, @$_);
		}
	}
}

$trial->sql('CALL zbxhist.run_maintenance()');
$trial->rows_are_there('after maintenance');
log_is_clean($node);
$node->stop;
done_testing();
