/*-------------------------------------------------------------------------
 *
 * worker.h
 *	  The optional background worker.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_WORKER_H
#define ZBXHIST_WORKER_H

extern void ZbxhistWorkerInit(void);

#endif							/* ZBXHIST_WORKER_H */
