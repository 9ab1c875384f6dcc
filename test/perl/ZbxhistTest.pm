# ZbxhistTest - what the TAP tests of zbxhist share: servers, the tables of
# Zabbix, statements such as Zabbix sends, and comparisons.
#
# Days are counted from today: day(0) is the first clock of the current UTC day, day(-1)
# that of yesterday.  A test that begins just before midnight waits for the new day, see
# test_server().
package ZbxhistTest;

use strict;
use warnings;

use Exporter 'import';
use File::Basename qw(dirname);
use File::Temp ();
use IO::Handle;
use IPC::Run ();
use PgWire;
use POSIX ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes ();

# the same encoding on every machine
delete $ENV{LC_CTYPE};
$ENV{LANG} = 'C.UTF-8';

our @EXPORT = qw(
  $search_path test_server without_checksums create_database create_zabbix_tables set_up day date partition
  value_rows insert_values psql_script sql_as messages_as start_psql wait_for_end has_extension
  is_same totals rows_of maintain server_processes kill_server
  start_after_crash log_is_clean any in_background rounds_after outcome_of
  make_program add_archive_server create_packed_history upgrade_server
);

# tests name partitions without their schema
our $search_path = '"$user", public, zbxhist_partitions';

my $SECONDS_A_DAY = 86400;
my $today;

# ---- servers and databases ----

# Starts a server.  %settings go to postgresql.conf.  Those beginning with "-" go to init(),
# except -install_path, the directory of another PostgreSQL.
sub test_server
{
	my ($name, %settings) = @_;
	my $path = delete $settings{-install_path};
	my $node = PostgreSQL::Test::Cluster->new($name, defined $path ? (install_path => $path) : ());
	my %init = map { substr($_, 1) => delete $settings{$_} } grep { /^-/ } keys %settings;

	avoid_midnight();
	$node->init(%init);
	%settings = (
		log_statement => 'none',
		log_line_prefix => '%m [%p] %e %q%a ',
		shared_buffers => '32MB',
		max_connections => '50',
		search_path => $search_path,
		timezone => 'Asia/Kathmandu',
		%settings);
	$node->append_conf('postgresql.conf', "$_ = '$settings{$_}'") for sort keys %settings;
	$node->start;
	return $node;
}

# Settings of test_server() with which damaged pages are read, not only detected: PostgreSQL
# 18 has checksums by default.
sub without_checksums
{
	return
	  system('initdb --help | grep -q no-data-checksums') == 0
	  ? (-extra => ['--no-data-checksums'])
	  : ();
}

# More seconds before midnight than any test takes.
sub avoid_midnight
{
	my $left = $SECONDS_A_DAY - time() % $SECONDS_A_DAY;

	sleep $left + 1 if $left < 240 && !defined $today;
	$today //= time() - time() % $SECONDS_A_DAY;
}

# Makes a database with the extension, owned by the role if one is named.
sub create_database
{
	my ($node, $database, $owner) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $database" . ($owner ? " OWNER $owner" : ''));
	$node->safe_psql($database, as_role($owner) . 'CREATE EXTENSION zbxhist');
	$node->safe_psql($database, 'GRANT ALL ON SCHEMA public TO PUBLIC') if $owner;
}

# Begins a script with this; the role need not be able to log in.
sub as_role
{
	my ($role) = @_;

	return defined $role ? "SET SESSION AUTHORIZATION $role;\n" : '';
}

