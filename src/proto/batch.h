/* What a codec and the limiter pass to each other: the requests parsed from one run of bytes, and their decisions.
 *
 * A codec is fed bytes and fills a batch with asks, in the order in which they came; laju_batch_decide has them decided; the
 * codec then writes a reply for each, in the same order. A worker owns one batch and uses it again and again: nothing is
 * allocated. Checks' keys point into the bytes that were fed, so those must stay until the replies are written, or into the
 * batch's own `keys`, where they were made up.
 *
 * A batch that has to wait for the shared store is copied (parked.h), and the worker's own is free for others.
 */
#ifndef LAJU_PROTO_BATCH_H
#define LAJU_PROTO_BATCH_H

#include "limiter/way.h"
#include <laju/laju.h>

#define LAJU_BATCH_ASKS 128    /* requests in one batch */
#define LAJU_BATCH_CHECKS 1024 /* checks in one batch; one request brings at most LAJU_EACH_MAX */
#define LAJU_EACH_MAX 1000     /* independent checks in one request (POST /v1/batch, LAJU.MCHECK) */
#define LAJU_BATCH_NOTES 65536 /* bytes of replies that need no decision; one is at most LAJU_NOTE_MAX */
#define LAJU_NOTE_MAX 4096
#define LAJU_BATCH_KEYS 65536     /* bytes of keys that a codec made up; one request's are at most LAJU_DERIVED_MAX */
#define LAJU_BATCH_SCRATCH 458752 /* bytes for a codec's work on one request */
#define LAJU_DERIVED_MAX (2 * LAJU_CHECKS_MAX * LAJU_KEY_MAX) /* a key and a group for each check */

/* What a client is told whose request is `split`. */
#define LAJU_SPLIT_DETAIL \
  "its checks belong to different slots of the Redis Cluster, so they cannot be decided together"
#define LAJU_SPLIT_ALLOWED                                                                                               \
  "checks that share their key or, in forward-auth, rules with one `group:`; the cluster places a key by its hash tag, " \
  "what its name has in braces: the group's text where there is one, else the key's"

typedef enum laju_ask_kind {
  LAJU_ASK_NOTE,  /* nothing to decide: the reply is written already, in `notes` */
  LAJU_ASK_ALL,   /* 1 to LAJU_CHECKS_MAX checks, all charged or none */
  LAJU_ASK_EACH,  /* 1 to LAJU_EACH_MAX independent checks */
  LAJU_ASK_RESET, /* forget the one check's key; `known` is the answer */
} laju_ask_kind;

typedef struct laju_ask {
  laju_ask_kind kind;
  bool allowed;          /* ALL: the request's answer */
  bool known;            /* RESET: the answer */
  bool split;            /* it was not decided: its keys live in different slots of the store's cluster */
  bool failed;           /* RESET: it was not done: the store did not answer. NOTE: an error */
  bool counts;           /* NOTE: it answers a request for a decision, and so is counted (account.h) */
  bool waiting;          /* not decided yet: the store must be asked */
  bool close;            /* the connection ends after this reply */
  uint16_t form;         /* the codec's own: how to write the reply */
  uint16_t flags;        /* the codec's own */
  uint16_t late_ms;      /* NOTE: its reply is kept back for so long */
  uint16_t waits;        /* ALL: bit i is set where the delay of its i-th check is to be waited out before the answer */
  uint32_t first, count; /* its checks and decisions; or, for a note, its bytes */
} laju_ask;

typedef struct laju_batch {
  size_t ask_count, check_count, note_len, key_len;
  int64_t now_us; /* the time that decided: headers are told from it */
  int64_t
      hold_us; /* once decided: keep its reply back for so long; 0: do not. Only of an ask that is alone in its batch */
  laju_ask *asks;
  laju_check *checks;
  laju_slice *groups; /* groups[i] is checks[i]'s, where its rule is grouped; an empty one: none. Else not written */
  laju_decision *decisions;
  laju_rule
      *rules; /* made for one check (inline limits, CL.THROTTLE): rules[i] is for checks[i], and perhaps later ones */
  char *notes;
  char *keys;    /* also of groups; `key_len` of them are in use */
  char *scratch; /* nothing in it lasts */
} laju_batch;

/* An empty one with room for all that the limits above say. NULL: no memory. */
laju_batch *laju_batch_new(void);
void laju_batch_free(laju_batch *batch); /* one from laju_batch_new, or NULL */

/* Forgets everything in it. Cheap: only counts are reset. */
void laju_batch_clear(laju_batch *batch);

/* Can one more request of `checks` checks be added, and a note and LAJU_DERIVED_MAX bytes of keys besides? */
bool laju_batch_has_room(const laju_batch *batch, size_t checks);

/* Decides every ask, in order; runs of independent requests go to the limiter together. Sets `hold_us`: what the last ask,
 * a note, says itself; or where it was allowed, the longest delay among the checks that its `waits` names. False: those asks that are `waiting` must ask the
 * store first (parked.h), and so must what would overtake them. */
bool laju_batch_decide(laju_batch *batch, laju_way *way, int64_t now_us);

/* The claim that an ask makes; and the end of its waiting, when that is decided. */
laju_claim laju_batch_claim(const laju_batch *batch, const laju_ask *ask);
void laju_ask_settle(laju_ask *ask, const laju_claim *claim);

/* Sets `hold_us`, when no ask is waiting any more. */
void laju_batch_settle(laju_batch *batch);

#endif
