/* Replies to a transaction from whatever answers as the shared store. The input is EXEC's reply; it is read as if to calls of both
 * algorithms, alone and together. Whatever it says, a decision keeps its bounds, an error charges nothing, what is taken back is no
 * more than was counted, and no byte outside is touched. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "redis/transaction.h"
#include "reply.h"

#define ASKS 8
#define GUESS_US INT64_C(1700006400000000)

static laju_rule rules[ASKS];
static laju_script_ask asks[ASKS];

static void make_asks(void) {
  static const uint64_t limits[] = {10, 0, LAJU_TOKENS_MAX};
  for (size_t i = 0; i < ASKS; i++) {
    laju_algorithm algorithm = i % 2 ? LAJU_SLIDING_WINDOW_COUNTER : LAJU_FIXED_WINDOW;
    if (laju_rule_init(&rules[i], "fuzz", 4, algorithm, limits[i % 3], LAJU_PERIOD_MAX_US, 0) < 0) abort();
    asks[i] = (laju_script_ask){.rule = &rules[i], .name = i % 4 ? "k" : "other", .name_len = i % 4 ? 1 : 5};
    asks[i].cost = (uint32_t)i;
    asks[i].at_most = i % 4 == 3;
    asks[i].joined = i == 3 || i == 4;
  }
  asks[6] = (laju_script_ask){.cost = 2}; /* whose owner has gone */
}

static void check(const laju_script_answer *answer, const laju_script_ask *ask) {
  const laju_decision *d = &answer->decision;
  if (ask->rule == NULL) return;
  if (answer->error != NULL) {
    if (d->allowed || answer->taken != 0) abort();
    return;
  }
  if (d->limit != ask->rule->capacity || d->remaining > d->limit || answer->taken > ask->cost) abort();
  if (d->retry_after_us < LAJU_NEVER || d->retry_after_us > LAJU_WAIT_MAX_US) abort();
}

static void read_as(const redisReply *reply, size_t from, size_t count) {
  laju_script_answer answers[ASKS];
  laju_buffer back = {0};
  int64_t now_us;
  if (laju_transaction_read(reply, asks + from, count, GUESS_US, answers, &now_us) != LAJU_TRANSACTION_DECIDED) return;
  if (now_us < 0 || now_us > LAJU_TIME_MAX_US) abort();
  for (size_t i = 0; i < count; i++) check(&answers[i], &asks[from + i]);
  laju_transaction_take_back(asks + from, count, answers, GUESS_US, &back);
  laju_buffer_deinit(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
  if (rules[0].tick_us == 0) make_asks();
  redisReply *reply = reply_read(bytes, len);
  if (reply == NULL) return 0;
  laju_transaction_read_time(reply);
  for (size_t i = 0; i < ASKS; i++) {
    if (!asks[i].joined) read_as(reply, i, 1);
  }
  read_as(reply, 0, 3);
  read_as(reply, 3, 3);
  read_as(reply, 0, ASKS);
  freeReplyObject(reply);
  return 0;
}
