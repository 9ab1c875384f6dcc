# scripts/test and scripts/quickstart leave nothing behind when they are interrupted.  Two
# of them do not disturb each other.  For a failed test the name, the reason and the logs
# remain.
#
#     prove test/scripts/runs.pl [:: VERSION]
#
# Run it in a clean tree, in which nothing was compiled; as root on Debian, or with all
# packages installed.
use strict;
use warnings;

use Cwd ();
use File::Temp ();
use FindBin;
use POSIX ();
use Test::More;
use Time::HiRes ();

my $SCRIPTS = Cwd::abs_path("$FindBin::RealBin/../../scripts");
my @VERSION = @ARGV ? ('--pg', $ARGV[0]) : ();
my $QUICKSTART = '/var/tmp/zbxhist-quickstart' . ($> ? "-$>" : '');

# the directories of the runs that this test starts
my $base = File::Temp::tempdir('zbxhist-runs.XXXXXX', DIR => '/var/tmp', CLEANUP => 1);
chmod 0755, $base;
$ENV{ZBXHIST_TEST_BASE} = $base;

# ---- runs ----

# Starts a script in a process group of its own, as a terminal does; returns its process and
# the file with its output.
sub start
{
	my ($script, @arguments) = @_;
	my ($handle, $file) = File::Temp::tempfile(DIR => $base, UNLINK => 1);
	my $pid = fork() // die "fork: $!";

	return { pid => $pid, file => $file } if $pid;
	setpgrp(0, 0);
	$SIG{$_} = 'DEFAULT' for qw(INT TERM HUP);
	open(STDIN, '<', '/dev/null') or POSIX::_exit(9);
	open(STDOUT, '>', $file) or POSIX::_exit(9);
	open(STDERR, '>&', \*STDOUT) or POSIX::_exit(9);
	{ exec "$SCRIPTS/$script", @arguments }
	POSIX::_exit(9);
}

# Its output.
sub output
{
	my ($run) = @_;

	open(my $handle, '<', $run->{file}) or die "$run->{file}: $!";
	local $/;
	return scalar <$handle>;
}

# Waits for its end; returns its exit code, over 128 for a signal.
sub finish
{
	my ($run) = @_;

	waitpid($run->{pid}, 0);
	return $? & 127 ? 128 + ($? & 127) : $? >> 8;
}

# Waits for something; false if the run ends before.
sub wait_for
{
	my ($run, $condition) = @_;

	until ($condition->())
	{
		return 0 if waitpid($run->{pid}, POSIX::WNOHANG()) != 0;
		Time::HiRes::sleep(0.05);
	}
	return 1;
}

# ---- what is there ----

# The directories of runs of scripts/test.
sub places { return glob("$base/zbxhist-test.*"); }

