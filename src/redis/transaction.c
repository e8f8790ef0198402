#include "redis/transaction.h"

#include <stdlib.h>
#include <string.h>

#include "core/decide.h"
#include "redis/resp_out.h"

static bool is_sliding(const laju_rule *rule) {
  return rule->algorithm == LAJU_SLIDING_WINDOW_COUNTER;
}

/* What is counted before it is known whether it may: nothing, where it cannot be admitted anyway. */
static uint32_t counted(const laju_script_ask *ask) {
  uint32_t capacity = ask->rule->capacity;
  if (ask->at_most) return ask->cost < capacity ? ask->cost : capacity;
  return ask->cost <= capacity ? ask->cost : 0;
}

static int64_t window_at(const laju_rule *rule, int64_t now_us) {
  return now_us / rule->tick_us / rule->period;
}

/* ---- commands ---- */

/* NAME:WINDOW:t */
static void add_key(laju_buffer *to, const char *name, size_t name_len, int64_t window) {
  char digits[20];
  size_t len = laju_decimal(digits, window);
  laju_resp_out_head(to, '$', name_len + 1 + len + 2);
  laju_buffer_add(to, name, name_len);
  laju_buffer_add(to, ":", 1);
  laju_buffer_add(to, digits, len);
  laju_buffer_add(to, ":t\r\n", 4);
}

static void begin_command(laju_buffer *to, size_t words, const char *name) {
  laju_resp_out_head(to, '*', words);
  laju_resp_out_bulk(to, name, strlen(name));
}

/* As long as scripts let a new state live: twice what an admission counts for. */
static int64_t life_ms(const laju_rule *rule) {
  int64_t life_us = (is_sliding(rule) ? 4 : 2) * rule->period * rule->tick_us;
  return (life_us < LAJU_WAIT_MAX_US ? life_us : LAJU_WAIT_MAX_US) / 1000 + 1;
}

static void add_ask(laju_buffer *to, const laju_script_ask *ask, int64_t window) {
  const char *name = ask->name;
  if (is_sliding(ask->rule)) {
    begin_command(to, 2, "GET");
    add_key(to, name, ask->name_len, window - 1);
  }
  if (counted(ask) == 0) {
    begin_command(to, 2, "GET");
    add_key(to, name, ask->name_len, window);
    return;
  }
  begin_command(to, 3, "INCRBY");
  add_key(to, name, ask->name_len, window);
  laju_resp_out_int(to, counted(ask));
  begin_command(to, 3, "PEXPIRE");
  add_key(to, name, ask->name_len, window);
  laju_resp_out_int(to, life_ms(ask->rule));
}

static size_t width_of(const laju_script_ask *ask) {
  if (ask->rule == NULL) return ask->cost;
  return (size_t)is_sliding(ask->rule) + (counted(ask) > 0 ? 2 : 1);
}

size_t laju_transaction_width(const laju_script_ask *asks, size_t count) {
  size_t width = 0;
  for (size_t i = 0; i < count; i++) width += width_of(&asks[i]);
  return width;
}

uint32_t laju_transaction_call(const laju_script_ask *asks, size_t count, int64_t guess_us, laju_buffer *to) {
  begin_command(to, 1, "MULTI");
  begin_command(to, 1, "TIME");
  for (size_t i = 0; i < count; i++) add_ask(to, &asks[i], window_at(asks[i].rule, guess_us));
  begin_command(to, 1, "EXEC");
  return (uint32_t)(3 + laju_transaction_width(asks, count));
}

/* Where the counter has gone meanwhile it is set to what is taken from it, so that none is left below zero, or without end. */
static void take_back(laju_buffer *to, const laju_script_ask *ask, uint32_t tokens, int64_t window) {
  begin_command(to, 6, "SET");
  add_key(to, ask->name, ask->name_len, window);
  laju_resp_out_int(to, tokens);
  laju_resp_out_bulk(to, "PX", 2);
  laju_resp_out_int(to, life_ms(ask->rule));
  laju_resp_out_bulk(to, "NX", 2);
  begin_command(to, 3, "DECRBY");
  add_key(to, ask->name, ask->name_len, window);
  laju_resp_out_int(to, tokens);
}

