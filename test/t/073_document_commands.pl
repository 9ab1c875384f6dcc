# The commands of all documents, and those that scripts/install prints, are
# executed as written and do what they say; if they delete values, the text
# around them says so.  Days in the documents stand for days of the test.
# Commands that other suites run, such as scripts/install, must at least exist.
# Every setting, function and view is in the document that lists them.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use File::Copy ();
use POSIX ();
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $top = "$FindBin::RealBin/../..";
my @documents = map { s{^\Q$top\E/}{}r } map { sort glob "$top/$_" } qw(*.md docs/*.md);
@documents = grep { $_ ne 'CHANGELOG.md' } @documents;
my $node = test_server('documents');
$node->safe_psql('postgres', 'CREATE ROLE zabbix');
my $statement =
  qr/^(?:SELECT|CALL|ALTER|CREATE|DROP|BEGIN|SET|INSERT|UPDATE|DELETE|GRANT|TRUNCATE|ANALYZE|VACUUM|COPY)\b/;

# where files are written
my $scratch = PostgreSQL::Test::Utils::tempdir();

# the documents' 21 November 2026 is today
my $document_day = 1795219200;

# ---- the documents ----

# the disks of a tablespace
my $disks = PostgreSQL::Test::Utils::tempdir();

# Days, partitions and disks of the documents as those of the test.
sub with_days
{
	my ($text) = @_;
	my $moved = sub {
		my ($year, $month, $day, $separator) = @_;
		my $offset = (POSIX::mktime(0, 0, 12, $day, $month - 1, $year - 1900) -
			  POSIX::mktime(0, 0, 12, 21, 10, 126)) / 86400;
		return POSIX::strftime("%Y$separator%m$separator%d",
			gmtime(day(POSIX::floor($offset + 0.5))));
	};

	$text =~ s/\b(2026)-(1[12])-(\d\d)\b/$moved->($1, $2, $3, '-')/ge;
	$text =~ s/(?<=_p)(2026)(1[12])(\d\d)\b/$moved->($1, $2, $3, '')/ge;
	$text =~ s{/srv/cold\b}{$disks}g;
	return $text;
}

# Says whether a line that stands by itself is a command, or a setting, which
# is not run here but is one that exists.
sub is_known_line
{
	my ($line) = @_;

	$line =~ s/\s+#.*//;

	# 072_tool_parquet.pl has what these do
	return 1 if $line =~ m{^(?:python3 -m venv|/opt/parquet/bin/pip install|duckdb -c) };

	# test/deploy runs the Dockerfile's steps, the program and the playbook
	return -x "$top/dist/docker/zbxhist"
	  && slurp_file("$top/dist/docker/zbxhist") =~ /^\t\Q$1\E\) /m
	  if $line =~ /^docker exec \w+ zbxhist ([\w-]+)$/;
	return !grep { !-e "$top/$_" } $line =~ m{\bdist/[\w/.]+}g
	  if $line =~ m{^(?:docker (?:build|compose)|ansible-playbook) .*\bdist/};
	if ($line =~ m{^(?:PYTHON=\S+ )?(scripts/\w+)(?:\s+(--\w+))?})
	{
		my ($script, $option) = ($1, $2);
		return -x "$top/$script"
		  && (!defined $option || slurp_file("$top/$script") =~ /(?<!\S)$option\b/);
	}
	return -e "$top/dist/systemd/$1\@.timer"
	  if $line =~ /^systemctl enable --now ([\w-]+)\@\w+\.timer$/;
	return scalar grep { slurp_file($_) =~ /^NAME = "$1"$/m } glob "$top/bench/zbxbench/*.py"
	  if $line =~ m{^bench/run ([\w-]+)$};
	return $node->safe_psql('postgres',
		"LOAD 'zbxhist'; SELECT count(*) FROM pg_settings WHERE name = '$1'") == 1
	  if $line =~ /^([a-z][\w.]*) = '[^']*'$/;
	return $line =~ /^MALLOC_\w+_ = '\d+'$/;
}

