# scripts/report: its figures are those of the database, names are escaped in
# HTML, what the role may not read is left out, and a browser shows the whole
# page on a phone and on a desktop.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use JSON::PP ();
use PgWire;
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $directory = PostgreSQL::Test::Utils::tempdir();
my $script = "$FindBin::RealBin/../../scripts/report";
my $node = test_server('report');
create_database($node, 'zabbix');

# Runs a script on the server; exit code, output, errors.
sub run_script
{
	my (@command) = @_;
	my ($out, $err) = ('', '');

	local %ENV = %ENV;
	$ENV{PGHOST} = $node->host;
	$ENV{PGPORT} = $node->port;
	IPC::Run::run(\@command, '>', \$out, '2>', \$err);
	return ($? >> 8, $out, $err);
}

sub report { return run_script($script, @_); }

# The report as data; dies if there is none.
sub report_data
{
	my ($status, $out, $err) = report('--json', @_);

	die "report: $err" if $status != 0;
	return JSON::PP->new->utf8->decode($out);
}

sub value_of { return $node->safe_psql('zabbix', $_[0]); }

# ---- a database without tables, and none at all ----

like((report('--database', 'zabbix'))[1], qr/No table is managed/, 'nothing is managed');
is_deeply(report_data('--database', 'zabbix')->{tables}, [], '... in JSON as well');
my ($status, undef, $err) = report('--database', 'postgres');
is($status, 1, 'without the extension it fails');
like(
	$err,
	qr/has no extension zbxhist\nhint: psql -d 'postgres' -c 'CREATE EXTENSION zbxhist'\n\z/,
	'... and says why');
($status, undef, $err) = report('--database', 'nowhere');
like("$status $err", qr/\A1 report: .*database "nowhere" does not exist\n\z/, 'no such database');
($status, undef, $err) = report('--database', 'zabbix', '--output', "$directory/none/x.html");
like("$status $err", qr/\A1 report: there is no directory .*\nhint: mkdir/, 'no such directory');
is((report('--database', 'zabbix', '--usage-days', '-1'))[0], 2, 'a number of days that is none');
is((report('--what'))[0], 2, 'an option that is none');

# ---- real data ----

set_up($node, 'zabbix');
$node->safe_psql('zabbix', <<'SQL');
CREATE TABLE hosts (hostid bigint PRIMARY KEY, host varchar(128) NOT NULL, name varchar(128) NOT NULL);
CREATE TABLE items (itemid bigint PRIMARY KEY, hostid bigint NOT NULL, name varchar(255) NOT NULL, key_ varchar(2048) NOT NULL);
INSERT INTO hosts VALUES (1, 'a', '<script>document.title="taken"</script>'), (2, 'b', repeat('wide', 30)), (3, 'c', 'it''s & "quoted"');
INSERT INTO items SELECT i, i % 3 + 1,
       CASE i % 3 WHEN 0 THEN '<img src=x onerror=alert(1)>' WHEN 1 THEN repeat('W', 250) ELSE '</td></table><h1>big' END,
       'key[' || repeat('x', 300) || ']' FROM generate_series(1, 30) i;
SQL
for my $ago (reverse 1 .. 4)
{
	$node->safe_psql('zabbix',
			"SELECT zbxhist.create_partition('history', '${\ date(-$ago)}');"
		  . "INSERT INTO history SELECT i, ${\ day(-$ago)} + s * 60, (i * s % 77) / 7.0, i"
		  . " FROM generate_series(1, 20) i, generate_series(${\ ($ago == 4 ? 101 : 1)}, 200) s");
}
$node->safe_psql('zabbix', "CALL zbxhist.pack('history', '${\ date(-$_)}')") for 2 .. 4;
$node->safe_psql('zabbix', insert_values('history_uint', 5000, 200, day(0)));

