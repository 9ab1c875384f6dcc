/*-------------------------------------------------------------------------
 *
 * power.c
 *	  A preloaded library that records what a server does to the files of its
 *	  data directory.  From the records, images of the disk are made as a power
 *	  loss would leave it.
 *
 * Environment variables:
 *
 *		ZBXHIST_POWER_DATA		the data directory
 *		ZBXHIST_POWER_COUNTER	a file of 16 bytes: the time, which is a number that each
 *								system call of any process increments, and the number of
 *								checkpoints that have ended
 *		ZBXHIST_POWER_LOG		the file to which all processes append their records
 *		ZBXHIST_POWER_DELAY		N: of the pages that are written without shared buffers, one
 *								in N waits until two more checkpoints have ended, at most a
 *								second.  So a checkpoint comes between the page's WAL record
 *								and the page
 *
 * A record has the times before and after its system call.  Data written before a
 * sync began is on the disk when the sync has ended.  Of data written during a sync
 * nothing is known.
 *
 * What is written through stdio is not recorded: caches and statistics, which
 * PostgreSQL discards during recovery.
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(long) == 8, "system calls take offsets in one register");

/* PostgreSQL's pages: size, offset of the flags, PD_ALL_VISIBLE */
#define PAGE		8192
#define PAGE_FLAGS	10
#define ALL_VISIBLE	0x0004

/* kinds of records, as in powertest/disk.py */
enum
{
	CREATE = 'C',
	WRITE = 'W',
	TRUNCATE = 'T',				/* ftruncate, which may extend the file, too */
	ALLOCATE = 'A',				/* posix_fallocate */
	SYNC = 'S',					/* of a file or a directory */
	SYNC_ALL = 'F',				/* of the file system */
	RENAME = 'R',
	LINK = 'L',
	UNLINK = 'U',
	MAKE_DIRECTORY = 'M',
	REMOVE_DIRECTORY = 'D'
};

/* a record; its two names and the data follow it */
typedef struct Record
{
	uint64_t	begin;
	uint64_t	end;
	uint64_t	inode;
	uint64_t	offset;			/* or the new length */
	uint64_t	length;
	int32_t		pid;
	int32_t		what;
	int32_t		is_durable;		/* on the disk when it has ended, as by O_DSYNC */
	int32_t		name_length;
	int32_t		other_length;
	int32_t		unused;
} Record;

static const char *data;
static size_t data_length;
static uint64_t *counter;		/* the time, checkpoints */
static int	log_file = -1;
static unsigned delay;

/*
 * open_log starts recording if the environment variables are set.
 */
