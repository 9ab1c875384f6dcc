# Managed tables answer as plain ones do: 20,000 generated statements, and 300 schedules of
# several sessions, the same ones in each run, beside maintenance; see docs/testing.md.
#
# ZBXHIST_SEED=7 ZBXHIST_STATEMENTS=100000 for others, and more, of them.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $statements = $ENV{ZBXHIST_STATEMENTS} // 20000;
my $schedules = int($statements / 66);
my $node = test_server('twin', autovacuum => 'off');
my @archive = has_extension($node, 'postgres_fdw') ? ('archive') : ();

local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port, PGUSER => (getpwuid($>))[0]);
my ($out, $err) = run_command(
	[
		"$FindBin::RealBin/../twin/run",
		'--seed' => $ENV{ZBXHIST_SEED} // 1,
		'--statements' => $statements,
		'--schedules' => $schedules
	]);
like($out, qr/^\d+ $_ in \d+ s, 0 differences$/m, "no $_ differ")
  or diag($out, $err)
  for qw(statements schedules);

# how often there was what
my %seen = $out =~ /^(\S.*): (\d+)$/mg;
ok($seen{"plan $_"}, "plans with $_ were among the statements")
  for 'Foreign Scan', map { "Zbxhist$_" } qw(Aggregate Insert Item ItemRows Keys);
ok($seen{"upkeep $_ done"}, "... and $_")
  for @archive, (map { "un$_" } @archive), qw(compact drop_day pack repack run_maintenance unpack);
ok($seen{$_}, "... and SQLSTATE $_") for qw(22003 23505 25P02);
ok($seen{"$_ waited"}, "$_ waited in some schedules") for qw(delete insert update upkeep);
ok($seen{"$_ done"}, "... and $_ was done") for @archive, 'drop_day';

log_is_clean($node);

done_testing();
