# scripts/record records what passes between a client and the server, with
# texts replaced, and the server's answers are the same as without it.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use IPC::Run ();
use JSON::PP ();
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes 'usleep';
use ZbxhistTest;

my $script = "$FindBin::RealBin/../../scripts/record";
my $directory = PostgreSQL::Test::Utils::tempdir();
my $sockets = PostgreSQL::Test::Utils::tempdir_short();
my $recording = "$directory/recording";
my $node = test_server('recorded');
my ($output, $errors, $nothing, $proxy) = ('', '', '');

sub begin
{
	my ($place, @further) = @_;
	$proxy = IPC::Run::start(
		[
			$script, '--listen',
			"$sockets:6000", '--connect',
			$node->host . ':' . $node->port, '--output',
			$place, @further
		],
		'<',
		\undef,
		'>&',
		\$output);
	for (1 .. 300)
	{
		return if -S "$sockets/.s.PGSQL.6000";
		usleep(100_000);
	}
	die "no proxy: $output";
}

sub end
{
	my ($signal) = @_;
	$proxy->signal($signal);
	$proxy->finish;
	unlink "$sockets/.s.PGSQL.6000";
	return;
}

# the answer of psql, by way of the recorder or not
sub ask
{
	my ($recorded, @commands) = @_;
	my ($answer, $error) = ('', '');
	my ($host, $port) = $recorded ? ($sockets, 6000) : ($node->host, $node->port);
	IPC::Run::run(
		[ 'psql', '-XAt', '-h', $host, '-p', $port, 'postgres', map { ('-c', $_) } @commands ],
		'>', \$answer, '2>', \$error);
	return "$answer\n$error";
}

# the lines of a recording, which are JSON
sub lines_of
{
	my ($place) = @_;
	my $text = '';
	my @files = glob "$place/piece-*.jsonl $place/piece-*.jsonl.xz";
	for my $file (sort grep { !-e "$_.xz" } @files)
	{
		my $part = '';
		IPC::Run::run([ $file =~ /xz$/ ? 'xzcat' : 'cat', $file ], '>', \$part);
		$text .= $part;
	}
	return map { JSON::PP::decode_json($_) } grep { /\S/ } split /\n/, $text;
}

my @statements = (
	'CREATE TABLE history (itemid bigint, clock integer, ns integer, value text, PRIMARY KEY (itemid, clock, ns))',
	"INSERT INTO history VALUES (7, 1700000000, 1, 'Secret of web01: it''s 10.11.12.13'), (8, 1700000060, 2, '42.5')",
	"INSERT INTO history VALUES (7, 1700000000, 1, 'again')",
	"BEGIN; SELECT value FROM history WHERE itemid = 7 OR value = 'Secret'; COMMIT",
	'SELECT i, repeat(\'x\', 5000) FROM generate_series(1, 2000) i',
	"SELECT 1 FROM pg_class WHERE relname = 'history'",
	'DROP TABLE history');

my $plain = ask(0, @statements);
begin($recording);
is(ask(1, @statements), $plain, 'the server answers the same');
is( ask(1, "SET client_encoding = 'LATIN1'", "SELECT 'k\xe4se'"),
	ask(0, "SET client_encoding = 'LATIN1'", "SELECT 'k\xe4se'"),
	'... and in another encoding');

# the extended protocol, by pgbench, with a parameter that is a text
PostgreSQL::Test::Utils::append_to_file("$directory/extended.sql",
	"\\set n 5\nSELECT :n::int + 1, length(:name::text);\n");
IPC::Run::run(
	[
		'pgbench', '-n', '-M', 'prepared', '-t', 3, '-h', $sockets, '-p', 6000, '-D',
		'name=Klartext', '-f', "$directory/extended.sql", 'postgres'
	],
	'>',
	\$nothing,
	'2>',
	\$errors) or diag($errors);
end('TERM');

like($output, qr/statements of 4 sessions/, 'it says what it has written');
my ($header, @lines) = lines_of($recording);
is($header->{format}, 'zbxhist recording 1', 'the first line says what it is');
my @told = grep { @$_ > 3 } @lines;
my ($insert) = grep { $_->[8] =~ /^INSERT/ && !$_->[7] } @told;
is_deeply($insert->[4], ['INSERT 0 2'], 'a statement has its tag');
like(
	$insert->[8],
	qr/\(7, 1700000000, 1, '[A-Z][a-z]{5} [a-z]{2} [a-z]{3}\d\d: [a-z]{2}''[a-z] \d\d\.\d\d\.\d\d\.\d\d'\), \(8, 1700000060, 2, '42\.5'\)/,
	'... texts of the same kind, and numbers as they were');