__attribute__((constructor))
static void
open_log(void)
{
	const char *counter_name = getenv("ZBXHIST_POWER_COUNTER");
	const char *log_name = getenv("ZBXHIST_POWER_LOG");
	const char *delay_text = getenv("ZBXHIST_POWER_DELAY");
	void	   *place;
	int			fd;

	if (getenv("ZBXHIST_POWER_DATA") == NULL || counter_name == NULL || log_name == NULL)
		return;
	/* the server writes its title over its environment */
	data = strdup(getenv("ZBXHIST_POWER_DATA"));
	if (data == NULL)
		abort();
	data_length = strlen(data);
	if (delay_text != NULL)
		delay = (unsigned) atoi(delay_text);
	fd = (int) syscall(SYS_openat, AT_FDCWD, counter_name, O_RDWR, 0);
	place = mmap(NULL, 2 * sizeof(*counter), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (place == MAP_FAILED)
		abort();
	counter = place;
	syscall(SYS_close, fd);
	fd = (int) syscall(SYS_openat, AT_FDCWD, log_name, O_WRONLY | O_APPEND | O_CLOEXEC, 0);
	if (fd < 0)
		abort();
	/* a high number: PostgreSQL counts the descriptors that it can open */
	log_file = fcntl(fd, F_DUPFD_CLOEXEC, 300);
	syscall(SYS_close, fd);
	if (log_file < 0)
		abort();
}

/*
 * next_time returns the present time, and increments it.
 */
static uint64_t
next_time(void)
{
	return __atomic_fetch_add(counter, 1, __ATOMIC_SEQ_CST);
}

/*
 * below returns an absolute path relative to the data directory; NULL if it is not
 * in there.
 */
static const char *
below(const char *path)
{
	if (strncmp(path, data, data_length) != 0)
		return NULL;
	if (path[data_length] == '\0')
		return ".";
	return path[data_length] == '/' ? path + data_length + 1 : NULL;
}

/*
 * find_name returns a path relative to the data directory, or NULL.  The buffer has
 * PATH_MAX bytes.
 */
static const char *
find_name(const char *path, char *buffer)
{
	size_t		length;

	if (log_file < 0)
		return NULL;
	if (path[0] == '/')
		return below(path);
	if (syscall(SYS_getcwd, buffer, PATH_MAX) <= 0)
		return NULL;
	length = strlen(buffer);
	snprintf(buffer + length, PATH_MAX - length, "/%s", path);
	return below(buffer);
}

/*
 * is_recorded returns 2 if an open file is the control file, 1 if it is another file
 * or directory of the data directory, else 0.  Sets status unless that is 0.
 */
static int
is_recorded(int fd, struct stat *status)
{
	char		link[64];
	char		path[PATH_MAX];
	const char *name;
	ssize_t		length;

	if (log_file < 0)
		return 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof(path) - 1);
	if (length <= 0)
		return 0;
	path[length] = '\0';
	name = below(path);
	if (name == NULL || fstat(fd, status) != 0 ||
		(!S_ISREG(status->st_mode) && !S_ISDIR(status->st_mode)))
		return 0;
	return strcmp(name, "global/pg_control") == 0 ? 2 : 1;
}

/*
 * append_record completes a record and appends it with its names and the first
 * record->length bytes of the data.  Keeps errno.
 */
static void
append_record(Record *record, const char *name, const char *other,
			  const struct iovec *parts, int nparts)
{
	struct iovec all[IOV_MAX];
	int			saved = errno;
	int			nall = 3;
	size_t		left = parts == NULL ? 0 : record->length;
	size_t		total;

	record->end = next_time();
	record->pid = (int32_t) getpid();
	record->name_length = name == NULL ? 0 : (int32_t) strlen(name);
	record->other_length = other == NULL ? 0 : (int32_t) strlen(other);
	all[0] = (struct iovec) {record, sizeof(*record)};
	all[1] = (struct iovec) {(void *) name, (size_t) record->name_length};
	all[2] = (struct iovec) {(void *) other, (size_t) record->other_length};
	total = sizeof(*record) + all[1].iov_len + all[2].iov_len + left;
	for (int i = 0; i < nparts && left > 0; i++)
	{
		if (nall == IOV_MAX)
			abort();
		all[nall] = parts[i];
		if (all[nall].iov_len > left)
			all[nall].iov_len = left;
		left -= all[nall++].iov_len;
	}
	if (syscall(SYS_writev, log_file, all, nall) != (ssize_t) total)
		abort();
	errno = saved;
}

/*
 * is_past_buffers returns whether a page is written without shared buffers: it extends
 * the file and is all-visible already.  In shared buffers a page becomes all-visible
 * only after the file has been extended.
 */
static int
is_past_buffers(const struct stat *status, off_t offset,
				const struct iovec *parts, int nparts)
{
	uint16_t	flags;

	if (offset < status->st_size || nparts != 1 || parts[0].iov_len != PAGE)
		return 0;
	memcpy(&flags, (const char *) parts[0].iov_base + PAGE_FLAGS, sizeof(flags));
	return (flags & ALL_VISIBLE) != 0;
}

/*
 * be_late delays one in N of these pages (ZBXHIST_POWER_DELAY).
 */
static void
be_late(const struct stat *status, off_t offset,
		const struct iovec *parts, int nparts)
{
	uint64_t	ended;

	if (delay == 0 || !is_past_buffers(status, offset, parts, nparts) ||
		next_time() % delay != 0)
		return;
	ended = __atomic_load_n(&counter[1], __ATOMIC_SEQ_CST);
	for (int i = 0; i < 100 && __atomic_load_n(&counter[1], __ATOMIC_SEQ_CST) < ended + 2; i++)
		usleep(10000);
}

