#include "server/crash.h"

#include <execinfo.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/symbols.h"

#define FRAMES_MAX 64
#define STACK_SIZE (64 * 1024) /* backtrace walks with libgcc's unwinder, which is not thrifty */

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/* Only what a signal handler may call: no stdio, no malloc. */
static void say(const char *text) {
  ssize_t written = write(STDERR_FILENO, text, strlen(text));
  (void)written;
}

static void say_address(const void *address) {
  char text[2 + 2 * sizeof(uintptr_t) + 1];
  char *at = text + sizeof text - 1;
  uintptr_t left = (uintptr_t)address;
  *at = 0;
  do {
    *--at = "0123456789abcdef"[left % 16];
    left /= 16;
  } while (left > 0);
  *--at = 'x';
  *--at = '0';
  say(at);
}

static const char *signal_name(int number) {
  switch (number) {
    case SIGSEGV: return "SIGSEGV";
    case SIGBUS: return "SIGBUS";
    case SIGFPE: return "SIGFPE";
    case SIGILL: return "SIGILL";
    default: return "SIGABRT";
  }
}

/* The name where it is one of our functions, then what the linker knows: file, offset, address. */
static void say_frames(void) {
  void *frames[FRAMES_MAX];
  int count = backtrace(frames, FRAMES_MAX);
  laju_symbols symbols;
  bool named = laju_symbols_open(&symbols) == 0;
  for (int i = 0; i < count; i++) {
    size_t offset;
    const char *name = named ? laju_symbols_find(&symbols, frames[i], &offset) : NULL;
    if (name != NULL) {
      say(name);
      say(" ");
    }
    backtrace_symbols_fd(&frames[i], 1, STDERR_FILENO);
  }
}

static void on_crash(int number, siginfo_t *info, void *context) {
  (void)context;
  say("laju " LAJU_VERSION " crashed: ");
  say(signal_name(number));
  if (info->si_code > 0) { /* the processor's doing, not another process's or abort's */
    say(" at ");
    say_address(info->si_addr);
  }
  say("\n");
  say_frames();
  /* SA_RESETHAND has put the default action back already. */
  raise(number);
}

int laju_crash_init(void) {
  void *frame[1];
  backtrace(frame, 1); /* the first call loads libgcc, which a handler must not */
  struct sigaction action = {.sa_sigaction = on_crash,
                             .sa_flags = (int)(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | SA_NODEFER)};
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    if (sigaction(signals[i], &action, NULL) < 0) return -1;
  }
  return 0;
}

int laju_crash_stack_init(laju_crash_stack *stack) {
  void *memory = malloc(STACK_SIZE);
  if (memory == NULL) return -1;
  stack_t mine = {.ss_sp = memory, .ss_size = STACK_SIZE};
  if (sigaltstack(&mine, &stack->before) < 0) {
    free(memory);
    return -1;
  }
  stack->memory = memory;
  return 0;
}

void laju_crash_stack_deinit(laju_crash_stack *stack) {
  if (stack->memory == NULL) return;
  sigaltstack(&stack->before, NULL);
  free(stack->memory);
  stack->memory = NULL;
}