# What is in a document to be run: { sql or shell, around: the paragraph }, in
# order; first what stands by itself, then what is named in a sentence.
sub commands_of
{
	my ($file) = @_;
	my $text = slurp_file("$top/$file");
	my (@blocks, @named, $last);

	for my $paragraph (split /\n\s*\n/, $text =~ s/^```\w*\n.*?^```$/$& =~ s,\n\s*\n,\n,gr/gmser)
	{
		my @inside;

		$last = $paragraph unless $paragraph =~ /\A\s*(?:```|    )/;
		push @blocks, { sql => $1, around => $last }
		  while $paragraph =~ /^\s*```sql\n(.*?)^\s*```/gms;
		$paragraph =~ s/```.*?```//gs;
		for my $line ($paragraph =~ /^ {4,}(\S.*)$/gm)
		{
			if ($line =~ /$statement.*;$/)
			{
				push @blocks, { sql => $line, around => $last };
			}
			elsif ($line =~ m{^(?:\*/\d+ \* \* \* \* \w+ )?((?:psql|pg_dump|scripts/export)\b.*)$})
			{
				push @blocks, { shell => $1, around => $last };
			}
			else { ok(is_known_line($line), "$file: is known: $line") }
		}
		push @named, { sql => $1 =~ s/\s+/ /gr, around => $paragraph }
		  while $paragraph =~ /(?<!`)`([^`]+)`(?!`)/g;
	}

	# a statement that names something, and nothing is left out of it: no shape
	# of a benchmark's table, whose constants are question marks
	@named = grep {
			 $_->{sql} =~ $statement
		  && $_->{sql} !~ /=\?|\x{e2}\x{80}\x{a6}|\.\.\.|NN| TO$/
		  && $_->{sql} =~ /\b(?:history|zbxhist|zabbix|my_values|config)/
	} @named;
	return (\@blocks, \@named);
}

# ---- a Zabbix ----

# Its database, with rows of two months.  None of them reaches the end of a
# period of whole days while the test runs.
sub make_zabbix
{
	my ($database) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $database");
	create_zabbix_tables($node, $database);
	$node->safe_psql($database, <<"SQL");
CREATE TABLE config (configid bigint PRIMARY KEY, hk_history_mode integer NOT NULL, hk_history_global integer NOT NULL,
    hk_history varchar(32) NOT NULL, hk_trends_mode integer NOT NULL, hk_trends_global integer NOT NULL, hk_trends varchar(32) NOT NULL,
    hk_audit_mode integer DEFAULT 1 NOT NULL, hk_audit varchar(32) DEFAULT '31d' NOT NULL);
CREATE TABLE auditlog (auditid varchar(25) PRIMARY KEY, clock integer DEFAULT 0 NOT NULL);
INSERT INTO config VALUES (1, 1, 0, '31d', 1, 0, '365d');
CREATE TABLE my_values (itemid bigint NOT NULL, clock integer NOT NULL, value text, PRIMARY KEY (itemid, clock));
CREATE TABLE history_old (LIKE history);
INSERT INTO history_old (itemid, clock, value, ns) SELECT 99401, extract(epoch FROM now())::integer - 86400 * i - 43200, i, 0 FROM generate_series(8, 60, 4) i;
INSERT INTO history (itemid, clock, value) SELECT 99401, extract(epoch FROM now())::integer - 86400 * i - 43200, i FROM generate_series(8, 60, 4) i;
INSERT INTO history_uint (itemid, clock, value) SELECT 99401, extract(epoch FROM now())::integer - 60 * i, i FROM generate_series(1, 60) i;
SQL
}

# Its history partitioned by hand, with the same rows; those of the last days are left to fill().
sub partition_history
{
	my ($database) = @_;

	$node->safe_psql($database, <<"SQL");
ALTER TABLE history RENAME TO former;
CREATE TABLE history (LIKE former INCLUDING ALL) PARTITION BY RANGE (clock);
CREATE TABLE history_before PARTITION OF history FOR VALUES FROM (MINVALUE) TO (@{[ day(-7) ]});
CREATE TABLE history_new PARTITION OF history FOR VALUES FROM (@{[ day(0) ]}) TO (@{[ day(2) ]});
INSERT INTO history SELECT * FROM former;
DROP TABLE former;
SQL
}

