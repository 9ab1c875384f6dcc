/*-------------------------------------------------------------------------
 *
 * row_map.h
 *	  How the rows of a packed day become rows of the table that has it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ROW_MAP_H
#define ZBXHIST_ROW_MAP_H

#include "format/layout.h"

typedef struct RowMap RowMap;

extern void ZbxhistRenameColumns(DayLayout *layout, const List *renamed);
extern void ZbxhistMarkReplaced(DayLayout *layout, Relation table);
extern bool ZbxhistHasColumnsOf(Relation day, Relation table);
extern RowMap *ZbxhistCreateRowMap(Relation day, const DayLayout *layout,
								   Relation table, const bool *wanted);
extern void ZbxhistAddPackedWanted(const RowMap *map, bool *packed);
extern const LayoutColumn *ZbxhistDirectColumn(const RowMap *map,
											   int attribute);
extern void ZbxhistMapSegment(RowMap *map, const SegmentRows *rows);
extern void ZbxhistMapRow(RowMap *map, int row, Datum *values, bool *isnull);

#endif							/* ZBXHIST_ROW_MAP_H */
