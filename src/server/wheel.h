/* Deadlines of many connections, at one timer's cost: a wheel of slots, each the list of what is due in its tick.
 *
 * Moving a deadline away, as every request of a connection does, only writes a number: the entry stays where it is and is
 * moved when its slot comes. Deadlines are kept to a tick (never early, at most a tick late).
 *
 * Owned by one thread. Entries belong to the caller and must be taken out before they go. Times are milliseconds of any
 * clock that does not go back.
 */
#ifndef LAJU_SERVER_WHEEL_H
#define LAJU_SERVER_WHEEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAJU_WHEEL_SLOTS 256
#define LAJU_WHEEL_TICK_MS 250

typedef struct laju_deadline {
  struct laju_deadline *next, *prev; /* NULL: not in a wheel */
  uint64_t due_ms;                   /* when it is to fire */
  uint64_t tick;                     /* the slot's tick it waits in: never after due_ms */
} laju_deadline;                     /* all zeros is out of any wheel */

typedef struct laju_wheel {
  laju_deadline slots[LAJU_WHEEL_SLOTS]; /* heads of rings */
  uint64_t tick;                         /* the last tick that was fired */
  size_t count;                          /* entries in it */
} laju_wheel;

void laju_wheel_init(laju_wheel *wheel, uint64_t now_ms);

/* Puts an entry in, or moves it. */
void laju_wheel_set(laju_wheel *wheel, laju_deadline *deadline, uint64_t due_ms);

/* Takes an entry out, if it is in. */
void laju_wheel_drop(laju_wheel *wheel, laju_deadline *deadline);

/* Takes out and returns an entry that is due at `now_ms`, or NULL. To be called until it returns NULL: the caller may set and drop
 * entries in between. */
laju_deadline *laju_wheel_due(laju_wheel *wheel, uint64_t now_ms);

#endif