static size_t run_length(const laju_script_ask *asks, size_t count) {
  size_t len = 1;
  while (asks[len - 1].joined && len < count) len++;
  return len;
}

static bool is_admitted(const laju_script_answer *answers, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (answers[i].error != NULL || !answers[i].decision.allowed) return false;
  }
  return true;
}

uint32_t laju_transaction_take_back(const laju_script_ask *asks, size_t count, const laju_script_answer *answers,
                                    int64_t guess_us, laju_buffer *to) {
  uint32_t replies = 0;
  for (size_t i = 0, len; i < count; i += len) {
    len = run_length(asks + i, count - i);
    bool admitted = answers != NULL && is_admitted(answers + i, len);
    for (size_t j = i; j < i + len; j++) {
      if (asks[j].rule == NULL) continue;
      uint32_t tokens = counted(&asks[j]) - (admitted ? answers[j].taken : 0);
      if (tokens == 0) continue;
      if (replies == 0) begin_command(to, 1, "MULTI");
      take_back(to, &asks[j], tokens, window_at(asks[j].rule, guess_us));
      replies += 2;
    }
  }
  if (replies == 0) return 0;
  begin_command(to, 1, "EXEC");
  return replies + 2;
}

void laju_transaction_forget(const laju_rule *rule, const char *name, size_t name_len, int64_t now_us,
                             laju_buffer *to) {
  bool has_windows = rule->algorithm == LAJU_FIXED_WINDOW || is_sliding(rule);
  begin_command(to, has_windows ? 5 : 2, "DEL");
  laju_resp_out_bulk(to, name, name_len);
  if (!has_windows) return;
  int64_t window = window_at(rule, now_us);
  for (int64_t i = -1; i <= 1; i++) add_key(to, name, name_len, window + i); /* a guess may be one off */
}

/* ---- replies ---- */

static bool read_decimal(const redisReply *text, int64_t most, int64_t *out) {
  if (text->type != REDIS_REPLY_STRING || text->len == 0 || text->len > 16) return false;
  int64_t value = 0;
  for (size_t i = 0; i < text->len; i++) {
    if (text->str[i] < '0' || text->str[i] > '9') return false;
    value = 10 * value + (text->str[i] - '0');
  }
  if (value > most) return false;
  *out = value;
  return true;
}

int64_t laju_transaction_read_time(const redisReply *reply) {
  int64_t seconds, us;
  if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2) return -1;
  if (!read_decimal(reply->element[0], LAJU_TIME_MAX_US / 1000000 - 1, &seconds)) return -1;
  return read_decimal(reply->element[1], 999999, &us) ? seconds * 1000000 + us : -1;
}

#define COUNT_FAR (INT64_C(1) << 62) /* from here on tokens can be taken off and nothing overflows */

/* A counter as it stands: below zero and above what a state holds it is no matter how far. */
static bool read_count(const redisReply *reply, int64_t *out) {
  int64_t value = 0;
  if (reply->type == REDIS_REPLY_INTEGER) {
    value = reply->integer;
  } else if (reply->type == REDIS_REPLY_STRING) {
    char *end;
    value = strtoll(reply->str, &end, 10);
    if (*end != '\0' || reply->len == 0) return false;
  } else if (reply->type != REDIS_REPLY_NIL) {
    return false;
  }
  *out = value < -COUNT_FAR ? -COUNT_FAR : value;
  return true;
}

