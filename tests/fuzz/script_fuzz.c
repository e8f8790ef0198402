/* Replies from whatever answers as the shared store. The input is a reply; it is read as if to a call of every algorithm,
 * alone and together. Whatever it says, a decision keeps its bounds, an error charges nothing, and no byte outside is touched. */
#include <stdint.h>
#include <stdlib.h>

#include "redis/script.h"
#include "reply.h"

#define ASKS 12

static laju_rule rules[ASKS];
static laju_script_ask asks[ASKS];

static void make_asks(void) {
  static const uint64_t limits[] = {10, 0, 60000};
  static const int64_t periods[] = {1000, 60000000, LAJU_PERIOD_MAX_US};
  for (size_t i = 0; i < ASKS; i++) {
    laju_algorithm algorithm = (laju_algorithm)(i % LAJU_ALGORITHMS);
    if (laju_rule_init(&rules[i], "fuzz", 4, algorithm, limits[i % 3], periods[i % 3], 0) < 0) abort();
    asks[i] =
        (laju_script_ask){.rule = &rules[i], .name = "k", .name_len = 1, .cost = (uint32_t)i, .at_most = i % 4 == 3};
    asks[i].joined = i == 5 || i == 6;
  }
}

static void check(const laju_script_answer *answer, const laju_script_ask *ask) {
  const laju_decision *d = &answer->decision;
  if (answer->error != NULL) {
    if (d->allowed || answer->taken != 0) abort();
    return;
  }
  if (d->limit != ask->rule->capacity || d->remaining > d->limit || answer->taken > ask->cost) abort();
  if (d->retry_after_us < LAJU_NEVER || d->retry_after_us > LAJU_WAIT_MAX_US) abort();
  if (d->more_after_us < 0 || d->more_after_us > LAJU_WAIT_MAX_US) abort();
  if (d->reset_after_us < 0 || d->reset_after_us > LAJU_WAIT_MAX_US) abort();
}

static void read_as(const redisReply *reply, size_t from, size_t count) {
  laju_script_answer answers[ASKS];
  int64_t now_us;
  if (laju_script_read(reply, asks + from, count, answers, &now_us) < 0) return;
  if (now_us < 0 || now_us > LAJU_TIME_MAX_US) abort();
  for (size_t i = 0; i < count; i++) check(&answers[i], &asks[from + i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
  if (rules[0].tick_us == 0) make_asks();
  redisReply *reply = reply_read(bytes, len);
  if (reply == NULL) return 0;
  for (size_t i = 0; i < ASKS; i++) {
    if (!asks[i].joined) read_as(reply, i, 1);
  }
  read_as(reply, 0, ASKS);
  freeReplyObject(reply);
  return 0;
}
