# Databases, schemas, tables and roles with quotes, spaces and capitals: every
# command that is printed for an administrator works as it is printed.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use JSON::PP ();
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $directory = PostgreSQL::Test::Utils::tempdir();
my $scripts = "$FindBin::RealBin/../../scripts";
my $database = q{we "ird' 5% $db};
my $schema = q{"Od""d S'chema"};
my $role = q{"O'dd ""Role"};
my $other = qq{$schema."we ird ""T'"};
my $node = test_server('odd');

# A name as an SQL identifier.
sub identifier { return '"' . ($_[0] =~ s/"/""/gr) . '"'; }

# SQL in the odd database.
sub ask { return $node->safe_psql($database, $_[0]); }

# A command as it is printed, for psql or a shell; its output, and the exit code is tested.
sub run_printed
{
	my ($command, $name) = @_;
	my ($code, $out, $err) = (0, '', '');

	if ($command =~ /^[A-Z]{4,} /)
	{
		($code, $out, $err) = psql_script($node, $database, $command, '-v', 'ON_ERROR_STOP=1');
	}
	else
	{
		IPC::Run::run([ 'sh', '-c', "cd '$directory' && $command" ], '>', \$out, '2>', \$err);
		$code = $? >> 8;
	}
	is($code, 0, "$name: $command") or diag($err);
	return $out;
}

# A script with arguments: exit code, output, errors.
sub run_script
{
	my ($out, $err) = ('', '');

	IPC::Run::run([ "$scripts/" . shift, @_ ], '>', \$out, '2>', \$err);
	return ($? >> 8, $out, $err);
}

local $ENV{PGHOST} = $node->host;
local $ENV{PGPORT} = $node->port;
local $ENV{PATH} = $node->config_data('--bindir') . ":$ENV{PATH}";

# ---- tables ----

$node->safe_psql('postgres',
	"CREATE ROLE $role LOGIN; CREATE DATABASE " . identifier($database) . " OWNER $role");
my $columns =
  'itemid bigint NOT NULL, clock integer DEFAULT 0 NOT NULL, value float8 DEFAULT 0 NOT NULL, ns integer DEFAULT 0 NOT NULL, PRIMARY KEY (itemid, clock, ns)';
ask(<<"SQL");
SET SESSION AUTHORIZATION $role;
CREATE EXTENSION zbxhist;
CREATE SCHEMA $schema;
CREATE TABLE $schema.history ($columns);
CREATE TABLE $schema.history_uint ($columns);
CREATE TABLE $schema.items (itemid bigint PRIMARY KEY, hostid bigint, key_ text, name text);
CREATE TABLE $schema.hosts (hostid bigint PRIMARY KEY, host text, name text);
INSERT INTO $schema.items VALUES (1, 2, 'key', 'item');
INSERT INTO $schema.hosts VALUES (2, 'host', '');
CREATE TABLE $other ($columns);
SQL
is( ask("SET SESSION AUTHORIZATION $role; SELECT string_agg(action, ',' ORDER BY action) FROM zbxhist.setup('"
		  . ($schema =~ s/^"|"$//gr =~ s/""/"/gr =~ s/'/''/gr)
		  . "', '30 days', history_interval => '1 day')") =~ /create_parent,create_parent/,
	1,
	'setup of the odd schema');
my $literal = $other =~ s/'/''/gr;
my $history = "$schema.history" =~ s/'/''/gr;
ask(<<"SQL");
SET SESSION AUTHORIZATION $role;
SELECT zbxhist.create_parent('$literal', '1 day');
SELECT zbxhist.create_partition(t, '${\ date(-2)}'), zbxhist.create_partition(t, '${\ date(-1)}') FROM unnest('{}'::regclass[] || '$literal'::regclass || '$history'::regclass) t;
INSERT INTO $other SELECT i, ${\ day(-2)} + i, i, 0 FROM generate_series(1, 500) i;
INSERT INTO $schema.history SELECT i, ${\ day(-2)} + i, i, 0 FROM generate_series(1, 500) i;
INSERT INTO $schema.history SELECT i, ${\ day(-1)} + i, i, 0 FROM generate_series(1, 100) i;
SQL
my $owner = "SET SESSION AUTHORIZATION $role;";
ask("$owner CALL zbxhist.pack('$_', '${\ date(-2)}')") for $literal, $history;

is( ask("$owner SELECT host, item, item_key FROM zbxhist.item_usage('$history') WHERE itemid = 1"),
	'host|item|key', 'items of the odd schema have names');

# ---- check() ----

ask(<<"SQL");
$owner
ALTER TABLE $other DISABLE TRIGGER zzz_zbxhist_route;
CREATE RULE "do ""nothing'" AS ON DELETE TO $schema.history_uint DO ALSO NOTHING;
ALTER TABLE $other ENABLE ROW LEVEL SECURITY;
SELECT zbxhist.alter_parent('$history', deleted_items => 'drop');
CREATE INDEX "in ""d'ex" ON zbxhist_partitions.${\ partition('history', -1)} (value);
ALTER TABLE zbxhist_partitions.${\ partition('history', -1)} ADD CONSTRAINT "a ""b'" CHECK (value >= 0);
CREATE TABLE $schema."ch ""i'ld" () INHERITS ($schema.history);
CREATE FUNCTION zbxhist."f ""g'"() RETURNS void LANGUAGE sql AS '';
CREATE TABLE zbxhist_packed."lo ""st'" (a integer);
SQL
$node->safe_psql('postgres',
	'ALTER DATABASE ' . identifier($database) . ' RESET session_preload_libraries');
my %seen;
for (1 .. 3)
{
	my $found = JSON::PP->new->utf8->decode(
		ask('SELECT coalesce(jsonb_agg(c), \'[]\') FROM zbxhist.check() c'));

	for my $finding (@$found)
	{
		next if ($finding->{hint} // '') eq '' || $seen{ $finding->{hint} }++;
		run_printed($finding->{hint}, $finding->{code});
	}
	ask('CALL zbxhist.run_maintenance()');
}
my $codes = ask("SELECT string_agg(DISTINCT code, ' ' ORDER BY code) FROM zbxhist.check()");
is($codes, 'partial_dump', 'nothing is left to be told but of dumps');
cmp_ok(scalar keys %seen, '>', 7, scalar(keys %seen) . ' commands were run');

# ---- scripts ----

my ($code, $out, $err) = run_script('report', '--database', $database, '--json');
is("$code $err", '0 ', 'report');
my $report = JSON::PP->new->utf8->decode($out);
is( join(' ', sort map { $_->{table} } @{ $report->{tables} }),
	join(' ', sort $other, "$schema.history", "$schema.history_uint"),
	'... of all tables');
is_deeply($report->{unreadable}, {}, '... everything can be read');
my $place = qq{it's "there" \$HOME};
($code, $out, $err) =
  run_script('report', '--database', $database, '--output', "$directory/$place/r.html");
is($code, 1, 'report to a directory that is none');
run_printed($err =~ /^hint: (.*)$/m, 'report');
($code) = run_script('report', '--database', $database, '--output', "$directory/$place/r.html");
is($code, 0, '... works then');
my $page = slurp_file("$directory/$place/r.html");
like($page, qr/we &quot;ird&#x27; 5% \$db: zbxhist/, '... and has the name');
like((run_script('progress', '--database', $database))[1], qr/^nothing that takes long/,
	'progress');

my $empty = q{no "ext' db};
$node->safe_psql('postgres', 'CREATE DATABASE ' . identifier($empty));
($code, $out, $err) = run_script('report', '--database', $empty);
is($code, 1, 'report without the extension');
run_printed($err =~ /^hint: (.*)$/m, 'report');
($code) = run_script('report', '--database', $empty);
is($code, 0, '... works then');

# what is exported comes into another database
my $file = "$directory/export.sql";
($code, $out, $err) = run_script('export', '--database', $database, $other);
is("$code $err", '0 ', 'export');
append_to_file($file, $out);
$node->safe_psql($empty, "CREATE SCHEMA $schema; CREATE TABLE $other ($columns)");
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $empty, '-f', $file ],
	'... can be brought in');
is(totals($node, $empty, $other), totals($node, $database, $other), '... every row');

# the line for cron, where "\%" is "%", and nothing else is changed
($out) = run_command(
	[
		'bash', '-c',
		q~eval "$(sed -n '/^cron_line/,/^}/p' "$1")"; DATABASE=$2 OWNER= PORT=$3; cron_line~,
		'cron', "$scripts/install", $database, $node->port
	]);
like($out, qr{^\*/15 \* \* \* \* postgres psql }, 'a line for cron');
unlike($out, qr/(?<!\\)%/, '... with each per cent sign quoted');
run_printed(($out =~ /postgres (psql .*)$/)[0] =~ s/\\%/%/gr, 'cron');

# ---- the way out ----

($code, $out, $err) =
  psql_script($node, $database, "DROP SCHEMA $schema CASCADE", '-v', 'ON_ERROR_STOP=1');
isnt($code, 0, 'packed days are not dropped with their schema');
like($err, qr/^HINT:  To keep them, run first: CALL/m, '... but');
run_printed($_, 'drop') for $err =~ /(CALL zbxhist\.undo\(.*?\);)(?= |$)/mg;

my ($advice) = run_command([ 'sh', '-c', ". $scripts/users.sh; zbxhist_advice" ]);
my @advice = $advice =~ /^   (\S.*)$/gm;
is(scalar @advice, 3, 'uninstall says what to do');
run_printed($_, 'uninstall') for @advice;
is(ask("SELECT count(*) FROM $other"), 500, 'every value is there');
is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_db_role_setting'), 0,
	'... and no setting');

log_is_clean($node);
$node->stop;
done_testing();