static uint32_t as_tokens(int64_t value) {
  if (value < 0) return 0;
  return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static bool is_same_key(const laju_script_ask *a, const laju_script_ask *b) {
  return a->rule != NULL && b->rule != NULL && a->name_len == b->name_len && memcmp(a->name, b->name, a->name_len) == 0;
}

/* What asks before this one have counted in its key in vain: all of it has happened in one moment. */
static int64_t in_vain(const laju_script_ask *asks, const uint32_t *vain, size_t i) {
  int64_t tokens = 0;
  for (size_t j = 0; j < i; j++) {
    if (vain[j] > 0 && is_same_key(&asks[j], &asks[i])) tokens += vain[j];
  }
  return tokens;
}

/* Decides one ask on its elements of the reply. */
static void decide(redisReply *const *elements, const laju_script_ask *ask, int64_t vain, int64_t now_us,
                   laju_script_answer *out) {
  const laju_rule *rule = ask->rule;
  int64_t prev = 0, count = 0;
  size_t width = width_of(ask), sliding = is_sliding(rule);
  *out = (laju_script_answer){.now_us = now_us};
  for (size_t i = 0; i < width && out->error == NULL; i++) {
    if (elements[i]->type == REDIS_REPLY_ERROR) out->error = elements[i]->str;
  }
  if (out->error != NULL) return;
  if ((sliding && !read_count(elements[0], &prev)) || !read_count(elements[sliding], &count)) {
    out->error = "BADSTATE no counter";
    return;
  }
  laju_state state = {.window = {.window = (uint64_t)window_at(rule, now_us),
                                 .curr = as_tokens(count - counted(ask) - vain),
                                 .prev = as_tokens(prev)}};
  out->found = state;
  if (ask->at_most) {
    out->taken = laju_take(rule, &state, now_us, counted(ask), &out->decision);
  } else {
    laju_decide(rule, &state, now_us, ask->cost, &out->decision);
    out->taken = out->decision.allowed ? ask->cost : 0;
  }
}

/* Decides a request's asks; `vain` of them and of those before tells what does not count. */
static void decide_run(redisReply *const *elements, const laju_script_ask *asks, size_t from, size_t len,
                       int64_t now_us, uint32_t *vain, laju_script_answer *answers) {
  const char *error = NULL;
  for (size_t i = from; i < from + len; i++) {
    vain[i] = 0;
    if (asks[i].rule != NULL) {
      decide(elements, &asks[i], in_vain(asks, vain, i), now_us, &answers[i]);
      vain[i] = answers[i].error == NULL ? counted(&asks[i]) - answers[i].taken : 0;
      if (error == NULL) error = answers[i].error;
    } else {
      answers[i] = (laju_script_answer){0};
    }
    elements += width_of(&asks[i]);
  }
  bool admitted = error == NULL && is_admitted(answers + from, len);
  for (size_t i = from; i < from + len; i++) {
    if (asks[i].rule == NULL) continue;
    if (!admitted && answers[i].error == NULL) vain[i] = counted(&asks[i]);
    if (error != NULL) answers[i] = (laju_script_answer){.error = error};
  }
}

laju_transaction_result laju_transaction_read(const redisReply *reply, const laju_script_ask *asks, size_t count,
                                              int64_t guess_us, laju_script_answer *answers, int64_t *now_us) {
  uint32_t vain[LAJU_SCRIPT_CHECKS_MAX];
  if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 1 + laju_transaction_width(asks, count)) {
    return LAJU_TRANSACTION_BROKEN;
  }
  int64_t time_us = laju_transaction_read_time(reply->element[0]);
  if (time_us < 0) return LAJU_TRANSACTION_BROKEN;
  *now_us = time_us;
  for (size_t i = 0; i < count; i++) {
    const laju_rule *rule = asks[i].rule;
    if (rule != NULL && window_at(rule, time_us) != window_at(rule, guess_us)) return LAJU_TRANSACTION_STALE;
  }
  redisReply *const *elements = reply->element + 1;
  for (size_t i = 0, len; i < count; i += len) {
    len = run_length(asks + i, count - i);
    decide_run(elements, asks, i, len, time_us, vain, answers);
    elements += laju_transaction_width(asks + i, len);
  }
  return LAJU_TRANSACTION_DECIDED;
}
