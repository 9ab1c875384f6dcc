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
extern void ZbxhistRunCommand(const char *command);

#endif							/* ZBXHIST_WORKER_H */
