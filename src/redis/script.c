#include "redis/script.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "core/decide.h"
#include "core/rule.h"
#include "redis/resp_out.h"
#include "redis/script_text.h"

/* A record of scripts/call.lua, and what its flags mean. */
#define RECORD_SIZE 24
#define FLAG_JOINED 1
#define FLAG_AT_MOST 2
#define FLAG_READ_AT_ONCE 4

#define NUMBERS_MAX 6 /* integers of a check in a reply: those of a log that takes at most n */
#define BAD_STATE "BADSTATE numbers that no state holds"

int laju_script_init(laju_script *out) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  size_t len = 0;
  if (EVP_Q_digest(NULL, "SHA1", NULL, laju_script_text, laju_script_text_len, digest, &len) != 1 || len != 20) {
    return LAJU_ERR_SYSTEM;
  }
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < len; i++) {
    out->sha1[2 * i] = digits[digest[i] >> 4];
    out->sha1[2 * i + 1] = digits[digest[i] & 15];
  }
  out->sha1[2 * len] = '\0';
  return 0;
}

/* ---- commands ---- */

void laju_script_load(laju_buffer *to) {
  laju_resp_out_head(to, '*', 3);
  laju_resp_out_bulk(to, "SCRIPT", 6);
  laju_resp_out_bulk(to, "LOAD", 4);
  laju_resp_out_bulk(to, laju_script_text, laju_script_text_len);
}

static bool same_record(const laju_script_ask *a, const laju_script_ask *b) {
  const laju_rule *x = a->rule, *y = b->rule;
  if (a->cost != b->cost || a->at_most != b->at_most || a->joined != b->joined) return false;
  return x == y || (x->algorithm == y->algorithm && x->period == y->period && x->tick_us == y->tick_us &&
                    x->limit == y->limit && x->capacity == y->capacity);
}

static size_t run_length(const laju_script_ask *asks, size_t count) {
  size_t run = 1;
  while (run < count && same_record(&asks[0], &asks[run])) run++;
  return run;
}

static size_t count_records(const laju_script_ask *asks, size_t count) {
  size_t records = 0;
  for (size_t i = 0; i < count; i += run_length(asks + i, count - i)) records++;
  return records;
}

static bool all_small(const laju_script_ask *asks, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (asks[i].rule->algorithm == LAJU_SLIDING_WINDOW_LOG) return false;
  }
  return true;
}

static void put_record(char *to, const laju_script_ask *ask, size_t run, bool read_at_once) {
  const laju_rule *rule = ask->rule;
  to[0] = (char)rule->algorithm;
  to[1] = (char)((ask->joined ? FLAG_JOINED : 0) | (ask->at_most ? FLAG_AT_MOST : 0) |
                 (read_at_once ? FLAG_READ_AT_ONCE : 0));
  to[2] = (char)(run & 255);
  to[3] = (char)(run >> 8);
  laju_store32(to + 4, (uint32_t)rule->period);
  laju_store32(to + 8, rule->limit);
  laju_store32(to + 12, rule->capacity);
  laju_store32(to + 16, (uint32_t)rule->tick_us);
  laju_store32(to + 20, ask->cost);
}

static void add_records(laju_buffer *to, const laju_script_ask *asks, size_t count) {
  size_t size = RECORD_SIZE * count_records(asks, count);
  laju_resp_out_head(to, '$', size);
  char *at = laju_buffer_reserve(to, size + 2);
  if (at == NULL) return;
  bool read_at_once = count > 1 && all_small(asks, count);
  for (size_t i = 0, run; i < count; i += run, at += RECORD_SIZE) {
    run = run_length(asks + i, count - i);
    put_record(at, &asks[i], run, read_at_once);
  }
  memcpy(at, "\r\n", 2);
  to->len += size + 2;
}

void laju_script_call(const laju_script *script, const laju_script_ask *asks, size_t count, const laju_script_pin *pin,
                      laju_buffer *to) {
  bool pin_time = pin != NULL, pin_life = pin_time && pin->px_ms > 0;
  laju_resp_out_head(to, '*', 4 + count + pin_time + pin_life);
  laju_resp_out_bulk(to, "EVALSHA", 7);
  laju_resp_out_bulk(to, script->sha1, 40);
  laju_resp_out_int(to, (int64_t)count);
  for (size_t i = 0; i < count; i++) laju_resp_out_bulk(to, asks[i].name, asks[i].name_len);
  add_records(to, asks, count);
  if (pin_time) laju_resp_out_int(to, pin->now_us);
  if (pin_life) laju_resp_out_int(to, pin->px_ms);
}

/* ---- replies ---- */

/* How many integers the script returns for a check. */
static size_t width_of(const laju_script_ask *ask) {
  if (ask->rule == NULL) return ask->cost;
  switch (ask->rule->algorithm) {
    case LAJU_TOKEN_BUCKET:
    case LAJU_LEAKY_BUCKET: return 2;
    case LAJU_SLIDING_WINDOW_LOG: return ask->at_most ? NUMBERS_MAX : NUMBERS_MAX - 1;
    default: return 3;
  }
}

size_t laju_script_width(const laju_script_ask *asks, size_t count) {
  size_t width = 0;
  for (size_t i = 0; i < count; i++) width += width_of(&asks[i]);
  return width;
}

