/*-------------------------------------------------------------------------
 *
 * value_check_jsonb.c
 *	  Checks of jsonb, a tree of containers; see utils/jsonb.h.
 *
 * Lengths and ends of a container's children are in its header, one after the
 * other; what they are of follows, in the same order and without gaps.  All of
 * that is what jsonb's output functions go by without looking twice.  Keys are
 * sorted, the shorter one first, and there is each but once: lookups rely on
 * it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/jsonb.h"

#include "compat.h"
#include "packed/values/value_check.h"

/* the bytes of a jsonb, where those of what they are part of begin */
typedef struct JsonBytes
{
	const char *data;			/* at any address */
	size_t		length;
} JsonBytes;

static bool IsContainer(JsonBytes bytes, bool is_root);

/*
 * GetWord reads a word.
 */
static uint32
GetWord(JsonBytes bytes, size_t offset)
{
	uint32		word;

	memcpy(&word, bytes.data + offset, sizeof(word));
	return word;
}

/*
 * IsNumberImage says whether bytes are a numeric with its length word.
 */
static bool
IsNumberImage(JsonBytes bytes)
{
	varattrib_4b header;

	if (bytes.length < VARHDRSZ)
		return false;
	memset(&header, 0, sizeof(header));
	memcpy(&header, bytes.data, VARHDRSZ);
	return VARATT_IS_4B_U(&header) && VARSIZE_4B(&header) == bytes.length &&
		ZbxhistIsValidNumeric(bytes.data + VARHDRSZ, bytes.length - VARHDRSZ,
							  -1);
}

/*
 * IsChild says whether the bytes between two offsets of a container's contents
 * are what its entry says.  Numbers and containers are aligned.
 */
static bool
IsChild(JEntry entry, JsonBytes contents, size_t start, size_t end)
{
	size_t		aligned = INTALIGN(start);
	JsonBytes	bytes = {contents.data + start, end - start};

	switch (entry & JENTRY_TYPEMASK)
	{
		case JENTRY_ISSTRING:
			return is_valid_text(bytes.data, bytes.length);
		case JENTRY_ISBOOL_FALSE:
		case JENTRY_ISBOOL_TRUE:
		case JENTRY_ISNULL:
			return bytes.length == 0;
		case JENTRY_ISNUMERIC:
		case JENTRY_ISCONTAINER:
			if (aligned > end)
				return false;
			bytes.data = contents.data + aligned;
			bytes.length = end - aligned;
			return JBE_ISNUMERIC(entry) ? IsNumberImage(bytes) :
				IsContainer(bytes, false);
		default:
			return false;
	}
}

/*
 * IsKeyBefore says whether a key comes before another one.
 */
static bool
IsKeyBefore(JsonBytes left, JsonBytes right)
{
	if (left.length != right.length)
		return left.length < right.length;
	return memcmp(left.data, right.data, left.length) < 0;
}

/*
 * AreChildren says whether the children of a container are good, the first
 * nkeys of them as keys of an object.
 */
static bool
AreChildren(JsonBytes bytes, uint32 nchildren, uint32 nkeys)
{
	size_t		header = sizeof(uint32) * (1 + (size_t) nchildren);
	JsonBytes	contents = {bytes.data + header, bytes.length - header};
	JsonBytes	last = {NULL, 0};
	size_t		start = 0;

	for (uint32 i = 0; i < nchildren; i++)
	{
		JEntry		entry = GetWord(bytes, sizeof(uint32) * (1 + (size_t) i));
		size_t		end = JBE_HAS_OFF(entry) ? JBE_OFFLENFLD(entry) :
			start + JBE_OFFLENFLD(entry);

		if (end < start || end > contents.length ||
			!IsChild(entry, contents, start, end))
			return false;
		if (i < nkeys)
		{
			JsonBytes	key = {contents.data + start, end - start};

			if (!JBE_ISSTRING(entry) || (i > 0 && !IsKeyBefore(last, key)))
				return false;
			last = key;
		}
		start = end;
	}
	return start == contents.length;
}

/*
 * IsContainer says whether bytes are an array or an object; a single value is
 * an array of its own kind, at the root only.
 */
static bool
IsContainer(JsonBytes bytes, bool is_root)
{
	uint32		header;
	uint32		count;
	uint64		nchildren;

	check_stack_depth();
	if (bytes.length < sizeof(header))
		return false;
	header = GetWord(bytes, 0);
	count = header & JB_CMASK;
	nchildren = count;
	switch (header & ~JB_CMASK)
	{
		case JB_FARRAY:
			break;
		case JB_FOBJECT:
			nchildren *= 2;
			break;
		case JB_FARRAY | JB_FSCALAR:
			if (!is_root || count != 1)
				return false;
			break;
		default:
			return false;
	}
	if (nchildren > (bytes.length - sizeof(header)) / sizeof(JEntry))
		return false;
	if ((header & JB_FSCALAR) != 0 &&
		JBE_ISCONTAINER(GetWord(bytes, sizeof(header))))
		return false;
	return AreChildren(bytes, (uint32) nchildren,
					   (header & JB_FOBJECT) != 0 ? count : 0);
}

/*
 * ZbxhistIsValidJsonb says whether bytes are a jsonb.
 */
bool
ZbxhistIsValidJsonb(const char *data, size_t length)
{
	JsonBytes	bytes = {data, length};

	return IsContainer(bytes, true);
}
