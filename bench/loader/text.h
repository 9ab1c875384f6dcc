#ifndef LOADER_TEXT_H
#define LOADER_TEXT_H

#include <stddef.h>

#include "stream.h"

/* Zabbix's ZBX_MAX_OVERFLOW_SQL_SIZE: a longer statement is cut */
#define TEXT_MAX_STATEMENT 262144

typedef struct Text
{
	char	   *data;
	size_t		length;
	size_t		size;
} Text;

extern void text_reset(Text *text);
extern int	text_insert(Text *text, ValueType type, const Value *values,
						int count, int from, int *rows);
extern void text_select_keys(Text *text, ValueType type, const Value *values,
							 int count);
extern void text_copy_row(Text *text, const Value *value);

#endif							/* LOADER_TEXT_H */