# Rows of the last days, in partitions; those of one day in two.
sub fill
{
	my ($database) = @_;

	$node->safe_psql($database, <<"SQL");
SELECT zbxhist_internal.create_range('history', c, c + 43200) FROM generate_series(@{[ day(-2) ]}, @{[ day(-1) - 1 ]}, 43200) c;
SELECT zbxhist.create_partition('history', (now() AT TIME ZONE 'UTC')::date - i) FROM unnest(ARRAY[1, 3, 4, 5]) i;
INSERT INTO history (itemid, clock, value) SELECT i, @{[ day(0) ]} - 86400 * d + i * 800, i FROM generate_series(1, 100) i, generate_series(1, 5) d;
SQL
}

sub rows_in
{
	my ($database) = @_;
	my @counts = map { "'$_', (SELECT count(*) FROM $_)" }
	  qw(history history_uint history_str history_log history_text history_bin trends trends_uint);

	return $node->safe_psql($database, 'SELECT concat_ws(\' \', ' . join(', ', @counts) . ')');
}

# The database to run a command in, a copy of another: the one that is there, if it
# is of that and no transaction has changed anything since it was made.
my ($copied, $next_transaction) = ('', '');

sub make_copy
{
	my ($template) = @_;
	my $next = 'SELECT pg_snapshot_xmax(pg_current_snapshot())';

	return if $copied eq $template && $node->safe_psql('postgres', $next) eq $next_transaction;
	drop_zabbix();
	$node->safe_psql('postgres', "CREATE DATABASE zabbix TEMPLATE $template");
	$copied = $template;
	$next_transaction = $node->safe_psql('postgres', $next);
}

sub drop_zabbix
{
	$node->safe_psql('postgres', 'DROP DATABASE IF EXISTS zabbix');
	$copied = '';
}

# Runs SQL as it is written; if it asks before it deletes something, agrees.
# Returns how many rows are deleted then.
sub run_sql
{
	my ($database, $sql, $name) = @_;
	my ($code, $out, $err) =
	  psql_script($node, $database,
		with_days($sql) . ($sql =~ /(?:;\s*(?:--.*)?|\\gexec)\s*\z/ ? "\n" : ";\n"),
		'-v', 'ON_ERROR_STOP=1');

	my $agreed = 0;

	my ($call) = $err =~ /^HINT:\s+(SELECT .* accept_deletion => true\);)$/m;

	$call = with_days($sql) =~ s/(zbxhist\.setup\([^()]+)\)/$1, accept_deletion => true)/gr
	  if $err =~ /^HINT: .* repeat the call with accept_deletion => true\.$/m;
	if ($code != 0 && $call)
	{
		$agreed += $1 while $err =~ /about (\d+) rows/g;
		cmp_ok($agreed, '>', 0, "$name: it asks before it deletes");
		($code, $out, $err) = psql_script($node, $database, $call, '-v', 'ON_ERROR_STOP=1');
		maintain($node, $database);
	}
	if ($code != 0 && $sql =~ /DROP EXTENSION/ && $err =~ /^HINT:.*(CALL zbxhist\.undo\(.*?\);)$/m)
	{
		$node->safe_psql($database, $1);
		pass("$name: it is refused while there are packed days");
		($code, $out, $err) = psql_script($node, $database, "$sql;", '-v', 'ON_ERROR_STOP=1');
	}
	is($code, 0, $name) or diag("$sql\n$err");
	return $agreed;
}

# Runs a command of the shell in the way of cron.
sub run_shell
{
	my ($command, $name) = @_;

	local $ENV{PGHOST} = $node->host;
	local $ENV{PGPORT} = $node->port;
	local $ENV{PATH} = $node->config_data('--bindir') . ":$ENV{PATH}";
	$command =~ s{^scripts/}{$top/scripts/};
	is(system('sh', '-c', "cd $scratch; { $command\n} >/dev/null"), 0, $name);
}

