/* The daemon: doors, workers, signals, snapshots. One call runs all of it.
 *
 * Start: the last snapshot is loaded, the doors are opened (each is named on stderr as it is really bound), the workers
 * start. SIGTERM or SIGINT drains: no new connections, requests that have begun are answered, idle connections are closed,
 * all within LAJU_DRAIN_MS; a second signal, later than LAJU_SIGNAL_ECHO_MS, does not wait. Then a last snapshot is written. SIGHUP, or a change of its file,
 * reads the configuration again (reload.h).
 *
 * What it has to say goes to stderr, a line each (base/log.h).
 */
#ifndef LAJU_SERVER_SERVER_H
#define LAJU_SERVER_SERVER_H

#include "config/config.h"

#define LAJU_WORKERS_MAX 1024
#define LAJU_SIGNAL_ECHO_MS 100 /* a signal this soon after the first is the same one: timeout(1) sends each twice */
#define LAJU_DRAIN_MS 10000     /* how long requests that have begun may still take after SIGTERM */

/* A file as it was at one moment, to tell whether it has changed since. All zeros: there was none. */
typedef struct laju_sighting {
  uint64_t device, inode, size;
  int64_t modified_ns, changed_ns;
} laju_sighting;

/* How the file at `path` is now, through symbolic links. */
laju_sighting laju_sighting_of(const char *path);

/* Where the configuration comes from, so that it can be read again (reload.h). */
typedef struct laju_source {
  const char *path;   /* the file to watch; NULL: none */
  laju_sighting seen; /* how it was before it was read: what changed while we were starting is a change, too */
  /* Reads everything again into an initialised `out`. 0, or -1 with `why`; `out` is to be deinitialised either way. */
  int (*load)(void *context, laju_config *out, char why[LAJU_WHY_SIZE]);
  void *context;
} laju_source;

/* Serves until SIGTERM or SIGINT. Returns 0, or 1 after an error told on stderr. Once a process, from its main thread. The
 * rules of `config` are taken over. `source` may be NULL: then a reload is refused. */
int laju_server_run(laju_config *config, const laju_source *source);

#endif
