/* Runs traces that oracle.py wrote through the core and compares every member of every decision.
 *
 *     vectors FILE      ends with "N passed, N failed" (steps); exit 1 where any differs, 2 where FILE cannot be read
 */
#include <stdio.h>
#include <stdlib.h>

#include "vectors/keeper.h"
#include "vectors/trace.h"

static void run(const trace *t, void *unused) {
  (void)unused;
  keeper k = {0};
  for (size_t i = 0; i < t->count; i++) {
    laju_decision decision;
    keeper_check(&k, &t->steps[i].rule, t->steps[i].now_us, t->steps[i].cost, &decision);
    trace_judge(t, i, &decision);
  }
  keeper_deinit(&k);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: vectors FILE\n");
    return 2;
  }
  trace_each(argv[1], run, NULL);
  return trace_verdict();
}
