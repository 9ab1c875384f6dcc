/*-------------------------------------------------------------------------
 *
 * clock.c
 *	  Preloaded into a server, shows a clock that is ahead by ZBXHIST_CLOCK: a
 *	  number of seconds with its sign, or a file that holds one, an int64.
 *
 * Not libfaketime: while a process waits, that shows its signal handlers the
 * true time, so no timeout ever comes (of a lock, for a deadlock).
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int64_t constant;
static const volatile int64_t *ahead = &constant;

__attribute__((constructor))
static void
open_clock(void)
{
	const char *name = getenv("ZBXHIST_CLOCK");
	void	   *place;
	int			fd;

	if (name == NULL)
		return;
	if (*name == '+' || *name == '-')
	{
		constant = strtoll(name, NULL, 10);
		return;
	}
	if ((fd = open(name, O_RDONLY)) < 0)
		return;
	place = mmap(NULL, sizeof(*ahead), PROT_READ, MAP_SHARED, fd, 0);
	if (place != MAP_FAILED)
		ahead = place;
	close(fd);
}

int
clock_gettime(clockid_t clock, struct timespec *now)
{
	int			result = (int) syscall(SYS_clock_gettime, clock, now);

	if (result == 0 && clock == CLOCK_REALTIME)
		now->tv_sec += *ahead;
	return result;
}

int
gettimeofday(struct timeval *now, void *zone)
{
	struct timespec precise;
	int			result = clock_gettime(CLOCK_REALTIME, &precise);

	now->tv_sec = precise.tv_sec;
	now->tv_usec = precise.tv_nsec / 1000;
	return result;
}

time_t
time(time_t *now)
{
	struct timespec precise;

	clock_gettime(CLOCK_REALTIME, &precise);
	if (now != NULL)
		*now = precise.tv_sec;
	return precise.tv_sec;
}
