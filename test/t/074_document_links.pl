# Links in documents lead to existing files and headings, every document is in
# the index, every code of check() is explained, plots in git are shown, and
# the figures of the README are those of the benchmarks.
use strict;
use warnings;

use Cwd ();
use File::Basename ();
use FindBin;
use JSON::PP ();
use Test::More;

my $top = Cwd::realpath("$FindBin::RealBin/../..");
my @documents =
  map { glob "$top/$_" } qw(*.md docs/*.md bench/README.md src/README.md test/README.md);
@documents = grep { -e $_ } @documents;

sub slurp
{
	my ($file) = @_;

	open(my $handle, '<:encoding(UTF-8)', $file) or die "$file: $!";
	local $/;
	return scalar <$handle>;
}

# The anchors of a document's headings, as GitHub and GitLab make them.
sub anchors_of
{
	my ($file) = @_;
	my $text = slurp($file) =~ s/^```.*?^```$//gmsr;

	return map { lc() =~ s/[^\w\- ]//gr =~ tr/ /-/r } $text =~ /^#+ +(.*?) *$/gm;
}

# ---- links ----

# a copy of the source may be without the benchmark's results
my $has_results = -d "$top/bench/results";
note('without bench/results') if !$has_results;

my %linked;
for my $file (@documents)
{
	my $text = slurp($file) =~ s/^```.*?^```$//gmsr =~ s/`[^`\n]*`//gr;
	my @missing;
	my $count = 0;

	for my $link ($text =~ /\]\(([^)\s]+)\)/g)
	{
		next if $link =~ m{^https?://} || ($link =~ m{\bbench/results/} && !$has_results);
		my ($path, $anchor) = split /#/, $link, 2;
		my $target = $path eq '' ? $file : File::Basename::dirname($file) . "/$path";

		$count++;
		$linked{$file}{ Cwd::realpath($target) // '' } = 1;
		push @missing, $link
		  if !-e $target || (defined $anchor && !grep { $_ eq $anchor } anchors_of($target));
	}
	is_deeply(\@missing, [], substr($file, 1 + length $top) . ": $count links");
}

# ---- the index ----

my $index = "$top/docs/README.md";
is_deeply([ grep { $_ ne $index && m{/docs/} && !$linked{$index}{$_} } @documents ],
	[], 'every document is in the index');
ok($linked{"$top/README.md"}{$index}, 'which the README names');

# ---- what check() says ----

my %codes;
for my $file (glob "$top/sql/*/*.sql")
{
	my $text = slurp($file);
	while ($text =~ /(?:'(\w+)' ELSE )?'(error|warning|info)'(?: END)?,\s*'([a-z_]+)'/g)
	{
		$codes{$3}{$_} = 1 for grep { defined } $1, $2;
	}
}
cmp_ok(scalar keys %codes, '>', 50, 'codes of check() are found');
my $red = slurp("$top/docs/something-is-red.md");
my %chapter = (error => 'Errors', warning => 'Warnings', info => 'Notes');
my %listed;
for my $severity (keys %chapter)
{
	my ($chapter) = $red =~ /^## $chapter{$severity}\n(.*?)^## /ms;
	$listed{$_}{$severity} = 1 for map { /`([a-z_]+)`/g } $chapter =~ /^\| (`.*?) \|/gm;
}
is_deeply(
	[
		sort grep {
			my $code = $_;
			!grep { $listed{$code}{$_} } keys %{ $codes{$code} }
		} keys %codes
	],
	[],
	'every code of check() is in docs/something-is-red.md, by its severity');

# ---- plots ----

if ($has_results)
{
	my %shown =
	  map { $_ => 1 } map { m{/bench/results/(.*\.png)$} } map { keys %$_ } values %linked;
	is_deeply(
		[ sort(slurp("$top/bench/results/.gitignore") =~ /^!(.*)$/gm) ],
		[ sort keys %shown ],
		'plots that are kept in git are those that documents show');
}

# ---- figures ----

my ($figures) = slurp("$top/README.md") =~ /^## Figures\n(.*?)^## /ms;
my ($measured) =
  slurp("$top/docs/benchmarks.md") =~ /<!-- figures begin -->(.*)<!-- figures end -->/s;
$measured .= slurp("$top/docs/hourly-partitions.md");
my $count = 0;
for my $number ($figures =~ /(?<![\w.,])(\d[\d,]*(?:\.\d+)?)(?![\w])/g)
{
	# small whole numbers are words
	next if $number !~ /[.,]/ && $number < 10;
	$count++;
	ok($measured =~ /(?<![\w.,])\Q$number\E(?![\w])(?!,\d|\.\d)/, "$number has been measured");
}
cmp_ok($count, '>', 10, 'the README has figures');

# the table's are those of the benchmarks' results
sub result_of
{
	my ($file) = @_;

	return JSON::PP->new->decode(slurp("$top/bench/results/$file.json"));
}

sub summary_of
{
	return result_of(@_)->{summary};
}

SKIP:
{
	skip 'without bench/results', 8 if !$has_results;
	my @rows = map { [/\| \**(\d[\d,]*(?:\.\d+)?)\**(?= \|)/g] } $figures =~ /^(\|.+\|)$/mg;
	my $day = summary_of('day');
	my %peers = map { $_->{store} => $_ }
	  grep { $_->{dataset} eq 'float-dependents' } @{ summary_of('peers-timescaledb') };
	my %floats = map { $_->{store} => $_ }
	  grep { $_->{dataset} eq 'float' } @{ summary_of('peers-timescaledb') };
	my @stores = qw(plain timescaledb zbxhist-packed);
	my @busy = @{ result_of('busy-timescaledb')->{runs} };
	my @results = (
		[ map { $floats{$_}{bytes_per_value} } @stores ],
		[ map { $peers{$_}{questions}{'week by hour'}{cpu_ms}{median} } @stores ],
		map {
			my ($what, $when) = @$_;
			[ map { $day->{$_}{$what}{$when} } qw(native zbxhist-hour-compacted) ]
		}[qw(wal all)],
		[qw(pages all)],
		[qw(disk end)]);

	# of plain tables, native partitions, TimescaleDB and zbxhist at a rate
	for ([ 1000, 'cpu_us' ], [ 3000, 'cpu_us' ], [ 3000, 'wal_bytes' ])
	{
		my ($rate, $what) = @$_;

		push @results, [ map { $_->{$what} } grep { $_->{rate} == $rate } @busy ];
	}

	splice @rows, 0, 2;
	for my $result (@results)
	{
		my $row = shift @rows;

		is( join(' ', @$row),
			join(' ',
				map { sprintf '%.*f', $row->[$_] =~ /\.(\d+)/ ? length $1 : 0, $result->[$_] }
				  0 .. $#$row),
			"@$row is in bench/results");
	}
}

# ---- figures a value, and what is computed of them ----

my @constants = @{ JSON::PP->new->decode(slurp("$top/scripts/zbxcompare/figures.json")) };
cmp_ok(scalar @constants, '>', 30, 'figures a value');

SKIP:
{
	skip 'without bench/results', 1 if !$has_results;
	my %results;
	my @wrong;

	for my $constant (@constants)
	{
		my $file = $constant->{result};
		my $found = $results{$file} //=
		  JSON::PP->new->decode(slurp("$top/bench/results/$file.json"));

		for my $step (@{ $constant->{path} })
		{
			$found = ref $found eq 'HASH' ? $found->{$step} : ref $step eq 'HASH' ? (
				grep {
					my $line = $_;
					!grep { $line->{$_} != $step->{$_} } keys %$step
				} @$found)[0]
			  : $found->[$step];
		}
		push @wrong, $constant->{name} if $found != $constant->{value};
	}
	is_deeply(\@wrong, [], '... are those of bench/results');
}

my $scale = slurp("$top/docs/scale.md");
my ($computed) = $scale =~ s/<!-- table begin -->\n(.*?)<!-- table end -->\n//s ? $1 : '';
is(scalar `$top/scripts/compare --scale`,
	$computed, 'docs/scale.md has the table that is computed of them');

# in its sentences every greater number is one of them, or a rate of the table
my %said = map { $_ => 1 } $computed =~ /^\| ([\d,]+)/gm;
for my $number ($scale =~ /(?<![\w.,])(\d[\d,]*(?:\.\d+)?)(?![\w.]*\w)/g)
{
	my $plain = $number =~ tr/,//dr;
	my $digits = $plain =~ /\.(\d+)/ ? length $1 : 0;

	# rows a statement, and a gigabit
	next if $said{$number}++ || $plain < 200 || $number eq '1000';
	ok((grep { sprintf("%.${digits}f", $_->{value}) eq $plain } @constants),
		"docs/scale.md: $number has been measured");
}
done_testing();
