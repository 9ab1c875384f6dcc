#ifndef LOADER_TEXT_H
#define LOADER_TEXT_H

#include <stddef.h>

#include "stream.h"

/* Zabbix's ZBX_MAX_OVERFLOW_SQL_SIZE: a longer statement is cut */
#define TEXT_MAX_STATEMENT 262144

/* the longest string of a value, with its terminating zero */
#define TEXT_MAX_STRING 2048

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
extern void text_select_all(Text *text, ValueType type);
extern void text_copy_row(Text *text, const Value *value);
extern double value_double(const Value *value);
extern uint64_t value_uint(const Value *value);
extern size_t value_string(const Value *value, char *string);
extern int	value_severity(const Value *value);

#endif							/* LOADER_TEXT_H */
