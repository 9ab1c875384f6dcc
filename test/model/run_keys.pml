/*
 * run_keys.pml
 *	  A key in a table of runs: who stores, changes, merges and packs it.
 *
 * Runs have no unique index.  That a key is stored once all the same is the work
 * of an order of steps: a session that stores a row looks for its key afterwards,
 * by a snapshot that sees what others have not committed yet, and waits for these
 * (src/ingest/run_keys.c, key_look.c).  Rows move meanwhile: a merge, an UPDATE and
 * packing write them anew elsewhere (src/rows/merge_lock.c), and a session that
 * cannot have the table stores its row in the parent (src/rows/stray.c).  Spin
 * tries every order of these steps:
 *
 *		spin -a run_keys.pml && cc -O2 -DSAFETY -o pan pan.c && ./pan
 *
 * Two sessions store the same key, a third one deletes or updates it, a worker
 * merges, maintenance packs.  Each of them commits, or is broken off before any
 * of its steps; all at once is a crash, whose locks and snapshots are gone as
 * well.  Only one key is looked at, for sessions with different keys have nothing
 * in common.  A row of the table is a run that has the key.
 *
 * What must hold, whenever somebody commits or is broken off: the key is there
 * once or not at all, as those who have committed say; who gets a 23505 gets it
 * for a row that is there; nobody waits without end.
 *
 * With -DFILTER keys that are new need no look (src/ingest/stored_keys.c).  With
 * -DOMIT_... a step is left out, and Spin must find what comes of it
 * (test/house/model lists them).  -DOMIT_CHANGER, -DOMIT_MERGER and -DOMIT_PACKER
 * leave one of the five out, which makes it a matter of seconds.
 */

#define ROWS		5			/* of the table of runs */

/* transactions */
#define NOBODY		0
#define FIRST		1
#define SECOND		2
#define CHANGER		3
#define MERGER		4
#define PACKER		5
#define OLD			6			/* whose row was there before */
#define TRANSACTIONS 7

#define RUNNING		1
#define COMMITTED	2
#define ABORTED		3

byte state[TRANSACTIONS];

/* the table of runs, the packed day that comes after it, and the parent */
byte xmin[ROWS];
byte xmax[ROWS];
bool is_packed;					/* the table is gone */
bool day_has_key;				/* and the day that is there instead has it */
bool in_parent[3];				/* a row of FIRST, of SECOND */

/* what must be there */
byte present;

/* locks on the table of runs */
byte writers;					/* ROW EXCLUSIVE: INSERT, UPDATE, DELETE */
byte lookers;					/* ACCESS SHARE: who looks for a key there */
bool merges;					/* SHARE UPDATE EXCLUSIVE */
bool packs;						/* SHARE, and for the drop ACCESS EXCLUSIVE */
bool drops;

/* the lock of who changes rows, the merge lock, the strays lock */
bool changes;
bool merge_lock;				/* EXCLUSIVE: a merge */
bool change_lock;				/* ROW EXCLUSIVE: a change */
byte looks;						/* SHARE: a look */
byte strays;					/* ROW EXCLUSIVE, of whom: a bit each */
bool mark[3];

/*
 * Who waits may be broken off, too; with -DPATIENT nobody is, so that a wait
 * without end is a state in which nothing can be done any more.
 */
#ifdef PATIENT
#define or_is_broken_off
#else
#define or_is_broken_off	:: goto broken
#endif

#ifdef FILTER
/* the filter of keys that have been stored lately */
bool in_filter;					/* the key is */
bool knows_table;				/* which keys of the table it has is known: */
bool has_all;					/* all from ours on */
byte times_known;				/* a table has been made known so often */
#endif

/* who waits for whom */
byte waits[TRANSACTIONS];

#define is_over(x)		(state[x] == COMMITTED || state[x] == ABORTED)
#define is_dead(x)		(x != NOBODY && state[x] == COMMITTED)
#define live(i)			(xmin[i] != NOBODY && state[xmin[i]] == COMMITTED && !is_dead(xmax[i]))

/*
 * The key is there as often as those who have committed say.
 */
