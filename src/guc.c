/*-------------------------------------------------------------------------
 *
 * guc.c
 *	  The extension's settings.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>

#include "utils/guc.h"
#include "utils/plancache.h"

#include "guc.h"

bool		zbxhist_allow_packed_drop = false;
bool		zbxhist_enable_aggregate_scan = true;
bool		zbxhist_enable_batching = true;
bool		zbxhist_enable_fast_insert = true;
bool		zbxhist_enable_item_scan = true;
bool		zbxhist_enable_packed_scan_pruning = true;
bool		zbxhist_enable_routing = true;
char	   *zbxhist_databases = NULL;
int			zbxhist_maintenance_interval = 900;
int			zbxhist_maintenance_lock_timeout = 500;
int			zbxhist_maintenance_repack_limit = 4096;

/*
 * ForgetPlans makes prepared statements be planned anew, because plans depend
 * on a setting.
 */
static void
ForgetPlans(bool newval, void *extra)
{
	ResetPlanCache();
}

/*
 * DefineSwitch registers the off switch of an optimisation on which plans
 * depend.
 */
static void
DefineSwitch(const char *name, const char *summary, const char *details,
			 bool *variable)
{
	DefineCustomBoolVariable(name, summary, details, variable,
							 true,	/* boot value */
							 PGC_USERSET,
							 0, /* flags */
							 NULL, ForgetPlans, NULL);
}

/*
 * CheckAllowPackedDrop makes sure that only the session itself gives the consent to lose
 * values, by SET.
 */
static bool
CheckAllowPackedDrop(bool *newval, void **extra, GucSource source)
{
	if (!*newval || source == PGC_S_SESSION)
		return true;
	GUC_check_errdetail("It can be switched on by SET only, in the session that drops.");
	return false;
}

/*
 * DefineDropSettings registers the consent to lose packed days.
 */
static void
DefineDropSettings(void)
{
	DefineCustomBoolVariable("zbxhist.allow_packed_drop",
							 gettext_noop("Allows commands that drop packed days with their foreign table or the extension."),
							 gettext_noop("When off, they are refused while packed days hold values.  It can be switched on by SET only."),
							 &zbxhist_allow_packed_drop,
							 false, /* boot value */
							 PGC_USERSET,
							 GUC_DISALLOW_IN_FILE,
							 CheckAllowPackedDrop, NULL, NULL);
}

/*
 * DefineEnableSettings registers the off switches of the optimisations.
 */
static void
DefineEnableSettings(void)
{
	DefineSwitch("zbxhist.enable_aggregate_scan",
				 gettext_noop("Aggregates packed values without making rows of them."),
				 gettext_noop("When off, PostgreSQL aggregates the rows that a scan of packed days gives."),
				 &zbxhist_enable_aggregate_scan);

	DefineSwitch("zbxhist.enable_batching",
				 gettext_noop("Buffers a statement's rows and inserts them together."),
				 gettext_noop("When off, each row is inserted by itself as it comes."),
				 &zbxhist_enable_batching);

	DefineSwitch("zbxhist.enable_fast_insert",
				 gettext_noop("Plans an INSERT of literals without the planner."),
				 gettext_noop("When off, it is planned as any other and each row goes through the trigger."),
				 &zbxhist_enable_fast_insert);

	DefineSwitch("zbxhist.enable_item_scan",
				 gettext_noop("Reads the newest or oldest rows, one row of each item, rows in the order of their key, or by a list of keys, from the tables that have them."),
				 gettext_noop("When off, PostgreSQL plans such a query for all tables that may have these rows."),
				 &zbxhist_enable_item_scan);

	DefineSwitch("zbxhist.enable_packed_scan_pruning",
				 gettext_noop("Reads only those packed segments that can have rows of the items and clocks asked for."),
				 gettext_noop("When off, all packed days are read and their rows are filtered."),
				 &zbxhist_enable_packed_scan_pruning);

	DefineSwitch("zbxhist.enable_routing",
				 gettext_noop("Routes new rows to the partition of their clock."),
				 gettext_noop("When off, new rows stay in the parent until maintenance moves them."),
				 &zbxhist_enable_routing);
}

/*
 * DefineMaintenanceSettings registers what maintenance and its background
 * worker read.
 */
static void
DefineMaintenanceSettings(void)
{
	DefineCustomStringVariable("zbxhist.databases",
							   gettext_noop("Databases that the background worker maintains, separated by commas."),
							   gettext_noop("Empty means none.  Takes effect only with zbxhist in shared_preload_libraries."),
							   &zbxhist_databases,
							   "",	/* boot value */
							   PGC_SIGHUP,
							   GUC_LIST_INPUT,
							   NULL, NULL, NULL);

	DefineCustomIntVariable("zbxhist.maintenance_interval",
							gettext_noop("Time between two maintenance runs of the background worker."),
							NULL,
							&zbxhist_maintenance_interval,
							900,	/* boot value */
							1, 86400,
							PGC_SIGHUP,
							GUC_UNIT_S,
							NULL, NULL, NULL);

	DefineCustomIntVariable("zbxhist.maintenance_lock_timeout",
							gettext_noop("Longest time that a maintenance step waits for a lock."),
							gettext_noop("A step that does not get its lock is left for the next run."),
							&zbxhist_maintenance_lock_timeout,
							500,	/* boot value */
							1, 60000,
							PGC_USERSET,
							GUC_UNIT_MS,
							NULL, NULL, NULL);

	DefineCustomIntVariable("zbxhist.maintenance_repack_limit",
							gettext_noop("Size of the packed days of a table that maintenance repacks in an hour, or compacts in a run, at most."),
							gettext_noop("A larger day is repacked or compacted alone, and one that was repacked uses up the following hours.  Zero repacks and compacts none."),
							&zbxhist_maintenance_repack_limit,
							4096,	/* boot value */
							0, INT_MAX,
							PGC_USERSET,
							GUC_UNIT_MB,
							NULL, NULL, NULL);
}

/*
 * ZbxhistGucInit registers all settings; called once, by _PG_init.
 */
void
ZbxhistGucInit(void)
{
	DefineDropSettings();
	DefineEnableSettings();
	DefineMaintenanceSettings();
	MarkGUCPrefixReserved("zbxhist");
}
