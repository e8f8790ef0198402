/* The script that decides inside Redis, and what it is called with: commands out, replies in, no socket.
 *
 * One script serves all algorithms. A call carries one or many requests; each request is one or several checks that are all
 * charged or none, and each stands for itself: one that meets a key of another type, or bytes that are no state, has an
 * error for an answer and the others do not notice. The script admits, writes, and returns what it found; C decides again
 * on that and so knows the whole decision (docs/architecture.md).
 *
 *     laju_script script;
 *     laju_script_init(&script);                               once
 *     laju_script_load(&buffer);                               on connect, and where the server says NOSCRIPT
 *     laju_script_call(&script, asks, count, NULL, &buffer);   then send the buffer
 *     laju_script_read(reply, asks, count, answers, &now_us);  for the same asks
 *
 * Pure, no allocation beyond the buffer; any thread.
 */
#ifndef LAJU_REDIS_SCRIPT_H
#define LAJU_REDIS_SCRIPT_H

#include <hiredis/hiredis.h>
#include <laju/laju.h>

#include "base/buffer.h"
#include "core/state.h"

/* Checks of one call. More than about 50 gain nothing, and the server does nothing else meanwhile. */
#define LAJU_SCRIPT_CHECKS_MAX 1024

typedef struct laju_script {
  char sha1[41]; /* of its text, in hexadecimal: what EVALSHA calls it by */
} laju_script;

/* LAJU_ERR_SYSTEM where libcrypto has no SHA-1 to give. */
int laju_script_init(laju_script *out);

/* Appends the command SCRIPT LOAD. */
void laju_script_load(laju_buffer *to);

/* One check, as a call carries it. A request is a run of asks that are `joined`, and the one after them. */
typedef struct laju_script_ask {
  const laju_rule *rule; /* NULL, in laju_script_read alone: nobody wants this any more; `cost` is then its width */
  const char *name;      /* the key's name (redis/keys.h) */
  uint32_t name_len;
  uint32_t cost;
  bool at_most; /* takes what remains, if that is less than the cost: 0 to `cost` tokens, always allowed */
  bool joined;  /* belongs to the same request as the next ask; never on a call's last */
} laju_script_ask;

/* For tests: the time that the script takes for Redis' own, and a time to live in place of the rule's (0: the rule's). */
typedef struct laju_script_pin {
  int64_t now_us;
  int64_t px_ms;
} laju_script_pin;

/* Appends an EVALSHA of up to LAJU_SCRIPT_CHECKS_MAX asks; of none, it tells the time. `pin` is NULL outside tests. */
void laju_script_call(const laju_script *script, const laju_script_ask *asks, size_t count, const laju_script_pin *pin,
                      laju_buffer *to);

/* How many integers the reply to these asks holds, beside the time. */
size_t laju_script_width(const laju_script_ask *asks, size_t count);

typedef struct laju_script_answer {
  const char *error;      /* the store's words where this ask's request was not decided (nothing charged); else NULL */
  laju_decision decision; /* as it answered at its turn; all zeros beside an error */
  laju_state found;       /* what it was decided on; zeros for a log */
  uint32_t taken;         /* tokens charged if the whole request was allowed: the cost, or less where `at_most` */
  int64_t now_us;         /* by the store's clock, when it was decided */
} laju_script_answer;

/* Reads the reply to a call of these asks: an answer for each, and the time by Redis' clock that they were decided at. The
 * errors' words are the reply's, and live as long. 0, or -1 where the reply is not one of the script's: the command failed
 * as a whole (`reply->type` is REDIS_REPLY_ERROR) or something else answers there. */
int laju_script_read(const redisReply *reply, const laju_script_ask *asks, size_t count, laju_script_answer *answers,
                     int64_t *now_us);

#endif
