/*-------------------------------------------------------------------------
 *
 * touch.h
 *	  Reads values as PostgreSQL does.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_TOUCH_H
#define ZBXHIST_TOUCH_H

#include "format/value_check.h"

extern void touch_value(const ValueCheck *check, const char *data,
						size_t length);

#endif							/* ZBXHIST_TOUCH_H */