inline check_rows()
{
	n = 0;
	if
	:: is_packed -> n = day_has_key
	:: else ->
		for (i : 0 .. ROWS - 1) {
			if
			:: live(i) -> n++
			:: else
			fi
		}
	fi;
	if :: in_parent[FIRST] && state[FIRST] == COMMITTED -> n++ :: else fi;
	if :: in_parent[SECOND] && state[SECOND] == COMMITTED -> n++ :: else fi;
	assert(n == present);
	assert(present <= 1);
	i = 0;
	n = 0
}

/*
 * A row is written where there is room, before or after what others have read
 * already.
 */
inline write_row(me)
{
	if
	:: i = 0;
		do
		:: xmin[i] != NOBODY -> i++
		:: else -> break
		od
	:: i = ROWS - 1;
		do
		:: xmin[i] != NOBODY -> i--
		:: else -> break
		od
	fi;
	xmin[i] = me;
	i = 0
}

#define in_snapshot(x)	(x != NOBODY && (snapshot & (1 << x)))

inline take_snapshot()
{
	snapshot = 0;
	for (i : 1 .. TRANSACTIONS - 1) {
		if
		:: state[i] == COMMITTED -> snapshot = snapshot | (1 << i)
		:: else
		fi
	}
	i = 0
}

/*
 * Finds the row that a snapshot sees.
 */
inline find_row()
{
	take_snapshot();
	do
	:: i < ROWS && !(in_snapshot(xmin[i]) && !in_snapshot(xmax[i])) -> i++
	:: else -> break
	od;
	row = i;
	i = 0;
	snapshot = 0
}

/* ---- a session that stores the key ---- */

#define FREE	0
#define UNSURE	1
#define TAKEN	2

/*
 * A look at a row by a dirty snapshot.
 */
inline look_dirty(me)
{
	if
	:: xmin[i] == NOBODY || xmin[i] == me || state[xmin[i]] == ABORTED || is_dead(xmax[i]) -> skip
	:: else ->
		if
		:: state[xmin[i]] == RUNNING -> result = UNSURE; whom = xmin[i]
		:: state[xmin[i]] == COMMITTED && xmax[i] != NOBODY && state[xmax[i]] == RUNNING ->
			result = UNSURE; whom = xmax[i]
		:: else -> result = TAKEN; assert(present == 1)
		fi
	fi
}

/*
 * A look at a row by a snapshot of now, and, if it sees it, at what it is now.
 */
inline look_fresh(me)
{
	if
	:: in_snapshot(xmin[i]) && !in_snapshot(xmax[i]) && xmin[i] != me ->
		if
		:: is_dead(xmax[i]) -> result = UNSURE; whom = NOBODY
		:: xmax[i] != NOBODY && state[xmax[i]] == RUNNING ->
			result = UNSURE; whom = xmax[i]
		:: else -> result = TAKEN; assert(present == 1)
		fi
	:: else
	fi
}

/*
 * Waits for a transaction.  Two that wait for each other are a deadlock, which
 * PostgreSQL ends by an error of one of them.
 */
inline wait_for(me)
{
	if
	:: whom == NOBODY
	:: else ->
		waits[me] = whom;
		if
		:: atomic { is_over(whom) -> waits[me] = NOBODY }
		:: waits[whom] == me -> goto broken
		or_is_broken_off
		fi
	fi
}

/*
 * Looks for the key in the table of runs.
 */
inline look_in_runs(me)
{
	do
	:: true ->
		atomic {
			result = FREE;
			whom = NOBODY;
			is_fresh = false;
			if
			:: !merge_lock && !change_lock -> looks++; has_look = true
			:: else -> has_look = false; is_fresh = true
			fi;
#ifdef OMIT_SECOND_LOOK
			is_fresh = false;
#endif
#ifdef OMIT_NEW_SNAPSHOT
			take_snapshot();
#endif
			i = 0
		}
		do
		:: i < ROWS && result == FREE -> d_step { look_dirty(me); i++ }
		:: else -> break
		od;
		atomic {
			if :: has_look -> looks--; has_look = false :: else fi;
			i = 0
		}
		if
		:: result == FREE && is_fresh ->
#ifndef OMIT_NEW_SNAPSHOT
			d_step { take_snapshot() }
#endif
			do
			:: i < ROWS && result == FREE -> d_step { look_fresh(me); i++ }
			:: else -> break
			od
		:: else
		fi;
		atomic { i = 0; snapshot = 0; is_fresh = false }
#ifdef OMIT_WAIT
		if :: result == UNSURE -> result = FREE :: else fi;
#endif
		if
		:: result == UNSURE -> wait_for(me)
		:: else -> break
		fi
	od
}

