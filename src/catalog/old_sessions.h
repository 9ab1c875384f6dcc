/*-------------------------------------------------------------------------
 *
 * old_sessions.h
 *	  Sessions that may have loaded the library of an older version.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_OLD_SESSIONS_H
#define ZBXHIST_OLD_SESSIONS_H

extern int	ZbxhistCountOldSessions(void);

#endif							/* ZBXHIST_OLD_SESSIONS_H */
