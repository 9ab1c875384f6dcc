/*
 * driver.c
 *		The drivers by name.
 */
#include "driver.h"

#include <stddef.h>
#include <string.h>

static const Driver *const drivers[] = {
	&driver_postgres,
#ifdef HAVE_MARIADB
	&driver_mariadb,
#endif
};

/* The driver of a name; NULL if there is none, or it was not built. */
const Driver *
driver_by_name(const char *name)
{
	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
		if (strcmp(drivers[i]->name, name) == 0)
			return drivers[i];
	return NULL;
}
