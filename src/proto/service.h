/* What a door must know of the service behind it. */
#ifndef LAJU_PROTO_SERVICE_H
#define LAJU_PROTO_SERVICE_H

#include <stdatomic.h>

#include "limiter/ledger.h"
#include "config/config.h"
#include "limiter/limiter.h"
#include "limiter/ruleset.h"

typedef enum laju_stage { LAJU_STARTING, LAJU_SERVING, LAJU_DRAINING } laju_stage;

/* Where a connection comes from. */
typedef struct laju_peer {
  bool is_unix; /* a unix socket: there is no address */
  laju_ip address;
} laju_peer;

/* What a reload replaces as one: immutable while it is in force. A codec takes it once for each run of bytes that it parses,
 * and keeps nothing of it beyond the replies to them; so an old one may go when every worker's loop has turned once. */
typedef struct laju_terms {
  const laju_ruleset *rules;
  bool inline_limits;          /* may a check bring its own limit? */
  laju_mode default_mode;      /* where such limits, CL.THROTTLE's among them, are decided */
  uint8_t exact_algorithms;    /* bit by algorithm: the shared store can decide it */
  bool resp_admin;             /* LAJU.RESET without a password */
  const char *resp_password;   /* NULL: none is asked for */
  bool show_x_ratelimit;       /* headers: {x_ratelimit: true} */
  bool show_ratelimit;         /* headers: {ratelimit: true} */
  bool reset_is_delta;         /* X-RateLimit-Reset in seconds from now instead of since the epoch */
  bool trust_unix;             /* forwarding headers of unix sockets' clients count */
  const laju_network *trusted; /* and those of these networks' */
  size_t trusted_count;
  uint8_t ip_prefix_v4, ip_prefix_v6; /* who counts as one client */
  laju_log_decisions log_decisions;   /* which decisions are written to the log, */
  uint32_t log_sample;                /* and how many of a million of them */
  struct laju_overlay *overlay;       /* what operators have put over the rules; the server's. NULL: nothing */
  const char *admin_token;            /* NULL: none is asked for */
  bool admin_reveal;                  /* keys are shown whole */
  const char *const *admin_hosts;     /* names that the admin door answers to, normalised (target.h) */
  size_t admin_host_count;
} laju_terms;

/* Lives as long as the server; filled before any worker starts. */
typedef struct laju_service {
  laju_limiter *limiter;
  laju_rule_names *names; /* what decisions are counted under */
  _Atomic(const laju_terms *) terms;
  _Atomic(laju_stage) stage;        /* relaxed: only /readyz and keep-alive look at it */
  uint32_t stores;                  /* the workers, where there is a shared store: each has its own way to it; else 0 */
  _Atomic uint32_t stores_up;       /* of those, the ones whose store would take a check now; relaxed: for /readyz */
  struct laju_overlay *overlay;     /* what operators have put over the rules */
  struct laju_decisions *decisions; /* the log of them; the server's */
  struct laju_admin *admin;         /* what the admin door shows (admin.h); NULL where there is none */
  _Atomic uint64_t untrusted_forwards; /* requests whose forwarding headers were not believed */
} laju_service;

static inline const laju_terms *laju_service_terms(const laju_service *service) {
  return atomic_load_explicit(&service->terms, memory_order_acquire);
}

/* Gives a limit that a check brought its mode. False: the store cannot decide this algorithm. */
static inline bool laju_terms_place(const laju_terms *terms, laju_rule *rule) {
  rule->mode = terms->default_mode;
  return rule->mode == LAJU_EMBEDDED || (terms->exact_algorithms >> rule->algorithm & 1) != 0;
}

#endif