#ifdef FILTER
/*
 * Adds the key to the filter, who has stored it; is_new if nobody else can have
 * stored it before (src/ingest/stored_keys.c).
 */
inline add_to_filter()
{
	is_new = knows_table && has_all && !in_filter;
	in_filter = in_filter || knows_table
}

inline note_key(me)
{
	if
	:: d_step { knows_table -> add_to_filter() }
	:: atomic { !knows_table -> count = times_known };
		/* others' rows, whatever has become of them */
		do
		:: i < ROWS -> d_step { if :: xmin[i] != NOBODY && xmin[i] != me -> seen = true :: else fi; i++ }
		:: else -> break
		od;
		atomic {
			if
			:: !knows_table && count == times_known ->
				knows_table = true;
				has_all = !seen;
				times_known++
			:: else
			fi;
			add_to_filter();
			i = 0;
			seen = false;
			count = 0
		}
	fi
}
#endif

/*
 * Looks for the key in the parent, where its index finds it.
 */
inline look_in_parent(me, other)
{
	do
	:: true ->
		d_step {
			result = FREE;
			whom = NOBODY;
			if
			:: in_parent[other] && state[other] == COMMITTED -> result = TAKEN; assert(present == 1)
			:: in_parent[other] && state[other] == RUNNING -> result = UNSURE; whom = other
			:: else
			fi
		}
		if
		:: result == UNSURE -> wait_for(me)
		:: else -> break
		fi
	od
}

#define my_bit(me)	(1 << me)

inline end_session(me, how)
{
	state[me] = how;
	writers = writers & ~my_bit(me);
	lookers = lookers & ~my_bit(me);
	strays = strays & ~my_bit(me);
	waits[me] = NOBODY;
	if :: has_look -> looks--; has_look = false :: else fi;
	result = FREE;
	whom = NOBODY;
	snapshot = 0;
	is_fresh = false;
	i = 0;
	check_rows()
}

inline look_or_filter(me)
{
#ifdef FILTER
	note_key(me);
	if
	:: is_new -> skip
	:: else ->
		look_in_runs(me);
		if :: result == TAKEN -> goto broken :: else fi
	fi
#else
	look_in_runs(me);
	if :: result == TAKEN -> goto broken :: else fi
#endif
}

proctype Inserter(byte me; byte other)
{
#ifdef FILTER
	byte count;
	bool seen, is_new;
#endif
	byte i, n, result, whom, snapshot;
	bool is_fresh, has_look;

	state[me] = RUNNING;
	if
	:: atomic { !is_packed && !packs && !drops -> writers = writers | my_bit(me) }
		/* the table is its: the row becomes a run */
#ifdef OMIT_STORE_FIRST
		look_or_filter(me);
		atomic { write_row(me) };
#else
		atomic { write_row(me) };
		look_or_filter(me);
#endif
		/* are there strays? */
		if
		:: (strays != 0 || (mark[other] && state[other] == COMMITTED)) ->
			look_in_parent(me, other);
			if :: result == TAKEN -> goto broken :: else fi
		:: else
		fi
	:: atomic { is_packed || packs || drops ->
			/* it goes to the parent, as a stray: others are told of it first */
#ifndef OMIT_MARK
			mark[me] = true;
			strays = strays | my_bit(me);
#endif
		}
		do
		:: look_in_parent(me, other);
			if
			:: result == TAKEN -> goto broken
			:: else
			fi;
			/* the index waits, or stores, in one step */
			if
			:: atomic { !(in_parent[other] && state[other] != ABORTED) -> in_parent[me] = true }; break
			:: else
			fi
		od;
		/* the table, or what has come in its place */
		if
		:: atomic { !is_packed && !drops -> lookers = lookers | my_bit(me) };
			look_in_runs(me);
			if :: result == TAKEN -> goto broken :: else fi
		:: atomic { is_packed ->
				if
				:: day_has_key -> assert(present == 1); goto broken
				:: else
				fi
			}
		fi
	fi;
	if
	:: atomic { true -> present++; end_session(me, COMMITTED) }; goto done
	:: true
	fi;
broken:
	atomic { end_session(me, ABORTED) };
done:
	skip
}

