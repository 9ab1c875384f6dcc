# docs/insert-errors.md names every function that can raise an error during an
# INSERT, and no other.
use strict;
use warnings;

use FindBin;
use Test::More;

my $top = "$FindBin::RealBin/../..";

sub slurp
{
	my ($file) = @_;

	open(my $handle, '<', $file) or die "$file: $!";
	local $/;
	return scalar <$handle>;
}

# "directory/file.c function" of each place that raises an error.
my %raises;
for my $file ((map { glob "$top/src/$_/*.c" } qw(ingest tables)),
	map { "$top/src/read/$_.c" } qw(change select item_query item_select item_read))
{
	my ($name) = $file =~ m{src/(.*)};
	my $function;

	for (split /\n/, slurp($file))
	{
		$function = $1 if /^(\w+)\(/;
		$raises{"$name $function"} = 1
		  if
		  /\b(?:ereport|elog)\s*\(\s*(?:ERROR|FATAL|PANIC)\b|\b(?:aclcheck_error|ReThrowError)\s*\(/;
	}
}
cmp_ok(scalar keys %raises, '>', 10, 'errors are found');

# The same of the document's table of our own errors, where a file stands for
# the lines below it, too.
my %named;
my ($table) = slurp("$top/docs/insert-errors.md") =~ /^## Errors of our own\n(.*?)^## /ms;
my $file;
for (grep { /^\| *(?:`|\|)/ } split /\n/, $table)
{
	my (undef, $in, $functions) = split /\s*\|\s*/;

	$file = $1 if $in =~ /`(.+)`/;
	$named{"$file $1"} = 1 while $functions =~ /`(\w+)`/g;
}

is_deeply([ sort keys %named ], [ sort keys %raises ],
	'the document names those that raise errors');
done_testing();
