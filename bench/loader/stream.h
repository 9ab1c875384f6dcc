#ifndef LOADER_STREAM_H
#define LOADER_STREAM_H

#include <stdbool.h>
#include <stdint.h>

/* in the order in which Zabbix writes the types of a batch */
typedef enum ValueType
{
	VALUE_FLOAT,
	VALUE_STR,
	VALUE_LOG,
	VALUE_UINT,
	VALUE_TEXT
} ValueType;

#define VALUE_TYPES (VALUE_TEXT + 1)

/* all items of one type, or all five types in the shares of a real Zabbix */
typedef enum Mix
{
	MIX_FLOAT = VALUE_FLOAT,
	MIX_STR = VALUE_STR,
	MIX_LOG = VALUE_LOG,
	MIX_UINT = VALUE_UINT,
	MIX_TEXT = VALUE_TEXT,
	MIX_ZABBIX
} Mix;

typedef struct StreamOptions
{
	uint64_t	seed;
	long		items;
	long		first_itemid;
	int			clock;			/* of the first pass */
	int			step;			/* simulated seconds of a pass */
	int			spread;			/* clocks go back so many seconds */
	int			batch;			/* values per batch */
	Mix			mix;
} StreamOptions;

typedef struct Value
{
	long		itemid;
	int			clock;
	int			ns;
	ValueType	type;
	uint64_t	random;			/* the value's text is made from this */
	bool		is_duplicate;	/* found in the table after a 23505 */
} Value;

typedef struct Stream
{
	StreamOptions options;
	long	   *order;			/* items in the order in which they are due */
	long		batches_per_pass;
} Stream;

extern void stream_init(Stream *stream, const StreamOptions *options);
extern int	stream_batch(const Stream *stream, long batch, Value *values);
extern void stream_value(const Stream *stream, long item, long pass,
						 Value *value);
extern bool stream_has_type(const StreamOptions *options, ValueType type);
extern uint64_t stream_hash(uint64_t x);

#endif							/* LOADER_STREAM_H */