/* ---- data ---- */

/*
 * write_parts writes at an offset, or at the file's position if that is -1.
 */
static ssize_t
write_parts(int fd, const struct iovec *parts, int nparts, off_t offset)
{
	Record		record = {.what = WRITE};
	struct stat status;
	ssize_t		result;
	int			recorded = is_recorded(fd, &status);

	if (recorded)
	{
		record.inode = status.st_ino;
		record.offset = (uint64_t) (offset < 0 ? lseek(fd, 0, SEEK_CUR) : offset);
		record.is_durable = (fcntl(fd, F_GETFL) & O_DSYNC) != 0;
		be_late(&status, (off_t) record.offset, parts, nparts);
		record.begin = next_time();
	}
	if (offset < 0)
		result = syscall(SYS_writev, fd, parts, nparts);
	else
		result = syscall(SYS_pwritev, fd, parts, nparts, offset, 0);
	if (recorded && result > 0)
	{
		record.length = (uint64_t) result;
		append_record(&record, NULL, NULL, parts, nparts);
		if (recorded == 2)
			__atomic_fetch_add(&counter[1], 1, __ATOMIC_SEQ_CST);
	}
	return result;
}

ssize_t
write(int fd, const void *bytes, size_t length)
{
	struct iovec part = {(void *) bytes, length};

	return write_parts(fd, &part, 1, -1);
}

ssize_t
writev(int fd, const struct iovec *parts, int nparts)
{
	return write_parts(fd, parts, nparts, -1);
}

ssize_t
pwrite(int fd, const void *bytes, size_t length, off_t offset)
{
	struct iovec part = {(void *) bytes, length};

	return write_parts(fd, &part, 1, offset);
}

ssize_t
pwritev(int fd, const struct iovec *parts, int nparts, off_t offset)
{
	return write_parts(fd, parts, nparts, offset);
}

/*
 * change_length truncates a file, or allocates length bytes from offset on.
 */
static int
change_length(int fd, int what, off_t offset, off_t length)
{
	Record		record = {.what = what};
	struct stat status;
	int			recorded = is_recorded(fd, &status);
	int			result;

	if (recorded)
	{
		record.inode = status.st_ino;
		record.offset = (uint64_t) (offset + length);
		record.begin = next_time();
	}
	if (what == TRUNCATE)
		result = (int) syscall(SYS_ftruncate, fd, length);
	else
		result = (int) syscall(SYS_fallocate, fd, 0, offset, length);
	if (recorded && result == 0)
		append_record(&record, NULL, NULL, NULL, 0);
	return result;
}

int
ftruncate(int fd, off_t length)
{
	return change_length(fd, TRUNCATE, 0, length);
}

int
posix_fallocate(int fd, off_t offset, off_t length)
{
	return change_length(fd, ALLOCATE, offset, length) == 0 ? 0 : errno;
}

int
truncate(const char *path, off_t length)
{
	int			fd = open(path, O_WRONLY);
	int			result;

	if (fd < 0)
		return -1;
	result = ftruncate(fd, length);
	syscall(SYS_close, fd);
	return result;
}

/* copying within the kernel is not recorded; without it PostgreSQL reads and writes */
ssize_t
copy_file_range(int from, off_t *from_offset, int to, off_t *to_offset,
				size_t length, unsigned flags)
{
	errno = ENOSYS;
	return -1;
}

/* ---- syncs ---- */

/*
 * sync_file syncs by a system call.
 */
static int
sync_file(int fd, long call, int what)
{
	Record		record = {.what = what};
	struct stat status;
	int			recorded = is_recorded(fd, &status);
	int			result;

	if (recorded)
	{
		record.inode = status.st_ino;
		record.begin = next_time();
	}
	result = (int) syscall(call, fd);
	if (recorded && result == 0)
		append_record(&record, NULL, NULL, NULL, 0);
	return result;
}

int
fsync(int fd)
{
	return sync_file(fd, SYS_fsync, SYNC);
}

