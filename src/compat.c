/*-------------------------------------------------------------------------
 *
 * compat.c
 *	  What compat.h needs a function body and state for.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#if PG_VERSION_NUM < 170000

bool		zbxhist_shmem_requested = false;

static Size requested_size = 0;
static shmem_request_hook_type prev_shmem_request = NULL;

/*
 * RequestShmem asks for the memory when the server adds up what it needs.
 */
static void
RequestShmem(void)
{
	if (prev_shmem_request)
		(*prev_shmem_request) ();
	RequestAddinShmemSpace(requested_size);
}

/*
 * zbxhist_request_shmem prepares for size bytes of shared memory, if the
 * library is being loaded by shared_preload_libraries.
 */
void
zbxhist_request_shmem(Size size)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	requested_size = size;
	prev_shmem_request = shmem_request_hook;
	shmem_request_hook = RequestShmem;
	zbxhist_shmem_requested = true;
}

#endif
