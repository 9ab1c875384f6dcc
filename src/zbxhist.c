/*-------------------------------------------------------------------------
 *
 * zbxhist.c
 *	  Module entry: what is set up when the library is loaded.
 *
 * The library may be loaded by shared_preload_libraries,
 * session_preload_libraries or the first call of one of its functions,
 * possibly in the middle of the statement whose trigger called it; each Init
 * below has to work in all three.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "compat.h"
#include "guc.h"
#include "hooks.h"
#include "ingest/batch.h"
#include "ingest/counters.h"
#include "ingest/fast_insert.h"
#include "ingest/insert_triggers.h"
#include "maintenance/worker.h"
#include "read/aggregate.h"
#include "read/change.h"
#include "read/item_read.h"
#include "read/item_scan.h"

#define ZBXHIST_VERSION "1.0"

ZBXHIST_MODULE_MAGIC("zbxhist", ZBXHIST_VERSION);

PG_FUNCTION_INFO_V1(zbxhist_is_preloaded);
PG_FUNCTION_INFO_V1(zbxhist_version);

/* loaded before the session's first statement */
static bool is_preloaded = false;

/*
 * _PG_init registers settings, callbacks, plan nodes and hooks, which are taken
 * once everything that they call is ready.
 */
void
_PG_init(void)
{
	is_preloaded = process_shared_preload_libraries_in_progress || IsInitProcessingMode();

	ZbxhistGucInit();
	ZbxhistCountersInit();
	ZbxhistInsertTriggersInit(zbxhist_route);
	ZbxhistBatchInit();
	RegisterCustomScanMethods(&zbxhist_insert_scan.methods);
	RegisterCustomScanMethods(&zbxhist_item_scan.methods);
	RegisterCustomScanMethods(&zbxhist_key_scan.methods);
	RegisterCustomScanMethods(&zbxhist_item_read.methods);
	RegisterCustomScanMethods(&zbxhist_aggregate_scan.methods);
	RegisterCustomScanMethods(&zbxhist_change_scan.methods);
	ZbxhistWorkerInit();
	ZbxhistHooksInit();
}

/*
 * zbxhist_version returns the version of the library, as text.
 */
Datum
zbxhist_version(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(ZBXHIST_VERSION));
}

/*
 * zbxhist_is_preloaded says whether shared_preload_libraries or
 * session_preload_libraries had the library loaded.
 */
Datum
zbxhist_is_preloaded(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(is_preloaded);
}