# a row of no partition, and a step that failed
$node->safe_psql('zabbix', insert_values('history', 6000, 10, day(-20)));
$node->safe_psql('zabbix', <<'SQL');
ANALYZE;
INSERT INTO zbxhist.maintenance_log (started_at, parent, action, relation, duration, lock_wait, sqlstate, message)
VALUES (now() - interval '2 days', 'history', 'pack', 'p<b>', '75 s', '3 s', '55P03', '<b>could not lock</b>'),
       (now() - interval '1 days', 'history', 'compact', 'day', '5 s', NULL, 'XX001', 'packed values are corrupt');
INSERT INTO zbxhist.lost_values (parent, day, is_end, rows, problem) VALUES ('history', 'history_p<i>', true, 42, 'damaged <i>row');
SQL

my $data = report_data('--database', 'zabbix', '--usage-days', '0');
my %table = map { $_->{table} => $_ } @{ $data->{tables} };
is_deeply($data->{unreadable}, {}, 'everything can be read');
is($data->{format}, 1, 'the format');
is( join(' ', sort keys %table),
	value_of(
		'SELECT string_agg(\'public.\' || parent::text, \' \' ORDER BY parent::text) FROM zbxhist.parents'
	),
	'all tables');

my $history = $table{'public.history'};
is( join(
		' ', map { $_->{from} . ($_->{packed_bytes} ? ' packed' : ' heap') } @{ $history->{days} }),
	join(' ', (map { day(-$_) . ' packed' } 4, 3, 2), (map { day(-$_) . ' heap' } 1, 0)),
	'days by kind');
is( $history->{days}[0]{packed_values} . ' ' . $history->{days}[0]{packed_bytes},
	value_of(
		"SELECT rows || ' ' || bytes FROM zbxhist.partitions WHERE kind = 'packed' ORDER BY from_clock LIMIT 1"
	),
	'values and bytes of a packed day');
is($history->{days}[3]{heap_values}, 4000, '... and of a partition');
is( $history->{bytes},
	value_of(
		"SELECT sum(bytes) FILTER (WHERE state <> 'future') + pg_total_relation_size('history') FROM zbxhist.partitions WHERE parent = 'history'::regclass"
	),
	'bytes of the table');
is($history->{rows_waiting}, 10, 'rows in the table itself');
is( $history->{usage}{total_values},
	value_of('SELECT count(*) FROM history'),
	'item_usage has them all');
is( join(' ', map { "$_->{itemid}:$_->{values}" } @{ $history->{usage}{items} }[ 0 .. 4 ]),
	value_of(
		"SELECT string_agg(itemid || ':' || values, ' ' ORDER BY bytes DESC, itemid) FROM (SELECT * FROM zbxhist.item_usage('history', max_items => 5)) u"
	),
	'the largest items');
is( join(' ', map { "$_->{host}:$_->{items}" } @{ $history->{usage}{hosts} }),
	value_of(
		"SELECT string_agg(host || ':' || n, ' ' ORDER BY b DESC, host) FROM (SELECT host, count(*) AS n, sum(bytes) AS b FROM zbxhist.item_usage('history', max_items => NULL) WHERE host IS NOT NULL GROUP BY host) u"
	),
	'the largest hosts');

is( $history->{saved_bytes},
	value_of(
		"SELECT sum(heap_bytes - pg_total_relation_size(day)) FROM zbxhist.packed_day WHERE parent = 'history'::regclass"
	),
	'what packing has saved so far');
is("$table{'public.trends'}{months} $history->{months}", '1 0', 'partitions of months');

# 4 full days of 4000 values, of the first a part only; 30 days of retention
my $plan = $history->{forecast};
is($plan->{values_per_day}, 4000, 'values a day');
ok($plan->{bytes_per_day} > 4000 && $plan->{bytes_per_day} < 300000, 'bytes a day, packed');
cmp_ok(abs($plan->{ends_at} - $data->{server}{time} - 31 * 86400),
	'<', 2, 'when retention is reached');
cmp_ok(abs($plan->{bytes_at_end} / ($plan->{bytes_per_day} * 30 + $history->{bytes}) - 1),
	'<', 0.6, 'the size then');