my $text = join "\n", map { JSON::PP::encode_json($_) } @lines;
unlike($text, qr/Secret|web01|10\.11\.12|again|Klartext/, 'no text is what it was');
my ($word) = $insert->[8] =~ /'([A-Z][a-z]{5}) /;
like($text, qr/value = '$word'/, 'one word is the same one each time');
my ($twice) = grep { ($_->[7] // '') eq '23505' } @told;
ok($twice, 'an error has its code');
my ($many) = grep { $_->[8] =~ /generate_series/ } @told;
is($many->[5], 2000, 'rows of an answer are counted');
cmp_ok($many->[6], '>', 2000 * 5000, '... and bytes');
my ($several) = grep { $_->[8] =~ /^BEGIN; SELECT/ } @told;
is_deeply(
	$several->[4],
	[ 'BEGIN', 'SELECT 1', 'COMMIT' ],
	'a text of several statements has all tags');
ok((grep { $_->[8] =~ /pg_class.*'history'/ } @told), 'names that catalogs are asked for stay');
my @prepared = grep { @$_ > 9 } @told;
is(scalar @prepared, 3, 'statements of the extended protocol');
is($prepared[0][9][0], '5', '... with their parameters');
is( scalar(grep { $_->[2] eq 'begin' } @lines),
	scalar(grep { $_->[2] eq 'end' } @lines),
	'each session has begun and ended');

# ---- what it says of them ----

my ($described, $json) = ('', '');
IPC::Run::run([ $script, '--describe', $recording ], '>', \$described);
like($described, qr/4 sessions/, 'described for people');
like($described, qr/`DROP TABLE history`/, '... with the shapes of statements');
is( `'$script' --describe '$recording' 2>&1 | head -n 0`,
	'',
	'... nothing is said if nobody reads it to its end');
IPC::Run::run([ $script, '--describe', $recording, '--json' ], '>', \$json);
is(JSON::PP::decode_json($json)->{errors}{23505}, 1, '... and as JSON');

# ---- continued at another time ----

my $continued = "$directory/continued";
for my $append ([], ['--append'])
{
	sleep 1;
	begin($continued, @$append);
	ask(1, 'SELECT 1');
	end('INT');
}
my $complaint = '';
IPC::Run::run(
	[
		$script, '--listen',
		"$sockets:6000", '--connect',
		$node->host . ':' . $node->port, '--output',
		$continued
	],
	'2>',
	\$complaint);
like($complaint, qr/has a recording already/, 'a recording is not continued unasked');
IPC::Run::run([ $script, '--describe', $continued, '--json' ], '>', \$json);
my $both = JSON::PP::decode_json($json);
is($both->{sessions}, 2, 'with --append pieces of two times are one recording');
cmp_ok($both->{seconds}, '>=', 1, '... which lasts until the last one');
my $numbers = '';
IPC::Run::run(
	[
		'python3',
		'-c',
		'import sys; sys.path.insert(0, sys.argv[1]); '
		  . 'from zbxrecord import pieces; '
		  . 'print(*[row[1] for row in pieces.read(sys.argv[2])[1] if row[2] == "begin"])',
		"$FindBin::RealBin/../../scripts",
		$continued
	],
	'>',
	\$numbers);
is($numbers, "1 2\n", '... and no two sessions have one number');

# a day later
my ($newest) = reverse sort glob "$continued/piece-*";
IPC::Run::run([ 'xzcat', $newest ], '>', \my $piece);
$piece =~ s/"began": (\d+)/'"began": ' . ($1 + 86400)/e;
append_to_file($newest =~ s/\.xz$//r, $piece);
unlink $newest;
IPC::Run::run([ $script, '--describe', $continued, '--json' ], '>', \$json);
cmp_ok(JSON::PP::decode_json($json)->{seconds},
	'<', 3600, '... nor does what lies between them count as recorded');

# ---- when it goes away ----

my $second = "$directory/second";
begin($second, '--piece-minutes', '0.02');
ask(1, 'SELECT 1');
ask(1, 'SELECT pg_sleep(1.5)');
ask(1, 'SELECT 2');
end('KILL');
cmp_ok(scalar(() = glob("$second/piece-*")), '>', 1, 'a piece each so many minutes');
my @kept = map { $_->[8] // () } grep { ref eq 'ARRAY' } lines_of($second);
ok((grep { $_ eq 'SELECT 1' } @kept), 'a recorder that is killed leaves what it had written');
is(ask(0, 'SELECT 3'), "3\n\n", 'the server goes on');

my $refused = '';
ok( !IPC::Run::run(
		[
			$script, '--listen',
			"$sockets:6000", '--connect',
			$node->host . ':' . $node->port, '--output',
			$recording
		],
		'<',
		\undef,
		'>&',
		\$refused),
	'a directory with a recording is not written to');
like($refused, qr/has a recording already/, '... and it says so');

done_testing();
