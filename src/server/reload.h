/* New terms without a restart: when the configuration's file changes, or on SIGHUP.
 *
 * The file is looked at every LAJU_RELOAD_POLL_MS, through any symbolic links on its path, so it does not matter whether it is
 * written in place, replaced by a rename, or swapped by a link to a directory as Kubernetes does it. It is read once it has
 * kept still for LAJU_RELOAD_SETTLE_MS, so that a half-written one is not.
 *
 * What is no regular file (any more) is not read: a pipe would hold up the loop, or be used up. A configuration that is refused,
 * or that changes what needs a restart, leaves everything as it is; it is logged and counted. Otherwise new terms are published as one, and the old ones are freed when every worker has turned (server.c).
 *
 * All calls come from the thread of the loop, which must not be a worker's.
 */
#ifndef LAJU_SERVER_RELOAD_H
#define LAJU_SERVER_RELOAD_H

#include <uv.h>

#include "server/server.h"
#include "server/terms.h"

#define LAJU_RELOAD_POLL_MS 250
#define LAJU_RELOAD_SETTLE_MS 500
_Static_assert(LAJU_RELOAD_SETTLE_MS >= 2 * LAJU_RELOAD_POLL_MS,
               "a file that still changes is seen to before it is read");

typedef struct laju_reload laju_reload;

struct laju_reload {
  const laju_source *source;  /* NULL: there is nothing to read again */
  const laju_config *running; /* the publisher keeps what a reload may change of it up to date; its rules are gone */
  uv_timer_t look, settle;
  uv_fs_t asking;                 /* in flight while `is_asking` */
  bool is_asking, is_overtaken;   /* overtaken: the file was read meanwhile, so the look is too old */
  laju_sighting seen;             /* the file as it was last looked at */
  _Atomic uint64_t done, refused; /* any thread may read them */
  laju_rule_names *names;         /* that the rules' numbers come from */
  /* Takes the terms over and puts them in force, and what else of the settings may change; false where memory ran out, and then
   * all is as it was. */
  bool (*publish)(laju_reload *reload, laju_terms *fresh, const laju_config *settings);
  void *owner; /* the publisher's own */
};

void laju_reload_init(laju_reload *reload, uv_loop_t *loop, const laju_source *source, const laju_config *running,
                      laju_rule_names *names);

/* Begins to watch the file, if there is one. */
void laju_reload_start(laju_reload *reload);

void laju_reload_stop(laju_reload *reload);

/* Reads the configuration again, now; `cause` is for the log. Returns whether new terms were published. */
bool laju_reload_now(laju_reload *reload, const char *cause);

#endif
