/*-------------------------------------------------------------------------
 *
 * attempt.h
 *	  Work that may fail without failing the statement.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ATTEMPT_H
#define ZBXHIST_ATTEMPT_H

extern bool ZbxhistIsBearable(int sqlerrcode);
extern ErrorData *ZbxhistAttemptIf(void (*work) (void *arg), void *arg,
								   bool (*is_expected) (int sqlerrcode));
extern ErrorData *ZbxhistAttempt(void (*work) (void *arg), void *arg);

/* for damage: the same, with the message as error; false if it failed */
extern bool ZbxhistTry(void (*run) (void *), void *arg,
					   bool (*is_expected) (int sqlerrcode), char **error);
extern bool ZbxhistIsDamage(int sqlerrcode);
extern bool ZbxhistIsIndexDamage(int sqlerrcode);

#endif							/* ZBXHIST_ATTEMPT_H */