my ($pack) = grep { $_->{action} eq 'pack' } @{ $data->{maintenance}{actions} };
is("$pack->{times} $pack->{failed} @{[ $pack->{longest} + 0 ]}", '4 1 75', 'steps of maintenance');
is_deeply(
	[ map { $_->{message} } @{ $data->{maintenance}{problems} } ],
	[ 'packed values are corrupt', '<b>could not lock</b>' ],
	'what failed');
is($data->{damage}{lost}[0]{values}, 42, 'lost values');
is($data->{damage}{met}[0]{sqlstate}, 'XX001', 'damage that maintenance met');
is($data->{damage}{verified}, undef, 'verify is asked for, or not done');
ok((grep { $_->{name} eq 'zbxhist.enable_routing' } @{ $data->{settings} }), 'settings');
is(join(' ', sort map { $_->{code} } @{ $data->{check} }),
	value_of("SELECT string_agg(code, ' ' ORDER BY code) FROM zbxhist.check()"), 'check()');
is( scalar @{ report_data('--database', 'zabbix', '--usage-days', '2')->{tables}[0]{usage}{items} },
	15,
	'items of some days');

# ---- an archived day ----

SKIP:
{
	skip 'postgres_fdw is not installed', 6 unless has_extension($node, 'postgres_fdw');
	my $cold = add_archive_server($node, 'zabbix', 'cold');

	$data = report_data('--database', 'zabbix', '--usage-days', '0');
	my ($before) = grep { $_->{table} eq 'public.history' } @{ $data->{tables} };
	$node->safe_psql(
		'zabbix', qq{
		SELECT zbxhist.alter_parent('history', archive_server => 'cold', archive_after => '20 days');
		CALL zbxhist.archive('history', '${\ date(-4)}');
	});
	$data = report_data('--database', 'zabbix', '--usage-days', '0');
	my ($after) = grep { $_->{table} eq 'public.history' } @{ $data->{tables} };
	my ($was, $is) = map { $_->{days}[0] } $before, $after;

	is( $is->{archived_bytes},
		value_of('SELECT sum(bytes) FROM zbxhist.archive_copy'),
		'bytes of an archived day');
	is("$is->{archived_values} $is->{packed_values}", "2000 2000", '... and its values');
	cmp_ok($is->{bytes}, '<=', $was->{bytes}, '... has no more here');
	cmp_ok(
		$is->{bytes_per_value},
		'>',
		$was->{bytes_per_value} / 2,
		'but its values take what they took');
	cmp_ok(
		$after->{usage}{total_bytes},
		'>',
		$before->{usage}{total_bytes} * 0.7,
		'... and so do its items');
	is( $node->safe_psql(
			'zabbix',
			"SELECT bool_and(p.bytes_per_value > p.bytes::numeric / p.rows) FROM zbxhist.partitions p WHERE p.state = 'archived'"
		),
		't',
		'the views count both');
}

# ---- damage ----

is_deeply(report_data('--database', 'zabbix', '--verify')->{damage}{verified},
	[], 'verify finds nothing');
$node->safe_psql('zabbix',
	"UPDATE zbxhist_packed.history_p${\ (date(-3) =~ tr/-//dr)} SET payload = set_byte(payload, 20, get_byte(payload, 20) # 1)"
);
$data = report_data('--database', 'zabbix', '--verify', '--usage-days', '0');
like($data->{damage}{verified}[0]{problem}, qr/damaged directory/, 'verify finds damage');
like(
	$data->{unreadable}{'items of public.history'},
	qr/are corrupt/,
	'items of a damaged table are left out, the rest is there');

# ---- the page ----

