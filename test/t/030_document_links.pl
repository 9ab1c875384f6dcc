# Links in documents lead to files and headings that are there, every document
# is in the index, every code of check() is explained, plots in git are shown,
# and the figures of the README are those of the benchmarks.
use strict;
use warnings;

use Cwd ();
use File::Basename ();
use FindBin;
use Test::More;

my $top = Cwd::realpath("$FindBin::RealBin/../..");
my @documents = map { glob "$top/$_" }
  qw(*.md docs/*.md bench/README.md src/README.md test/README.md);
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

	return
	  map { lc() =~ s/[^\w\- ]//gr =~ tr/ /-/r } $text =~ /^#+ +(.*?) *$/gm;
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
		next
		  if $link =~ m{^https?://}
		  || ($link =~ m{\bbench/results/} && !$has_results);
		my ($path, $anchor) = split /#/, $link, 2;
		my $target =
		  $path eq '' ? $file : File::Basename::dirname($file) . "/$path";

		$count++;
		$linked{$file}{ Cwd::realpath($target) // '' } = 1;
		push @missing, $link
		  if !-e $target
		  || (defined $anchor && !grep { $_ eq $anchor } anchors_of($target));
	}
	is_deeply(\@missing, [],
		substr($file, 1 + length $top) . ": $count links");
}

# ---- the index ----

my $index = "$top/docs/README.md";
is_deeply(
	[ grep { $_ ne $index && m{/docs/} && !$linked{$index}{$_} } @documents ],
	[],
	'every document is in the index');
ok($linked{"$top/README.md"}{$index}, 'which the README names');

# ---- what check() says ----

my %codes;
for my $file (glob "$top/sql/check/*.sql")
{
	$codes{$_} = 1
	  for slurp($file) =~ /'(?:error|warning|info)'(?: END)?,\s*'([a-z_]+)'/g;
}
cmp_ok(scalar keys %codes, '>', 50, 'codes of check() are found');
my $red = slurp("$top/docs/something-is-red.md");
is_deeply([ sort grep { $red !~ /`$_`/ } keys %codes ],
	[], 'every code of check() is in docs/something-is-red.md');

# ---- plots ----

if ($has_results)
{
	my %shown = map { $_ => 1 }
	  map { m{/bench/results/(.*\.png)$} } map { keys %$_ } values %linked;
	is_deeply(
		[ sort(slurp("$top/bench/results/.gitignore") =~ /^!(.*)$/gm) ],
		[ sort keys %shown ],
		'plots that are kept in git are those that documents show');
}

# ---- figures ----

my ($figures) =
  slurp("$top/README.md") =~ /^## What it costs and gains\n(.*?)^## /ms;
my ($measured) = slurp("$top/docs/benchmarks.md") =~
  /<!-- figures begin -->(.*)<!-- figures end -->/s;
$measured .= slurp("$top/docs/hourly-partitions.md");
my $count = 0;
for my $number ($figures =~ /(?<![\w.,])(\d[\d,]*(?:\.\d+)?)(?![\w])/g)
{
	# small whole numbers are words
	next if $number !~ /[.,]/ && $number < 10;
	$count++;
	ok($measured =~ /(?<![\w.,])\Q$number\E(?![\w])(?!,\d|\.\d)/,
		"$number has been measured");
}
cmp_ok($count, '>', 15, 'the README has figures');
done_testing();
