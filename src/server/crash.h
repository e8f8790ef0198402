/* A crash of any thread is the process's crash, and leaves its stack on stderr: the signal, then a line for each frame
 * (the function, static ones too, unless the program is stripped; and its offset in the file, for addr2line). Then the
 * signal takes its default action, so that a core is dumped and the supervisor sees what happened.
 *
 * SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT. Handlers run on a stack of their own, so that a stack that overflowed is told
 * of too; that stack belongs to a thread, which takes it when it starts and gives it back when it ends.
 */
#ifndef LAJU_SERVER_CRASH_H
#define LAJU_SERVER_CRASH_H

#include <signal.h>

typedef struct laju_crash_stack {
  void *memory;
  stack_t before;
} laju_crash_stack;

/* Installs the handlers. Once a process, before other threads start. 0, or -1 (errno). */
int laju_crash_init(void);

/* Gives the calling thread a stack to crash on. 0, or -1 (errno); a thread that goes on without one still reports what is
 * not an overflow. */
int laju_crash_stack_init(laju_crash_stack *stack);
void laju_crash_stack_deinit(laju_crash_stack *stack);

#endif
