/*-------------------------------------------------------------------------
 *
 * damage_note.h
 *	  Notes of damage that queries have met.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DAMAGE_NOTE_H
#define ZBXHIST_DAMAGE_NOTE_H

extern void ZbxhistNoteDamage(Oid day);

#endif							/* ZBXHIST_DAMAGE_NOTE_H */