# The tables of Zabbix 7.0.
sub create_zabbix_tables
{
	my ($node, $database, $owner) = @_;
	my %value = (
		history => 'double precision DEFAULT 0.0000',
		history_uint => 'numeric(20) DEFAULT 0',
		history_str => "varchar(255) DEFAULT ''",
		history_text => "text DEFAULT ''",
		history_bin => "bytea DEFAULT ''");
	my $sql = as_role($owner);

	$sql .=
		"CREATE TABLE $_ (itemid bigint NOT NULL,"
	  . " clock integer DEFAULT 0 NOT NULL, value $value{$_} NOT NULL,"
	  . " ns integer DEFAULT 0 NOT NULL, PRIMARY KEY (itemid, clock, ns));\n"
	  for sort keys %value;
	$sql .=
		"CREATE TABLE history_log (itemid bigint NOT NULL,"
	  . " clock integer DEFAULT 0 NOT NULL,"
	  . " timestamp integer DEFAULT 0 NOT NULL,"
	  . " source varchar(64) DEFAULT '' NOT NULL,"
	  . " severity integer DEFAULT 0 NOT NULL,"
	  . " value text DEFAULT '' NOT NULL,"
	  . " logeventid integer DEFAULT 0 NOT NULL,"
	  . " ns integer DEFAULT 0 NOT NULL, PRIMARY KEY (itemid, clock, ns));\n";
	for ([ 'trends', 'double precision' ], [ 'trends_uint', 'numeric(20)' ])
	{
		my ($table, $type) = @$_;

		$sql .=
			"CREATE TABLE $table (itemid bigint NOT NULL,"
		  . " clock integer DEFAULT 0 NOT NULL,"
		  . " num integer DEFAULT 0 NOT NULL,"
		  . " value_min $type DEFAULT 0 NOT NULL,"
		  . " value_avg $type DEFAULT 0 NOT NULL,"
		  . " value_max $type DEFAULT 0 NOT NULL,"
		  . " PRIMARY KEY (itemid, clock));\n";
	}
	$node->safe_psql($database, $sql);
}

# Makes tables with policies: partitions of days, 30 days of retention.  Yesterday has a
# partition.  Sessions load the library as late as possible.
sub set_up
{
	my ($node, $database, $owner) = @_;

	create_zabbix_tables($node, $database, $owner);
	$node->safe_psql($database,
			as_role($owner)
		  . "SELECT * FROM zbxhist.setup('public', '30 days', '1 year', history_interval => '1 day');"
		  . "SELECT zbxhist.create_partition(t, '${\ date(-1)}')"
		  . " FROM unnest('{history,history_uint}'::regclass[]) t");
	$node->safe_psql($database, qq{ALTER DATABASE "$database" RESET session_preload_libraries});
}

# Is this contributed module or extension installed?
sub has_extension
{
	my ($node, $name) = @_;

	return $node->safe_psql('postgres',
		"SELECT count(*) FROM pg_available_extensions WHERE name = '$name'");
}

# Starts a server for archived days with the database "cold", and makes what a database of
# $node needs to use it under that name.
sub add_archive_server
{
	my ($node, $database, $name, %settings) = @_;
	my $cold = test_server($name, autovacuum => 'off', %settings);

	$cold->safe_psql('postgres', 'CREATE DATABASE cold');
	$cold->safe_psql('cold', slurp_file(dirname(__FILE__) . '/../../dist/archive/archive.sql'));
	$node->safe_psql(
		$database, qq{
		CREATE EXTENSION IF NOT EXISTS postgres_fdw;
		CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw
			OPTIONS (host '${\ $cold->host}', port '${\ $cold->port}', dbname 'cold', connect_timeout '2');
		CREATE USER MAPPING FOR CURRENT_USER SERVER $name;
	});
	return $cold;
}

# Makes packed days of history, the given numbers of days ago, a plain table with the same
# rows, and the view "difference" of rows that only one of them has.  The rows are selected
# as "i, :from + ...", where :from is the first clock of a day.
sub create_packed_history
{
	my ($node, $database, $rows, @days) = @_;

	$node->safe_psql(
		$database, q{
		CREATE TABLE plain (LIKE history INCLUDING ALL);
		CREATE VIEW difference AS
			(SELECT 'lost', * FROM plain EXCEPT ALL SELECT 'lost', * FROM history)
			UNION ALL (SELECT 'new', * FROM history EXCEPT ALL SELECT 'new', * FROM plain);
		SELECT zbxhist.create_parent('history', '1 day', retention => '200 years', pack_after => '1 day');
	});
	for my $ago (@days)
	{
		my $from = day(-$ago);
		my $selected = $rows =~ s/:from/$from/r;

		$node->safe_psql(
			$database, qq{
			SELECT zbxhist.create_partition('history', '${\ date(-$ago)}');
			INSERT INTO history SELECT $selected;
			CALL zbxhist.pack('history', '${\ date(-$ago)}');
		});
	}
	$node->safe_psql($database, 'INSERT INTO plain SELECT * FROM history');
	return;
}