# Runs a command and compares the rows before and after it.
sub run_and_look
{
	my ($database, $command, $file) = @_;
	my $label = substr(($command->{sql} // $command->{shell}) =~ s/\s+/ /gr, 0, 70);
	my $before = rows_in($database);
	my $agreed = 0;

	if ($command->{sql})
	{
		$agreed = run_sql($database, $command->{sql}, "$file: $label");
	}
	else { run_shell($command->{shell}, "$file: $label") }
	my $after = rows_in($database);
	if ($agreed)
	{
		is( $after,
			$before =~ s/(?<=^history )(\d+)/$1 - $agreed/er,
			"$file: $label: what it said is deleted, no more");
		return;
	}
	ok($after eq $before || $command->{around} =~ /delet|drop|empt|goes/i,
		"$file: $label: no row is lost, or the text says so")
	  or diag("before: $before\nafter:  $after");
}

# ---- what stands by itself, in order ----

my %commands = map { $_ => [ commands_of($_) ] } @documents;

# a Zabbix that is set up, with packed days, for what begins later
make_zabbix('later');
$node->safe_psql('later', 'CREATE EXTENSION zbxhist; SELECT * FROM zbxhist.setup()');
fill('later');
$node->safe_psql('later',
	'SET zbxhist.maintenance_repack_limit = 0; CALL zbxhist.run_maintenance()');
cmp_ok($node->safe_psql('later', "SELECT count(*) FROM zbxhist.partitions WHERE kind = 'packed'"),
	'>', 2, 'there are packed days');

my %least = (
	'README.md' => 2,
	'docs/from-partitions.md' => 1,
	'UPGRADING.md' => 1,
	'docs/functions.md' => 1,
	'docs/history-old.md' => 1,
	'docs/operations.md' => 4,
	'docs/packed-days.md' => 1,
	'docs/setting-up.md' => 5);
for my $file (@documents)
{
	my $blocks = $commands{$file}[0];

	if ($file =~ m{^docs/i-run-(timescaledb|mysql)\.md$})
	{
		note("$file is left to another test, $1.pl");
		next;
	}
	cmp_ok(scalar @$blocks, '>=', delete $least{$file} // 0, "$file has commands");
	if (grep { ($_->{sql} // '') =~ /CREATE EXTENSION zbxhist;/ } @$blocks)
	{
		drop_zabbix();
		make_zabbix('zabbix');
		partition_history('zabbix') if $file eq 'docs/from-partitions.md';
	}
	elsif (@$blocks) { make_copy('later'); }
	for my $command (@$blocks)
	{
		my $sql = $command->{sql} // '';

		if ($sql =~ /\bcron\./)
		{
			note("left to 030_maintenance_pg_cron.pl: $sql");
			next;
		}
		if (($command->{shell} // '') =~ /configuration\.sql|'CREATE EXTENSION zbxhist'/)
		{
			note("left to 056_dump_restore.pl: $command->{shell}");
			next;
		}
		run_and_look('zabbix', $command, $file);
		next unless $sql =~ /CREATE EXTENSION zbxhist;/;
		fill('zabbix');
		is($node->safe_psql('zabbix', 'SELECT count(*) FROM zbxhist.parents'),
			8, "$file: every table is managed");
	}
}
is_deeply([ keys %least ], [], 'all of these documents are there');

# ---- what is listed ----

$node->safe_psql('later', 'CREATE EXTENSION zbxhist_migrate');

# The names that a query returns, which must be in a document as code.
sub all_are_in
{
	my ($file, $query, $least) = @_;
	my $text = slurp_file("$top/$file");
	my @names = split /\n/, $node->safe_psql('later', "LOAD 'zbxhist'; $query");

	cmp_ok(scalar @names, '>=', $least, "$query");
	is_deeply([ grep { $text !~ /`[^`\n]*\b\Q$_\E\b[^`\n]*`/ } @names ], [], "$file has all");
}

all_are_in('docs/settings.md', "SELECT name FROM pg_settings WHERE name LIKE 'zbxhist.%'", 11);
all_are_in('docs/functions.md', <<'SQL', 25);
SELECT DISTINCT p.proname FROM pg_proc p
 WHERE p.pronamespace = 'zbxhist'::regnamespace AND p.prorettype <> 'trigger'::regtype
SQL
all_are_in('docs/functions.md', <<'SQL', 4);
SELECT relname FROM pg_class WHERE relnamespace = 'zbxhist'::regnamespace AND relkind = 'v'
SQL
my $settings = slurp_file("$top/docs/settings.md");
for my $name (
	split /\n/,
	$node->safe_psql(
		'later',
		"LOAD 'zbxhist'; SELECT name FROM pg_settings WHERE name LIKE 'zbxhist.%' AND vartype = 'bool' AND boot_val = 'on'"
	))
{
	like($settings, qr/^\| `$name` \| on \|/m, "default of $name");
}

# ---- what is named in sentences: each by itself ----

make_zabbix('base');
$node->safe_psql('base',
	"CREATE EXTENSION zbxhist; SELECT * FROM zbxhist.setup(never_pack => true)");
fill('base');
$node->safe_psql('base', "CALL zbxhist.pack('history', '${\ date($_) }')") for -4, -2;
for my $file (@documents)
{
	for my $command (@{ $commands{$file}[1] })
	{
		make_copy('base');
		$node->safe_psql('zabbix', 'CREATE EXTENSION zbxhist_migrate')
		  if ($command->{sql} // '') =~ /DROP EXTENSION zbxhist_migrate/;
		run_and_look('zabbix', $command, $file);
	}
}

# ---- what scripts/quickstart ends with ----

my ($goodbye) = slurp_file("$top/scripts/quickstart") =~ /^say_goodbye\(\) \{(.*?)^\}/ms;
my @looks = $goodbye =~ /^\t\t {3}((?:SELECT|EXPLAIN|CALL|TABLE)\b.*;)$/gm;
cmp_ok(scalar @looks, '>', 5, 'scripts/quickstart says what to look at');
make_copy('base');
for my $sql (@looks)
{
	$sql =~ s/\$\(\(itemid \+ 1\)\)/99402/;
	$sql =~ s/\$itemid/99401/;
	$sql =~ s/\$midnight/day(0)/e;
	run_and_look('zabbix', { sql => $sql, around => '' }, 'quickstart');
}

# ---- what scripts/install prints ----

my $directory = PostgreSQL::Test::Utils::tempdir();
mkdir "$directory/scripts";
File::Copy::copy("$top/scripts/lib.sh", "$directory/scripts/lib.sh");
append_to_file("$directory/scripts/install",
	slurp_file("$top/scripts/install") =~ s/^main "\$@"$//mr);
my $port = $node->port;
for my $installed ('', '1.0')
{
	my $advice =
	  `bash -c '. "$directory/scripts/install"; DATABASE=zabbix OWNER=nobody_here VERSION=15 PORT=$port INSTALLED=$installed; advise'`;
	my @lines = $advice =~ /^ {3}(\S.*)$/gm;

	drop_zabbix();
	make_zabbix('zabbix');
	$node->safe_psql('zabbix', 'CREATE EXTENSION zbxhist') if $installed;
	splice @lines, $installed ? 1 : 3, 0, $1 if $advice =~ /^At any time:  (.*)$/m;
	cmp_ok(scalar @lines, '>', $installed ? 1 : 4, 'scripts/install says what to do');
	for my $line (@lines)
	{
		if ($line =~ m{^\*/\d+ \* \* \* \* \w+ (psql .*)$})
		{
			fill('zabbix');
			run_and_look('zabbix', { shell => $1, around => '' }, 'install');
		}
		elsif ($line =~ $statement)
		{
			run_and_look('zabbix', { sql => $line, around => '' }, 'install');
		}
		elsif ($line =~ m{^scripts/uninstall$})
		{
			ok(-x "$top/scripts/uninstall", "install: $line");
		}
		else { fail("install: what is this? $line") }
	}
}

log_is_clean($node);
$node->stop;
done_testing();
