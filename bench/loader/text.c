/*
 * text.c
 *		The SQL text that Zabbix sends, exactly.
 *
 * Column order, number formats and the cut at 256 kB follow Zabbix 6.0 and
 * 7.0 (src/libs/zbxhistory/history_sql.c, zbx_db_insert_execute()).
 */
#include "text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct TypeText
{
	const char *table;
	const char *columns;
} TypeText;

static const TypeText type_texts[VALUE_TYPES] = {
	[VALUE_FLOAT] = {"history", "itemid,clock,ns,value"},
	[VALUE_STR] = {"history_str", "itemid,clock,ns,value"},
	[VALUE_LOG] = {"history_log",
	"itemid,clock,ns,timestamp,source,severity,value,logeventid"},
	[VALUE_UINT] = {"history_uint", "itemid,clock,ns,value"},
	[VALUE_TEXT] = {"history_text", "itemid,clock,ns,value"},
};

/* Makes room for more bytes and a terminating zero. */
static void
text_reserve(Text *text, size_t more)
{
	size_t		needed = text->length + more + 1;

	if (needed <= text->size)
		return;
	text->size = needed * 2;
	text->data = realloc(text->data, text->size);
	if (text->data == NULL)
	{
		fprintf(stderr, "loader: out of memory\n");
		exit(1);
	}
}

/* Appends a string. */
static void
text_append(Text *text, const char *string)
{
	size_t		length = strlen(string);

	text_reserve(text, length);
	memcpy(text->data + text->length, string, length + 1);
	text->length += length;
}

/* Appends formatted text of at most 200 bytes. */
static void __attribute__((format(printf, 2, 3)))
text_printf(Text *text, const char *format, ...)
{
	va_list		args;

	text_reserve(text, 200);
	va_start(args, format);
	text->length += vsnprintf(text->data + text->length, 200, format, args);
	va_end(args);
}

/* Appends an unsigned number, several times faster than printf. */
static void
text_number(Text *text, uint64_t number)
{
	char		digits[20];
	int			count = 0;

	text_reserve(text, sizeof(digits));
	do
		digits[count++] = '0' + number % 10;
	while ((number /= 10) != 0);
	while (count > 0)
		text->data[text->length++] = digits[--count];
	text->data[text->length] = '\0';
}

/* Empties the text but keeps its memory. */
void
text_reset(Text *text)
{
	text->length = 0;
	text_reserve(text, 1024);
	text->data[0] = '\0';
}

/*
 * The double of a value.  A third each are percentages with two decimals, rates
 * with all digits, and large round numbers.
 */
double
value_double(const Value *value)
{
	uint64_t	random = value->random >> 8;

	switch (value->itemid % 3)
	{
		case 0:
			return (double) (random % 10000) / 100;
		case 1:
			return (double) (random & 0xfffffffffffffULL) / 3e11;
		default:
			return (double) (random % 4096) * 1048576;
	}
}

/* The unsigned number of a value: a state, a byte count or a 64-bit counter. */
uint64_t
value_uint(const Value *value)
{
	switch (value->itemid % 3)
	{
		case 0:
			return value->random % 4;
		case 1:
			return value->random % 68719476736ULL;
		default:
			return value->random;
	}
}

/* The severity of a log value. */
int
value_severity(const Value *value)
{
	return value->random % 5;
}

/* Several lines of program output; returns their length. */
static size_t
text_lines(const Value *value, char *string)
{
	int			lines = 1 + value->random % 12;
	size_t		length = 0;

	for (int i = 0; i < lines; i++)
		length += snprintf(string + length, TEXT_MAX_STRING - length,
						   "eth%d: rx %" PRIu64 " tx %" PRIu64
						   " errors 0 dropped 0 \\ mtu 1500\n", i,
						   stream_hash(value->random + i) % 1000000000,
						   stream_hash(value->random - i) % 1000000000);
	return length;
}

/*
 * The string of a value, of at most TEXT_MAX_STRING bytes.  It has quotes, which
 * SQL wants doubled.  Returns its length.
 */
