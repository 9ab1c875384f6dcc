/*-------------------------------------------------------------------------
 *
 * damage_note.c
 *	  Notes of damage that queries have met.
 *
 * A query that meets damage fails, and may run on a standby: it can write to no
 * table.  So it leaves an empty file, which says by its name in which packed day
 * of which database it was, and by its time when.  It stands where extensions
 * keep what is about this server alone, which base backups leave out; whoever
 * looks through the day removes it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/fd.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "packed/values/damage_note.h"

PG_FUNCTION_INFO_V1(zbxhist_met_damage);
PG_FUNCTION_INFO_V1(zbxhist_forget_damage);

#define NOTE_PREFIX "zbxhist_damage"

/*
 * NotePath writes the path of a day's note.
 */
static void
NotePath(char path[MAXPGPATH], Oid day)
{
	snprintf(path, MAXPGPATH, PG_STAT_TMP_DIR "/" NOTE_PREFIX "_%u_%u",
			 MyDatabaseId, day);
}

/*
 * ZbxhistNoteDamage notes that a packed day is damaged, for an error that is
 * being raised: it raises none, and goes on if there can be no file.
 */
void
ZbxhistNoteDamage(Oid day)
{
	char		path[MAXPGPATH];
	int			fd;

	NotePath(path, day);
	fd = BasicOpenFile(path, O_CREAT | O_WRONLY | O_TRUNC | PG_BINARY);
	if (fd >= 0)
		close(fd);
}

/*
 * zbxhist_met_damage() returns the days of this database that have a note, and
 * when that was written.
 */
Datum
zbxhist_met_damage(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	DIR		   *dir;
	struct dirent *entry;

	InitMaterializedSRF(fcinfo, 0);
	dir = AllocateDir(PG_STAT_TMP_DIR);
	while ((entry = ReadDirExtended(dir, PG_STAT_TMP_DIR, LOG)) != NULL)
	{
		char		path[MAXPGPATH];
		Datum		values[2];
		bool		nulls[2] = {false};
		struct stat file;
		Oid			database;
		Oid			day;

		if (sscanf(entry->d_name, NOTE_PREFIX "_%u_%u", &database, &day) != 2 ||
			database != MyDatabaseId)
			continue;
		NotePath(path, day);
		/* somebody may have removed it just now */
		if (stat(path, &file) != 0)
			continue;
		values[0] = ObjectIdGetDatum(day);
		values[1] =
			TimestampTzGetDatum(time_t_to_timestamptz(file.st_mtime));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	FreeDir(dir);
	return (Datum) 0;
}

/*
 * zbxhist_forget_damage(day) removes a day's note, if there is one.
 */
Datum
zbxhist_forget_damage(PG_FUNCTION_ARGS)
{
	char		path[MAXPGPATH];

	NotePath(path, PG_GETARG_OID(0));
	if (unlink(path) != 0 && errno != ENOENT)
		ereport(LOG,
				errcode_for_file_access(),
				errmsg("could not remove file \"%s\": %m", path));
	PG_RETURN_VOID();
}