int
fdatasync(int fd)
{
	return sync_file(fd, SYS_fdatasync, SYNC);
}

int
syncfs(int fd)
{
	return sync_file(fd, SYS_syncfs, SYNC_ALL);
}

/* ---- names ---- */

int
open(const char *path, int flags,...)
{
	Record		record = {.what = CREATE};
	struct stat status;
	char		buffer[PATH_MAX];
	const char *name = find_name(path, buffer);
	mode_t		mode = 0;
	int			fd;

	if (flags & O_CREAT)
	{
		va_list		arguments;

		va_start(arguments, flags);
		mode = va_arg(arguments, mode_t);
		va_end(arguments);
	}
	if (name == NULL || !(flags & (O_CREAT | O_TRUNC)))
		return (int) syscall(SYS_openat, AT_FDCWD, path, flags, mode);
	record.begin = next_time();
	if (flags & O_CREAT)
	{
		/* it is made here, or was there */
		fd = (int) syscall(SYS_openat, AT_FDCWD, path, flags | O_EXCL, mode);
		if (fd >= 0)
		{
			if (fstat(fd, &status) != 0)
				abort();
			record.inode = status.st_ino;
			append_record(&record, name, NULL, NULL, 0);
			return fd;
		}
		if (errno != EEXIST || (flags & O_EXCL))
			return fd;
	}
	fd = (int) syscall(SYS_openat, AT_FDCWD, path, flags, mode);
	if (fd >= 0 && (flags & O_TRUNC) && fstat(fd, &status) == 0)
	{
		record.what = TRUNCATE;
		record.inode = status.st_ino;
		append_record(&record, NULL, NULL, NULL, 0);
	}
	return fd;
}

/*
 * change_names does what happens to one name, or two.
 */
static int
change_names(int what, const char *path, const char *other_path, mode_t mode)
{
	Record		record = {.what = what};
	char		buffer[PATH_MAX];
	char		other_buffer[PATH_MAX];
	const char *name = find_name(path, buffer);
	const char *other = other_path == NULL ? NULL : find_name(other_path, other_buffer);
	int			result;

	if (name != NULL)
		record.begin = next_time();
	if (what == RENAME)
		result = (int) syscall(SYS_renameat, AT_FDCWD, path, AT_FDCWD, other_path);
	else if (what == LINK)
		result = (int) syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, other_path, 0);
	else if (what == MAKE_DIRECTORY)
		result = (int) syscall(SYS_mkdirat, AT_FDCWD, path, mode);
	else
		result = (int) syscall(SYS_unlinkat, AT_FDCWD, path,
							   what == REMOVE_DIRECTORY ? AT_REMOVEDIR : 0);
	if (name != NULL && result == 0)
	{
		struct stat status;

		if (what == MAKE_DIRECTORY && stat(path, &status) == 0)
			record.inode = status.st_ino;
		append_record(&record, name, other, NULL, 0);
	}
	return result;
}

int
rename(const char *path, const char *other_path)
{
	return change_names(RENAME, path, other_path, 0);
}

int
link(const char *path, const char *other_path)
{
	return change_names(LINK, path, other_path, 0);
}

int
unlink(const char *path)
{
	return change_names(UNLINK, path, NULL, 0);
}

int
mkdir(const char *path, mode_t mode)
{
	return change_names(MAKE_DIRECTORY, path, NULL, mode);
}

int
rmdir(const char *path)
{
	return change_names(REMOVE_DIRECTORY, path, NULL, 0);
}

/* the same functions, by the names of large files */
extern int	open64(const char *path, int flags,...) __attribute__((alias("open")));
extern ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset)
			__attribute__((alias("pwrite")));
extern ssize_t pwritev64(int fd, const struct iovec *parts, int nparts, off64_t offset)
			__attribute__((alias("pwritev")));
extern int	ftruncate64(int fd, off64_t length) __attribute__((alias("ftruncate")));
extern int	truncate64(const char *path, off64_t length) __attribute__((alias("truncate")));
extern int	posix_fallocate64(int fd, off64_t offset, off64_t length)
			__attribute__((alias("posix_fallocate")));