/* ---- a session that deletes or updates the row ---- */

proctype Changer()
{
	byte i, n, row, snapshot;
	bool deletes;
	byte how = ABORTED;

	if
	:: atomic { !is_packed && !packs && !drops ->
			state[CHANGER] = RUNNING; writers = writers | my_bit(CHANGER) }
	:: goto idle
	fi;
	/* a merge is waited for */
	if :: atomic { !merges -> changes = true } or_is_broken_off fi;
#ifndef OMIT_MERGE_LOCK
	/* looks are waited for, which wait for nobody */
	if :: atomic { !merge_lock && looks == 0 -> change_lock = true } or_is_broken_off fi;
#endif
	/* what it sees it locks: nobody else may have changed it */
	d_step { find_row() }
	atomic {
		if
		:: row == ROWS || (xmax[row] != NOBODY && state[xmax[row]] != ABORTED) -> goto broken
		:: else -> xmax[row] = CHANGER
		fi
	}
	if
	:: deletes = true
	:: atomic { write_row(CHANGER) }
	fi;
	if
	:: how = COMMITTED
	:: true
	fi;
broken:
	atomic {
		state[CHANGER] = how;
		if :: how == COMMITTED && deletes -> present-- :: else fi;
		deletes = false;
		writers = writers & ~my_bit(CHANGER);
		if :: changes -> changes = false :: else fi;
		if :: change_lock -> change_lock = false :: else fi;
		row = 0;
		check_rows()
	}
idle:
	skip
}

/* ---- a worker that merges ---- */

proctype Merger()
{
	byte i, n, row, snapshot;
	byte how = ABORTED;

	/* locks that are tried only, and the merge lock */
	if
	:: atomic { !is_packed && !packs && !drops && !changes ->
			state[MERGER] = RUNNING; merges = true }
	:: goto idle
	fi;
#ifndef OMIT_MERGE_LOCK
	if :: atomic { looks == 0 && !change_lock -> merge_lock = true } or_is_broken_off fi;
#endif
	d_step { find_row() }
	atomic {
		if
		:: row == ROWS -> goto broken
		:: else ->
			assert(xmax[row] == NOBODY || state[xmax[row]] == ABORTED);
			xmax[row] = MERGER
		fi
	}
	atomic { write_row(MERGER) };
	if
	:: how = COMMITTED
	:: true
	fi;
broken:
	atomic {
		state[MERGER] = how;
		merges = false;
		if :: merge_lock -> merge_lock = false :: else fi;
		row = 0;
		check_rows()
	}
idle:
	skip
}

/* ---- maintenance that packs ---- */

proctype Packer()
{
	byte i, n, row, snapshot;
	byte how = ABORTED;

	/* who writes is waited for, for some time */
	if
	:: atomic { writers == 0 && !merges -> state[PACKER] = RUNNING; packs = true }
	:: goto idle
	fi;
	/* nobody writes meanwhile */
	d_step { find_row() }
	/* who looks, too */
	if
	:: atomic { lookers == 0 -> drops = true }
	:: goto broken
	fi;
	if
	:: atomic { true -> how = COMMITTED; is_packed = true; day_has_key = (row < ROWS) }
	:: true
	fi;
broken:
	atomic {
		state[PACKER] = how;
		packs = false;
		drops = false;
		row = 0;
		check_rows()
	}
idle:
	skip
}

#ifdef FILTER
/* ---- other tables and keys, for which there is no room ---- */

proctype Others()
{
	byte n;

	do
	:: n < 2 ->
		if
		:: d_step { knows_table = false; times_known++ }
		:: d_step { if :: in_filter -> in_filter = false; has_all = false :: else fi }
		fi;
		n++
	:: break
	od
}
#endif

init
{
	atomic {
		state[OLD] = COMMITTED;
		if
		:: xmin[2] = OLD; present = 1
		:: true
		fi;
		run Inserter(FIRST, SECOND);
		run Inserter(SECOND, FIRST);
#ifndef OMIT_CHANGER
		run Changer();
#endif
#ifdef FILTER
		run Others();
#endif
#ifndef OMIT_MERGER
		run Merger();
#endif
#ifndef OMIT_PACKER
		run Packer();
#endif
		skip
	}
}