/* False where they are no integers, each from -1 to 2^53. */
static bool read_numbers(redisReply *const *replies, size_t count, int64_t numbers[NUMBERS_MAX]) {
  for (size_t i = 0; i < count; i++) {
    const redisReply *number = replies[i];
    if (number->type != REDIS_REPLY_INTEGER || number->integer < -1 || number->integer > LAJU_TIME_MAX_US) return false;
    numbers[i] = number->integer;
  }
  return true;
}

static bool read_bucket(const int64_t *numbers, laju_state *out) {
  if (numbers[0] < 0 || numbers[1] < 0) return false;
  out->bucket.used = (uint64_t)numbers[0];
  out->bucket.last = (uint64_t)numbers[1];
  return true;
}

static bool read_window(const int64_t *numbers, const laju_rule *rule, laju_state *out) {
  for (int i = 1; i < 3; i++) {
    if (numbers[i] < 0 || numbers[i] > UINT32_MAX) return false;
  }
  if (numbers[0] < 0 || numbers[0] > LAJU_TIME_MAX_US / rule->period) return false; /* its start is no time */
  out->window.window = (uint64_t)numbers[0];
  out->window.curr = (uint32_t)numbers[1];
  out->window.prev = (uint32_t)numbers[2];
  return true;
}

/* Ticks that the script told, in time; told as the law tells them. */
static int64_t wait_us(const laju_rule *rule, int64_t ticks) {
  return ticks > LAJU_WAIT_MAX_US / rule->tick_us ? LAJU_WAIT_MAX_US : ticks * rule->tick_us;
}

static bool read_log(const int64_t *numbers, const laju_script_ask *ask, laju_script_answer *out) {
  const laju_rule *rule = ask->rule;
  int64_t allowed = numbers[0], remaining = numbers[1], retry = numbers[2], more = numbers[3], reset = numbers[4];
  if (allowed < 0 || allowed > 1 || remaining < 0 || remaining > rule->capacity || more < 0 || reset < 0) return false;
  int64_t taken = ask->at_most ? numbers[NUMBERS_MAX - 1] : allowed * ask->cost;
  if (taken < 0 || taken > ask->cost) return false;
  out->taken = (uint32_t)taken;
  out->decision = (laju_decision){
      .allowed = allowed == 1,
      .limit = rule->capacity,
      .remaining = (uint32_t)remaining,
      .retry_after_us = retry < 0 ? LAJU_NEVER : wait_us(rule, retry),
      .more_after_us = wait_us(rule, more),
      .reset_after_us = wait_us(rule, reset),
  };
  return true;
}

static bool read_check(redisReply *const *replies, const laju_script_ask *ask, int64_t now_us,
                       laju_script_answer *out) {
  int64_t numbers[NUMBERS_MAX];
  if (!read_numbers(replies, width_of(ask), numbers)) return false;
  if (ask->rule->algorithm == LAJU_SLIDING_WINDOW_LOG) return read_log(numbers, ask, out);
  laju_state state;
  bool is_bucket = laju_algorithm_is_bucket(ask->rule->algorithm);
  if (!(is_bucket ? read_bucket(numbers, &state) : read_window(numbers, ask->rule, &state))) return false;
  out->found = state;
  if (ask->at_most) {
    out->taken = laju_take(ask->rule, &state, now_us, ask->cost, &out->decision);
  } else {
    laju_decide(ask->rule, &state, now_us, ask->cost, &out->decision);
    out->taken = out->decision.allowed ? ask->cost : 0;
  }
  return true;
}

/* Reads one request's checks; returns what follows them. */
static redisReply *const *read_request(redisReply *const *replies, const laju_script_ask *asks, size_t count,
                                       int64_t now_us, laju_script_answer *answers) {
  const char *error = NULL;
  for (size_t i = 0; i < count; i++) {
    answers[i] = (laju_script_answer){.now_us = now_us};
    const char *problem = NULL;
    bool wanted = asks[i].rule != NULL;
    if (wanted && replies[0]->type == REDIS_REPLY_ERROR) {
      problem = replies[0]->str;
    } else if (wanted && !read_check(replies, &asks[i], now_us, &answers[i])) {
      problem = BAD_STATE;
    }
    if (error == NULL) error = problem;
    replies += width_of(&asks[i]);
  }
  for (size_t i = 0; i < count && error != NULL; i++) answers[i] = (laju_script_answer){.error = error};
  return replies;
}

int laju_script_read(const redisReply *reply, const laju_script_ask *asks, size_t count, laju_script_answer *answers,
                     int64_t *now_us) {
  size_t wanted = 1 + laju_script_width(asks, count);
  if (reply->type != REDIS_REPLY_ARRAY || reply->elements != wanted) return -1;
  const redisReply *time = reply->element[0];
  if (time->type != REDIS_REPLY_INTEGER || time->integer < 0 || time->integer > LAJU_TIME_MAX_US) return -1;
  redisReply *const *replies = reply->element + 1;
  for (size_t i = 0, len; i < count; i += len) {
    len = 1;
    while (asks[i + len - 1].joined && i + len < count) len++;
    replies = read_request(replies, asks + i, len, time->integer, answers + i);
  }
  *now_us = time->integer;
  return 0;
}