# The servers whose data are below a directory.
sub servers
{
	my ($directory) = @_;

	return
	  grep { (readlink("$_/exe") // '') =~ m{^\Q$directory\E/.*/postgres$} } glob('/proc/[0-9]*');
}

# All processes that work below a directory.
sub processes
{
	my ($directory) = @_;

	return grep {
		my $process = $_;
		grep { (readlink("$process/$_") // '') =~ m{^\Q$directory\E/} } qw(exe cwd)
	} glob('/proc/[0-9]*');
}

# The files that keep packages from starting services during their installation.
sub held
{
	return grep { -e } '/usr/sbin/policy-rc.d',
	  '/etc/postgresql-common/createcluster.d/zbxhist.conf';
}

my $held = join ' ', held();

# ---- scripts/test ----

# Interrupts it, by a signal to its process group or to the script alone.
for ([ 'Ctrl-C', 'INT', 130, -1 ], [ 'kill', 'TERM', 143, 1 ])
{
	my ($name, $signal, $code, $whom) = @$_;
	my $run = start('test', @VERSION, qw(build regress isolation));

	ok( wait_for(
			$run,
			sub {
				3 == (my @logs = glob("$base/zbxhist-test.*/logs/{isolation,regress}*.log"));
			}),
		"$name: servers run") or diag(output($run));
	kill $signal, $whom * $run->{pid};
	is(finish($run), $code, "$name: the exit code says so");
	is(join(' ', processes($base)), '', "$name: no process is left");
	is(join(' ', places()), '', "$name: ... and no directory");
	is(join(' ', held()), $held, "$name: ... nor what held services back");
}

# Two at once; the second has a test that fails.
{
	my $directory = File::Temp::tempdir('failing.XXXXXX', DIR => $base, CLEANUP => 1);
	chmod 0755, $directory;
	open(my $test, '>', "$directory/900_failing.pl") or die $!;
	print $test <<'PERL';
use PostgreSQL::Test::Cluster;
use Test::More;
my $node = PostgreSQL::Test::Cluster->new('failing');
$node->init;
$node->start;
is($node->safe_psql('postgres', 'SELECT 1'), 2, 'one is two');
done_testing();
PERL
	close($test);

	my $first = start('test', @VERSION, qw(build pgtap));
	my $second = do
	{
		local $ENV{PROVE_TESTS} = "$directory/900_failing.pl";
		start('test', @VERSION, qw(build tap));
	};

	is(finish($first), 0, 'two at once: one passes') or diag(output($first));
	is(finish($second), 1, 'a failed test: the exit code says so');
	my $output = output($second);
	like($output, qr/^1 passed, 1 failed$/m, '... and the last line');
	like($output, qr/failed: tap \d+: 900_failing.pl: one is two/, '... its name is printed');
	like($output, qr/got: '1'.*expected: '2'/s, '... and the reason');
	like($output, qr/^   logs: (\S+)$/m, '... and where the logs are');
	my ($logs) = $output =~ /^   logs: (\S+)$/m;
	ok(glob("$logs/tap-*/900_failing_failing.log"), '... its server\'s among them');
	is(join(' ', map { s{.*/}{}r } glob("$logs/../*")), 'logs', '... and nothing else');
	is(join(' ', processes($base)), '', 'no process is left');
}

# Rounds of one suite beside others.  The result of a round may be printed while the next
# one runs; each keeps its own differences.
{
	my $place = File::Temp::tempdir('rounds.XXXXXX', DIR => $base, CLEANUP => 1);
	open(my $script, '>', "$place/rounds") or die $!;
	print $script <<'BASH';
set -euo pipefail
. "$1/lib.sh"
. "$1/results.sh"
PLACE=$2 CURRENT=1
mkdir -p "$PLACE/logs" "$PLACE/pg1/source/output_iso"
round() {
	echo "differences of round $1" >"$PLACE/pg1/source/output_iso/regression.diffs"
	echo "not ok 1 - it"
	return 1
}
rounds() {
	run_suite "isolation 1 #1" round 1
	run_suite "isolation 1 #2" round 2
}
begin_lane isolation rounds
# bash forgets the lane's process, as it does when another one gets its id
wait
end_lane isolation
BASH
	close($script);
	my $output = qx(bash '$place/rounds' '$SCRIPTS' '$place');

	like(
		$output,
		qr/^differences of round $_\n-------- end of isolation 1 #$_$/m,
		"round $_: its differences are kept") for 1, 2;
	unlike($output, qr/ended early/, '... and the lane has ended well');
}

# The size of packages is asked for by an apt-get call that must not install them: with
# packages named, apt-get asks nobody.
{
	my $place = File::Temp::tempdir('apt.XXXXXX', DIR => $base, CLEANUP => 1);
	open(my $program, '>', "$place/apt-get") or die $!;
	print $program <<"BASH";
#!/bin/bash
case " \$* " in *' --print-uris '*) ;; *) touch "$place/installed" ;; esac
echo '0 upgraded, 2 newly installed, 0 to remove and 0 not upgraded.'
echo 'Need to get 53.1 kB of archives.'
echo 'After this operation, 284 kB of additional disk space will be used.'
BASH
	close($program);
	chmod 0755, "$place/apt-get";
	like(
		scalar qx(bash -c '. "$SCRIPTS/lib.sh"; PATH="$place:\$PATH"; say_size hello'),
		qr/^   2 packages, 53\.1 kB to download, 284 kB of disk space, for:\n +hello$/m,
		'what packages take');
	ok(!-e "$place/installed", '... none is installed');
}

# ---- scripts/quickstart ----

SKIP:
{
	skip 'there is a quickstart already', 8 if -e $QUICKSTART;
	my $run = start('quickstart', @VERSION);

	ok(wait_for($run, sub { output($run) =~ /history syncer/ }), 'quickstart: it is at work')
	  or diag(output($run));
	my $other = start('quickstart', @VERSION);
	is(finish($other), 1, 'quickstart: another one is refused');
	like(output($other), qr/another scripts\/quickstart is at work/, '... and told so');
	my $stop = start('quickstart', '--stop');
	is(finish($stop), 1, '... as is its end by another');
	ok(servers($QUICKSTART), '... the first goes on');
	kill 'INT', -$run->{pid};
	is(finish($run), 130, 'quickstart: Ctrl-C');
	is(join(' ', processes($QUICKSTART)), '', '... leaves no process');
	ok(!-e $QUICKSTART, '... and no directory');
}

done_testing();
