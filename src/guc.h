/*-------------------------------------------------------------------------
 *
 * guc.h
 *	  The extension's settings.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_GUC_H
#define ZBXHIST_GUC_H

extern bool zbxhist_allow_packed_drop;
extern bool zbxhist_enable_aggregate_scan;
extern bool zbxhist_enable_batching;
extern bool zbxhist_enable_fast_insert;
extern bool zbxhist_enable_item_scan;
extern bool zbxhist_enable_packed_scan_pruning;
extern bool zbxhist_enable_routing;
extern char *zbxhist_databases;
extern int	zbxhist_maintenance_interval;	/* seconds */
extern int	zbxhist_maintenance_lock_timeout;	/* milliseconds */
extern int	zbxhist_maintenance_repack_limit;	/* megabytes */

extern void ZbxhistGucInit(void);

#endif							/* ZBXHIST_GUC_H */