my $page = "$directory/report.html";
my ($page_exit) = report('--database', 'zabbix', '--usage-days', '2', '--output', $page);
is($page_exit, 0, 'a page');
my $html = slurp_file($page);
unlike($html, qr/<script|<img|<b>could|<h1>big|<i>row|p<i>/, 'nobody\'s name is HTML');
ok(index($html, '&lt;script&gt;document') > 0, '... but text');
unlike($html, qr{https?://|<link|<[a-z]+[^>]* src=|url\(|\@import}, 'it needs no other file');
my $modes = sprintf '%04o', (stat $page)[2] & oct('777');
is($modes, sprintf('%04o', oct('666') & ~umask), 'others may read the file as umask says');
my @left = glob("$directory/.report.*");
is(scalar @left, 0, 'nothing else is left');

# ---- somebody who may see little ----

$node->safe_psql('zabbix', 'CREATE ROLE little LOGIN; GRANT SELECT ON history_uint TO little');
{
	local $ENV{PGUSER} = 'little';
	$data = report_data('--database', 'zabbix');
	is( join(' ', sort grep { !/^items of/ } keys %{ $data->{unreadable} }),
		'damage lost values maintenance metrics',
		'what he may not see is named');
	like($data->{unreadable}{'items of public.history'}, qr/permission denied/,
		'... items as well');
	is(scalar @{ $data->{tables} }, scalar keys %table, '... and all else is there');
	like(
		(report('--database', 'zabbix'))[1],
		qr/Cannot be read: permission denied/,
		'... on the page, too');
}

# ---- in a browser ----

my ($browser) = grep { -x } map { ("/usr/bin/$_") } qw(chromium chromium-browser);

# What a script finds in a page as a browser has it, at that width.
sub look
{
	my ($html, $width) = @_;
	my ($out, $err) = ('', '');
	my $copy = "$directory/look.html";
	my $probe = <<'HTML';
<script>
const wide = [...document.querySelectorAll("body *")].filter(e => {
  const b = e.getBoundingClientRect();
  return b.width > 0 && (b.right > innerWidth + 0.5 || b.left < -0.5) && !e.closest("svg");
});
const cut = [...document.querySelectorAll("td, .tile b, h1, h2, code")].filter(e => e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1);
const small = [...document.querySelectorAll("td, p, span, code")].filter(e => e.textContent.trim() && parseFloat(getComputedStyle(e).fontSize) < 12);
const probe = document.createElement("pre");
probe.id = "probe";
probe.textContent = `width=${innerWidth} scroll=${document.documentElement.scrollWidth} wide=${wide.length} cut=${cut.length} small=${small.length} bars=${document.querySelectorAll("svg rect").length} title=${document.title}`;
parent.document.body.append(probe);
</script>
HTML

	# the page itself runs no script
	(my $open = $html) =~ s/<meta http-equiv="Content-Security-Policy"[^>]*>//;
	$open =~ s{</body>}{$probe</body>};
	$open =~ s/&/&amp;/g;
	$open =~ s/"/&quot;/g;

	# a window is not as narrow as a phone
	open(my $file, '>:raw', $copy) or die "$copy: $!";
	print $file '<!DOCTYPE html><meta charset="utf-8"><body style="margin: 0">'
	  . qq(<iframe style="border: 0; width: ${width}px; height: 2000px" srcdoc="$open"></iframe></body>);
	close $file;
	IPC::Run::run(
		[
			$browser, '--headless',
			'--no-sandbox', '--disable-gpu',
			"--user-data-dir=$directory/browser", '--hide-scrollbars',
			'--window-size=1400,2000', '--dump-dom',
			"file://$copy"
		],
		'>',
		\$out,
		'2>',
		\$err,
		IPC::Run::timeout(180));
	my ($found) = $out =~ m{<pre id="probe">(.*?)</pre>};
	return $found // "nothing: $err";
}

SKIP:
{
	skip 'chromium is not here: it is in Debian\'s chromium', 3 unless $browser;
	for my $width (390, 768, 1280)
	{
		like(
			look($html, $width),
			qr/\Awidth=$width scroll=$width wide=0 cut=0 small=0 bars=[1-9]\d* title=zabbix: zbxhist \d{4}-\d\d-\d\d\z/,
			"$width pixels: nothing overflows, everything is readable, no script was run");
	}
}

# ---- one table, nothing packed, ten thousand items of any name ----

# names of any letters
$node->safe_psql('postgres',
	"CREATE DATABASE single TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'");
$node->safe_psql('single', 'CREATE EXTENSION zbxhist');
$node->safe_psql('single', <<"SQL");
CREATE TABLE history (itemid bigint NOT NULL, clock integer DEFAULT 0 NOT NULL, value float8 DEFAULT 0 NOT NULL, ns integer DEFAULT 0 NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE hosts (hostid bigint PRIMARY KEY, host varchar(128) NOT NULL, name varchar(128) NOT NULL);
CREATE TABLE items (itemid bigint PRIMARY KEY, hostid bigint NOT NULL, name varchar(255) NOT NULL, key_ varchar(2048) NOT NULL);
INSERT INTO hosts SELECT i, 'h' || i, (ARRAY[repeat(U&'\\+01F525', 60), U&'\\202Ereversed\\202C \\+01F469\\200D\\+01F4BB', '"><svg/onload=alert(1)>', '</style></main>', '', E'two\\nlines\\ttab', '&lt;b&gt;', repeat('a&', 60), '\$(id)', '{{7*7}}'])[i]
  FROM generate_series(1, 10) i;
INSERT INTO items SELECT i, i % 10 + 1, (ARRAY['--><b>bold</b>', repeat(U&'\\6F22', 200), repeat(U&'\\+01F525', 200), E'\\'"`', '<a href="javascript:alert(1)">'])[i % 5 + 1], 'key[<i>' || repeat(U&'\\+01F525', 100) || ']'
  FROM generate_series(1, 10000) i;
SELECT zbxhist.create_parent('history', '1 day', '30 days');
INSERT INTO history SELECT i, ${\ day(0)} + s, i, 0 FROM generate_series(1, 10000) i, generate_series(1, 1 + (i <= 15)::integer) s;
SQL
$data = report_data('--database', 'single');
is_deeply($data->{unreadable}, {}, 'one table: everything can be read');
my $single_table = $data->{tables}[0];
is(join(' ', map { scalar @$_ } @{ $single_table->{usage} }{ 'items', 'hosts' }),
	'15 10', '... the largest items and hosts');
is($single_table->{usage}{total_items}, 10000, '... of all');
is_deeply($single_table->{forecast}{points}, [], '... and nothing to foretell');
is($single_table->{forecast}{bytes_at_end}, undef, '... so the size in the end is not known');

# 10,015 values since the day began
my $rate = 10015 / ($data->{server}{time} - day(0));
cmp_ok(abs($single_table->{forecast}{values_per_second} / $rate - 1),
	'<', 0.1, '... but values a second are');
my (undef, $single) = report('--database', 'single');
unlike(
	$single,
	qr/<svg\/|<b>bold|<a href="j|key\[<i>|<\/style><\/main>/,
	'... nobody\'s name is HTML');
is(scalar(() = $single =~ m{</main>}g), 1, '... and the page is whole');
like($single, qr/No day is over yet/, '... which says what it cannot know');

# who may read nothing at all
$node->safe_psql('single',
	'CREATE ROLE stranger LOGIN; REVOKE ALL ON SCHEMA zbxhist, zbxhist_internal, public FROM PUBLIC'
);
{
	local $ENV{PGUSER} = 'stranger';
	my ($exit, undef, $why) = report('--database', 'single');
	like(
		"$exit $why",
		qr/\A1 report: permission denied for schema zbxhist\n/,
		'who may see nothing is told so');
}

SKIP:
{
	skip 'chromium is not here', 1 unless $browser;
	like(
		look($single, 390),
		qr/\Awidth=390 scroll=390 wide=0 cut=0 small=0 bars=[1-9]\d* title=single: zbxhist \d{4}-\d\d-\d\d\z/,
		'... readable on a phone, whatever the names');
}

# ---- scripts/progress ----

my @progress = ("$FindBin::RealBin/../../scripts/progress", '--database', 'zabbix');

is( (run_script(@progress))[1],
	"nothing that takes long is being done\n",
	'scripts/progress: nothing');
{
	my $session = PgWire->new($node, 'zabbix');

	$session->query(
		"UPDATE zbxhist.parent_state SET action = 'undo', relation = 'p1', action_pid = pg_backend_pid(), action_started = now(), action_rows = 1234, action_percent = 50 WHERE parent = 'history'::regclass"
	);
	like(
		(run_script(@progress))[1],
		qr/\Aundo     \[#{15}\.{15}\]  50(?:\.0)? %  p1 since \d\d:\d\d:\d\d, 1234 rows\n\z/,
		'... a bar');
	like((report('--database', 'zabbix'))[1], qr/undo of <bdi>p1</, '... in the report, too');
	$session->query(
		"UPDATE zbxhist.parent_state SET action = NULL WHERE parent = 'history'::regclass");
	is( (run_script(@progress, '--watch'))[1],
		"nothing that takes long is being done\n",
		'... and its end');
}
is((run_script($progress[0]))[0], 2, '... a database must be named');
is((run_script($progress[0], '--database', 'nowhere'))[0] > 0, 1, '... that is there');

# ---- root, whom the server does not let in ----

my $programs = "$directory/programs";
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');
my $real = $node->config_data('--bindir') . '/psql';

mkdir $programs;
make_program($programs, 'id',
	'for name; do :; done; case $name in -u) echo 0 ;; postgres | keeper) ;; *) exit 1 ;; esac');
make_program($programs, 'runuser',
	'[ "$(pwd)" = / ] || { echo "in $(pwd)" >&2; exit 9; }; SYSTEM_USER=$2; export SYSTEM_USER; shift 3; exec "$@"'
);
make_program($programs, 'psql', <<"SH");
case \$SYSTEM_USER in
	'') [ "\$PGUSER" = let_in ] || { echo 'psql: error: role "root" does not exist' >&2; exit 2; } ;;
	postgres) PGUSER=\${PGUSER:-$superuser} ;;
	*) PGUSER=\${PGUSER:-\$SYSTEM_USER}; [ "\$PGUSER" = "\$SYSTEM_USER" ] || exit 2 ;;
esac
export PGUSER
exec "$real" "\$@"
SH
$node->safe_psql('postgres',
	'CREATE ROLE keeper LOGIN; CREATE ROLE let_in LOGIN SUPERUSER; ALTER DATABASE zabbix OWNER TO keeper'
);
$node->safe_psql('zabbix',
	'CREATE TABLE keeps (itemid bigint, clock integer); INSERT INTO keeps VALUES (1, 2); ALTER TABLE keeps OWNER TO keeper'
);
{
	local %ENV = (%ENV, PATH => "$programs:$ENV{PATH}");
	delete $ENV{PGUSER};
	my @root = ('--database', 'zabbix');
	my $export = "$FindBin::RealBin/../../scripts/export";

	is(report_data(@root)->{server}{role}, 'keeper', 'root reports as the owner');
	is( (run_script(@progress))[1],
		"nothing that takes long is being done\n",
		'... looks at progress');
	my ($code, $out, $err) = run_script($export, @root, 'public.keeps');
	is("$code $err", '0 ', '... and exports');
	like($out, qr/^1\t2$/m, '... rows');
	is(report_data(@root, '--user', 'let_in')->{server}{role},
		'let_in', 'by another role, if it is said');
	is((run_script(@progress, '--user', 'let_in'))[0], 0, '... in progress as well');
	is((run_script($export, @root, '--user', 'let_in', 'public.keeps'))[1],
		$out, '... and in export');
	is(report_data(@root, '--user', 'keeper')->{server}{role},
		'keeper', '... which is a user of this machine');

	$node->safe_psql('postgres', 'ALTER DATABASE zabbix OWNER TO little');
	($code, $out, $err) = report(@root);
	is($code, 1, 'the owner is no user of this machine');
	is( $err,
		qq{report: the owner of the database, "little", is no user of this machine\n}
		  . "hint: repeat with --user and the name of a role that can connect, for instance postgres\n",
		'... which is said');
	like(
		(run_script(@progress))[2],
		qr/^the owner of the database, "little", is no user/,
		'... by progress, too');
	like(
		(report('--database', 'nowhere'))[2],
		qr/^report: .*database "nowhere" does not exist$/m,
		'no such database');
}

$node->stop;
done_testing();