size_t
value_string(const Value *value, char *string)
{
	switch (value->type)
	{
		case VALUE_STR:
			return snprintf(string, TEXT_MAX_STRING,
							"service 'node%d' is up, code %d",
							(int) (value->itemid % 97),
							(int) (value->random % 7));
		case VALUE_LOG:
			return snprintf(string, TEXT_MAX_STRING,
							"host sshd[%d]: Accepted publickey for "
							"'user%d' from 192.0.2.%d port %d",
							(int) (value->random % 32768),
							(int) (value->random % 50),
							(int) (value->random % 254),
							(int) (1024 + value->random % 60000));
		default:
			return text_lines(value, string);
	}
}

/* Appends a value's string as a literal. */
static void
text_append_literal(Text *text, const Value *value)
{
	char		string[TEXT_MAX_STRING];
	size_t		length = value_string(value, string);

	text_reserve(text, length * 2 + 2);
	text->data[text->length++] = '\'';
	for (size_t i = 0; i < length; i++)
	{
		if (string[i] == '\'')
			text->data[text->length++] = '\'';
		text->data[text->length++] = string[i];
	}
	text->data[text->length++] = '\'';
	text->data[text->length] = '\0';
}

/* Appends the columns after ns. */
static void
text_append_value(Text *text, const Value *value)
{
	switch (value->type)
	{
		case VALUE_FLOAT:
			text_printf(text, "%.17G", value_double(value));
			break;
		case VALUE_UINT:
			text_number(text, value_uint(value));
			break;
		case VALUE_STR:
		case VALUE_TEXT:
			text_append_literal(text, value);
			break;
		case VALUE_LOG:
			text_printf(text, "%d,'',%d,", value->clock, value_severity(value));
			text_append_literal(text, value);
			text_append(text, ",0");
			break;
	}
}

/* Appends "(itemid,clock,ns,value)". */
static void
text_append_row(Text *text, const Value *value)
{
	text_append(text, "(");
	text_number(text, value->itemid);
	if (value->clock < 0)
		text_printf(text, ",%d,", value->clock);
	else
	{
		text_append(text, ",");
		text_number(text, value->clock);
		text_append(text, ",");
	}
	text_number(text, value->ns);
	text_append(text, ",");
	text_append_value(text, value);
	text_append(text, ")");
}

/*
 * Writes the next INSERT of one type, starting at values[from].
 *
 * Returns where the next statement begins, or count at the end of the batch.
 * *rows is the number of rows of this statement, 0 if none are left.
 */
int
text_insert(Text *text, ValueType type, const Value *values, int count,
			int from, int *rows)
{
	int			i;

	text_reset(text);
	*rows = 0;
	for (i = from; i < count && text->length <= TEXT_MAX_STATEMENT; i++)
	{
		if (values[i].type != type || values[i].is_duplicate)
			continue;
		if (*rows == 0)
			text_printf(text, "insert into %s (%s) values ",
						type_texts[type].table, type_texts[type].columns);
		else
			text_append(text, ",");
		text_append_row(text, &values[i]);
		(*rows)++;
	}
	text_append(text, ";\n");
	return i;
}

/*
 * Writes the query by which Zabbix finds the duplicates of a batch; the text
 * stays empty if the batch has no value of the type.
 */
void
text_select_keys(Text *text, ValueType type, const Value *values, int count)
{
	const char *separator = " where ";

	text_reset(text);
	for (int i = 0; i < count; i++)
	{
		if (values[i].type != type)
			continue;
		if (text->length == 0)
			text_printf(text, "select itemid,clock,ns from %s",
						type_texts[type].table);
		text_append(text, separator);
		text_printf(text, "(itemid=%ld and clock=%d and ns=%d)",
					values[i].itemid, values[i].clock, values[i].ns);
		separator = " or ";
	}
}

/* Writes the query that reads all rows of a type. */
void
text_select_all(Text *text, ValueType type)
{
	text_reset(text);
	text_printf(text, "select itemid,clock,ns,value%s from %s",
				type == VALUE_LOG ? ",timestamp,severity" : "",
				type_texts[type].table);
}

/* Appends a line of COPY's text format: itemid, clock, value, ns. */
void
text_copy_row(Text *text, const Value *value)
{
	text_number(text, value->itemid);
	text_printf(text, "\t%d\t", value->clock);
	text_append_value(text, value);
	text_append(text, "\t");
	text_number(text, value->ns);
	text_append(text, "\n");
}