# Upgrades a stopped server to a new one by pg_upgrade.
sub upgrade_server
{
	my ($old, $new, @options) = @_;

	chdir ${PostgreSQL::Test::Utils::tmp_check};
	command_ok(
		[
			#<<<
			'pg_upgrade', '--no-sync', @options,
			'-d', $old->data_dir,
			'-D', $new->data_dir,
			'-b', $old->config_data('--bindir'),
			'-B', $new->config_data('--bindir'),
			'-s', $new->host,
			'-p', $old->port,
			'-P', $new->port
			#>>>
		],
		'pg_upgrade from ' . $old->pg_version . ' to ' . $new->pg_version . " (@options)");
	return;
}

# Runs maintenance of all tables.
sub maintain
{
	my ($node, $database, $owner) = @_;

	return $node->safe_psql($database, as_role($owner) . 'CALL zbxhist.run_maintenance()');
}

# ---- days and values ----

# The first clock of a day.
sub day
{
	my ($offset) = @_;

	avoid_midnight() unless defined $today;
	return $today + $offset * $SECONDS_A_DAY;
}

# The day as an SQL literal.  Not current_date, which depends on the server's time zone.
sub date
{
	my ($offset) = @_;

	return POSIX::strftime('%Y-%m-%d', gmtime(day($offset)));
}

