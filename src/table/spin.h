/* Inside `table` only: a lock for a few dozen instructions. Waiting spins, then gives the processor away, so that more threads
 * than processors do not wait for one that is not running. */
#ifndef LAJU_TABLE_SPIN_H
#define LAJU_TABLE_SPIN_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#define LAJU_SPIN_TURNS 100 /* looks at a lock before the processor is given away */

static inline void laju_spin_pause(unsigned *turns) {
  if (++*turns % LAJU_SPIN_TURNS == 0) {
    sched_yield();
    return;
  }
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

typedef struct laju_spin {
  _Atomic unsigned taken; /* all zeros: free */
} laju_spin;

static inline void laju_spin_lock(laju_spin *spin) {
  unsigned turns = 0;
  while (atomic_exchange_explicit(&spin->taken, 1, memory_order_acquire) != 0) {
    while (atomic_load_explicit(&spin->taken, memory_order_relaxed) != 0) laju_spin_pause(&turns);
  }
}

static inline void laju_spin_unlock(laju_spin *spin) {
  atomic_store_explicit(&spin->taken, 0, memory_order_release);
}

#endif
