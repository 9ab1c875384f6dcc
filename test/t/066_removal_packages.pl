# What the Debian packages, and scripts/uninstall, do before they remove files:
# they refuse while a database needs the library, and say which, and what to
# do.  debian/tests/removal does the same with real packages.
use strict;
use warnings;

use File::Path ();
use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $top = "$FindBin::RealBin/../..";
my $directory = PostgreSQL::Test::Utils::tempdir();
my $odd = q{od"d 'name $x};
my $node = test_server('removal');

# ---- a Debian with one cluster ----

my $psql = $node->config_data('--bindir') . '/psql';
make_program($directory, 'pg_lsclusters',
	"echo 99 main ${\ $node->port} \$(cat $directory/status) postgres /data /log");

# runuser -u USER -- COMMAND, and psql --cluster VERSION/NAME
make_program($directory, 'runuser', 'shift 3; exec "$@"');
make_program($directory, 'psql',
	qq{[ "\$1 \$2" = "--cluster 99/main" ] || exit 9; shift 2; exec "$psql" "\$@"});

# as debian/rules makes it
my $users = slurp_file("$top/scripts/users.sh");
my $prerm = slurp_file("$top/debian/prerm.in") =~ s/PGVERSION/99/gr;
$prerm =~ s/^#USERS#$/$users/m or die 'no place for the users';
make_program($directory, 'prerm', $prerm =~ s/^#!.*\n//r);

# What it does to the action: exit code and errors.
sub before
{
	my ($action, %environment) = @_;
	my ($out, $err) = ('', '');

	local %ENV = (
		%ENV, %environment,
		PATH => "$directory:$ENV{PATH}",
		PGHOST => $node->host,
		PGPORT => $node->port);
	IPC::Run::run([ "$directory/prerm", $action ], '>', \$out, '2>', \$err);
	return ($? >> 8) . " $out$err";
}

sub set_status
{
	my ($status) = @_;

	unlink "$directory/status";
	append_to_file("$directory/status", $status);
}

# ---- removal ----

set_status('online');
is(before('remove'), '0 ', 'nobody uses it: it may go');

$node->safe_psql('postgres', 'CREATE DATABASE ' . q{"od""d 'name $x"});
$node->safe_psql($odd, 'CREATE EXTENSION zbxhist');
my $refused = before('remove');
like(
	$refused,
	qr/^1 zbxhist is in use, or may be:\n   99\/main: extension zbxhist in database \Q$odd\E\n/,
	'refused while a database has the extension');
like($refused, qr/CALL zbxhist\.undo.*DROP EXTENSION zbxhist CASCADE;/s, '... and says what to do');
like($refused, qr/ZBXHIST_REMOVE_IN_USE=1/, '... or to do nevertheless');
is(before('remove', ZBXHIST_REMOVE_IN_USE => 1), '0 ', '... which works');
is(before($_), '0 ', "$_ is not refused") for 'upgrade', 'failed-upgrade';
$node->safe_psql($odd, 'DROP EXTENSION zbxhist');
is(before('remove'), '0 ', 'nobody uses it any more');

my @uses = (
	[
		'ALTER DATABASE "od""d \'name $x" SET session_preload_libraries = \'zbxhist\'',
		"session_preload_libraries of database $odd"
	],
	[
		'CREATE ROLE preloading; ALTER ROLE preloading SET session_preload_libraries = \'auto_explain, zbxhist\'',
		'session_preload_libraries of role preloading'
	],
	[
		'CREATE ROLE twofold; ALTER ROLE twofold IN DATABASE postgres SET local_preload_libraries = \'zbxhist\'',
		'local_preload_libraries of role twofold in database postgres'
	]);

for my $use (@uses)
{
	my ($sql, $told) = @$use;

	$node->safe_psql('postgres', $sql);
	like(before('remove'), qr/^1 .*^   99\/main: \Q$told\E$/ms, "refused: $told");
	$node->safe_psql('postgres', $1) if ($sql =~ s/ SET (\w+) = .*/ RESET $1/r) =~ /(ALTER .*)/;
	is(before('remove'), '0 ', '... no more');
}

# what cannot be asked may use it
set_status('down');
like(
	before('remove'),
	qr/^1 .*99\/main: it does not run, so nobody knows/s,
	'refused while the cluster does not run');
set_status('online,recovery');
is(before('remove'), '0 ', 'a standby is asked as well');
$node->stop;
set_status('online');
like(
	before('remove'),
	qr/^1 .*99\/main: its databases could not be listed/s,
	'refused where nobody answers');

# ---- scripts/uninstall ----

my $installations = "$directory/installations";
make_program($directory, 'id', 'echo 0');
mkdir "$directory/scripts";
append_to_file("$directory/scripts/$_", slurp_file("$top/scripts/$_")) for qw(lib.sh users.sh);
append_to_file("$directory/scripts/uninstall",
	slurp_file("$top/scripts/uninstall") =~
	  s{^readonly INSTALLATIONS=.*$}{readonly INSTALLATIONS=$installations}mr);

# Exit code, output and errors.
sub uninstall
{
	my ($out, $err) = ('', '');

	local %ENV = (%ENV, PATH => "$directory:$ENV{PATH}");
	IPC::Run::run([ 'bash', "$directory/scripts/uninstall", @_ ], '>', \$out, '2>', \$err);
	return (($? >> 8) . " $out$err");
}

# PostgreSQL of that version, with zbxhist.
sub make_installation
{
	my ($version) = @_;

	File::Path::make_path(map { "$installations/$version/$_" } qw(bin lib share/extension));
	append_to_file("$installations/$version/bin/pg_config",
		"#!/bin/sh\ncase \$1 in --pkglibdir) echo $installations/$version/lib ;; *) echo $installations/$version/share ;; esac\n"
	);
	chmod 0755, "$installations/$version/bin/pg_config";
	append_to_file("$installations/$version/$_", '')
	  for qw(lib/zbxhist.so share/extension/zbxhist.control share/extension/other.control);
}

like(uninstall(), qr/^1 .*has zbxhist$/ms, 'uninstall: nothing is there');
make_installation($_) for 16, 17;
like(
	uninstall(),
	qr/^1 .*several versions of PostgreSQL have zbxhist: 16 17\n   choose one with --version$/ms,
	'... several versions have it');
like(uninstall('--version', '16'), qr/^0 /, '... one of them is said');
like(uninstall(), qr/^0 .*^   PostgreSQL 17$/ms, '... the other is found');
is( join(
		' ', sort map { s{^\Q$installations/}{}r } glob "$installations/*/{lib,share/extension}/*"),
	'16/share/extension/other.control 17/share/extension/other.control',
	'... and only its files are gone');

done_testing();