# The name of a day's partition.
sub partition
{
	my ($parent, $offset) = @_;

	return $parent . '_p' . (date($offset) =~ tr/-//dr);
}

# The VALUES of some items at one time: "(itemid,clock,ns,value),...".  Every third item's
# value is of the day before.
sub value_rows
{
	my ($first, $count, $clock) = @_;

	return join(
		',',
		map {
			sprintf(
				'(%d,%d,%d,%.17G)',
				$_,
				$_ % 3 ? $clock : $clock - $SECONDS_A_DAY,
				($_ * 7919) % 1000000000,
				$_ / 8)
		} $first .. $first + $count - 1);
}

# A statement such as Zabbix sends.
sub insert_values
{
	my ($table, $first, $count, $clock) = @_;

	return
	  "insert into $table (itemid,clock,ns,value) values "
	  . value_rows($first, $count, $clock) . ";\n";
}

# ---- psql ----

# Runs a script that may fail in one psql session, from standard input, with command tags.
# Returns exit code, output and messages.
sub psql_script
{
	my ($node, $database, $script, @options) = @_;
	my ($out, $err) = ('', '');
	my @command = (
		$node->installed_command('psql'),
		'-XAt', '-d', $node->connstr($database),
		@options, '-f', '-');

	local $ENV{PGOPTIONS} = $ENV{PGOPTIONS} // '';
	IPC::Run::run(\@command, '<', \$script, '>', \$out, '2>', \$err);
	my $code = $? >> 8;
	$out =~ s/\n\z//;
	return ($code, $out, $err);
}

# The result of a statement that a role runs.
sub sql_as
{
	my ($node, $database, $role, $statement) = @_;

	return $node->safe_psql($database, "SET SESSION AUTHORIZATION $role; $statement");
}

# The messages of a statement that may fail.
sub messages_as
{
	my ($node, $database, $role, $statement) = @_;
	my (undef, undef, $messages) =
	  psql_script($node, $database, "SET SESSION AUTHORIZATION $role;\n$statement;\n");

	return $messages;
}

# Starts a process that calls the code with a handle; the code prints SQL to it for a psql
# session, whose output goes to the file.  Returns the process.
sub start_psql
{
	my ($node, $database, $file, $code, @options) = @_;
	my @command = (
		$node->installed_command('psql'),
		'-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($database), @options);
	my $pid = fork() // die "fork: $!";

	return $pid if $pid;

	# without the END blocks of the test, which stop its servers
	local $SIG{PIPE} = 'IGNORE';
	open(STDOUT, '>', $file) or POSIX::_exit(9);
	open(STDERR, '>&', \*STDOUT) or POSIX::_exit(9);
	my $psql_pid = open(my $psql, '|-', @command);
	POSIX::_exit(9) unless $psql_pid;
	$psql->autoflush(1);
	eval { $code->($psql) };
	close($psql);
	POSIX::_exit($? >> 8);
}

# Waits for a process of start_psql(); returns its exit code.
sub wait_for_end
{
	my ($pid) = @_;

	waitpid($pid, 0);
	return $? >> 8;
}

# ---- sessions at work ----

sub any { return $_[ int rand @_ ]; }

# Starts a process that runs the code with a client again and again for some seconds, and
# returns the process.  On a slow machine it goes on until enough was done: three rounds, or
# what the last argument says of the counts and rounds.  outcome_of() returns what the code
# has counted, such as SQLSTATEs, and the number of rounds.
sub in_background
{
	my ($node, $database, $name, $seconds, $seed, $code, $is_enough) = @_;
	my $pid = fork() // die "fork: $!";

	return $pid if $pid;

	# without the END blocks of the test, which stop its servers
	srand($seed * 100 + length($name) + ord(substr($name, -1)));
	my %counts;
	my $rounds = 0;
	$is_enough //= sub { $_[1] > 2 };
	my $lived = eval {
		my $client = PgWire->new($node, $database);
		my $end = Time::HiRes::time() + $seconds;

		while (Time::HiRes::time() < $end || !$is_enough->(\%counts, $rounds))
		{
			$code->($client, \%counts);
			$rounds++;
		}
		$client->close;
		1;
	};
	$counts{"lost connection: $@"}++ unless $lived;
	append_to_file(outcome_file($node, $name),
		join('', map { "$_ $counts{$_}\n" } sort keys %counts) . "rounds $rounds\n");
	POSIX::_exit(0);
}

# An argument for in_background(): enough is some rounds after the file exists.
sub rounds_after
{
	my ($rounds, $file) = @_;
	my $since;

	return sub {
		$since //= $_[1] if -e $file;
		return defined $since && $_[1] >= $since + $rounds;
	};
}

sub outcome_file
{
	my ($node, $name) = @_;

	return $node->basedir . '/outcome_' . ($name =~ s/ /_/gr);
}

# What a background process has counted, by line, and its rounds.
sub outcome_of
{
	my ($node, $name) = @_;

	return slurp_file(outcome_file($node, $name));
}

# ---- looking ----

# Number of rows and a sum over everything in them.
sub totals
{
	my ($node, $database, $table) = @_;

	return $node->safe_psql($database,
			"SELECT count(*), coalesce(sum(hashtextextended(t::text, 0)::numeric), 0)"
		  . " FROM $table t");
}

# The number of rows of a table or "ONLY table".
sub rows_of
{
	my ($node, $database, $table) = @_;

	return $node->safe_psql($database, "SELECT count(*) FROM $table");
}

# Tests that a query has the same answer on both servers.
sub is_same
{
	my ($left, $right, $database, $query, $name) = @_;

	is($right->safe_psql($database, $query), $left->safe_psql($database, $query), $name);
}

# Tests that the log has no leak, crash or other unexpected line, except those that match.
sub log_is_clean
{
	my ($node, $name, $expected) = @_;
	my $log = slurp_file($node->logfile);
	my @trouble = grep { !defined $expected || !/$expected/ } grep {
		/ leak|PANIC:|TRAP:|\] XX\d\d\d |terminated by signal|still (?:open|referenced|pinned)/
	} split(/\n/, $log);

	is(join("\n", @trouble), '', $name // 'nothing unusual in the log');
}

# ---- crashes ----

# The postmaster and all processes below it.
sub server_processes
{
	my ($node) = @_;
	my $postmaster = (split /\n/, slurp_file($node->data_dir . '/postmaster.pid'))[0];
	my @processes = ($postmaster);

	for my $file (glob '/proc/[0-9]*/stat')
	{
		open(my $stat, '<', $file) or next;
		my $line = <$stat> // '';
		push @processes, $1 if $line =~ /^(\d+) \(.*\) \S+ $postmaster /;
	}
	return @processes;
}

# Kills all processes of a server by SIGKILL, as the kernel does when memory is out.
sub kill_server
{
	my ($node) = @_;
	my @processes = server_processes($node);

	kill 'KILL', shift @processes;
	kill 'KILL', @processes;

	# processes that were started meanwhile end by themselves
}

# Starts the server again when its last former process is gone.
sub start_after_crash
{
	my ($node) = @_;

	for (1 .. 50)
	{
		# a start may fail because it has read the former process from the pid file
		$node->{_pid} = undef;
		return if $node->start(fail_ok => 1);
		Time::HiRes::sleep(0.1);
	}
	die 'the server does not start';
}

# Writes a shell script into a directory that a test puts first in PATH.
sub make_program
{
	my ($directory, $name, $text) = @_;

	append_to_file("$directory/$name", "#!/bin/sh\n$text\n");
	chmod 0755, "$directory/$name";
}

1;
