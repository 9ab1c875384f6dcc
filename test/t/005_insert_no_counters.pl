# Where there is no shared memory for counters, INSERTs succeed and the log says
# so once in a session.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PgWire;
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $node = test_server('no_counters', dynamic_shared_memory_type => 'mmap');

plan skip_all => 'shared memory is asked for when the server starts' if $node->pg_version < 17;

create_database($node, 'zabbix');
set_up($node, 'zabbix');

# files of mapped memory are made here
my $directory = $node->data_dir . '/pg_dynshmem';
chmod 0500, $directory or die "$directory: $!";

my $client = PgWire->new($node, 'zabbix');
for my $i (0 .. 2)
{
	my $result = $client->query(insert_values('history', 100 * $i, 100, day(0)));

	is_deeply($result->{errors}, [], "INSERT $i succeeds");
}
is(rows_of($node, 'zabbix', 'history'), 300, 'all rows are stored');
my @said = slurp_file($node->logfile) =~ /rows are not counted in this session/g;
is(@said, 1, 'the log says once that they are not counted');

chmod 0700, $directory or die "$directory: $!";
$node->safe_psql('zabbix', insert_values('history', 1000, 50, day(0)));
is($node->safe_psql('zabbix', 'SELECT sum(values_stored) FROM zbxhist.insert_paths()'),
	50, 'a session that finds memory counts');
log_is_clean($node);
$node->stop;
done_testing();
