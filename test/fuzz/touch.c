/*-------------------------------------------------------------------------
 *
 * touch.c
 *	  Reads values as PostgreSQL does, which trusts the lengths and offsets in
 *	  them.
 *
 * Each function does what one of PostgreSQL's does, without checks of its own.
 * So a sanitizer notices a bad value that the checks have let pass.  A value is
 * in memory of exactly its size, and begins with its length word.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/socket.h>

#include "utils/jsonb.h"

#include "compat.h"
#include "touch.h"

/* a jsonb with deeper containers than this is not read */
#define MAX_DEPTH 1000

static volatile uint8 sink;

static void touch_container(const JsonbContainer *container, int depth);

/* Reads bytes. */
static void
touch(const void *data, size_t length)
{
	size_t		i;

	for (i = 0; i < length; i++)
		sink = ((const uint8 *) data)[i];
}

/* init_var_from_num(), after a copy as of PG_DETOAST_DATUM(). */
static void
touch_numeric(const char *value)
{
	int			nwords = VARSIZE_ANY_EXHDR(value) / sizeof(uint16);
	uint16	   *words = palloc(nwords * sizeof(uint16));
	static int	powers[10000];
	int			i;

	memcpy(words, VARDATA_ANY(value), nwords * sizeof(uint16));
	sink = words[0];
	if ((words[0] & 0xC000) == 0xC000)
		return;
	for (i = (words[0] & 0x8000) ? 1 : 2; i < nwords; i++)
		sink = powers[words[i]];
}

/* getJsonbOffset(). */
static uint32
json_offset(const JsonbContainer *container, int index)
{
	uint32		offset = 0;
	int			i;

	for (i = index - 1; i >= 0; i--)
	{
		offset += JBE_OFFLENFLD(container->children[i]);
		if (JBE_HAS_OFF(container->children[i]))
			break;
	}
	return offset;
}

/* getJsonbLength(). */
static uint32
json_length(const JsonbContainer *container, int index)
{
	uint32		field = JBE_OFFLENFLD(container->children[index]);

	return JBE_HAS_OFF(container->children[index]) ?
		field - json_offset(container, index) : field;
}

/* fillJsonbValue(). */
static void
touch_child(const JsonbContainer *container, int index, const char *base,
			int depth)
{
	uint32		offset = json_offset(container, index);
	uint32		length = json_length(container, index);
	JEntry		entry = container->children[index];

	if (JBE_ISSTRING(entry))
		touch(base + offset, length);
	else if (JBE_ISNUMERIC(entry))
	{
		touch(base + INTALIGN(offset), VARSIZE_ANY(base + INTALIGN(offset)));
		touch_numeric(base + INTALIGN(offset));
	}
	else if (JBE_ISCONTAINER(entry))
		touch_container((const JsonbContainer *) (base + INTALIGN(offset)),
						depth + 1);
}

/* JsonbIteratorNext(). */
static void
touch_container(const JsonbContainer *container, int depth)
{
	uint32		n = JsonContainerSize(container) *
		(JsonContainerIsObject(container) ? 2 : 1);
	uint32		i;

	for (i = 0; i < n && depth < MAX_DEPTH; i++)
		touch_child(container, i, (const char *) &container->children[n],
					depth);
}

/* Reads a value that is stored as for the executor. */
static void
touch_datum(const ValueCheck *check, const char *value)
{
	size_t		size = check->typlen > 0 ? check->typlen : VARSIZE_ANY(value);

	touch(value, size);
	if (check->kind == CHECK_NUMERIC)
		touch_numeric(value);
	else if (check->kind == CHECK_JSONB)
		touch_container(&((const Jsonb *) value)->root, 0);
}

/* Reads a value of a type that is passed by reference. */
void
touch_value(const ValueCheck *check, const char *data, size_t length)
{
	size_t		header = check->typlen > 0 ? 0 : VARHDRSZ;
	char	   *value = palloc(header + length);

	memcpy(value + header, data, length);
	if (header > 0)
		SET_VARSIZE(value, header + length);
	touch_datum(check, value);
	pfree(value);
}
