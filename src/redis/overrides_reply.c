#include "redis/overrides_reply.h"

#include "core/rule.h"
#include "redis/words.h"

#define HASH_TAIL ":{!overrides}"
#define VERSION_TAIL ":{!overrides}:version"
#define VALUE_MAX 48
#define COMPARE_AND_DELETE \
  "if redis.call('HGET',KEYS[1],ARGV[1])==ARGV[2] then return redis.call('HDEL',KEYS[1],ARGV[1]) end return 0"

static size_t join(char *to, const char *prefix, size_t prefix_len, const char *tail) {
  size_t tail_len = strlen(tail);
  memcpy(to, prefix, prefix_len);
  memcpy(to + prefix_len, tail, tail_len);
  return prefix_len + tail_len;
}

void laju_overrides_name(laju_overrides_names *out, const char *prefix, size_t prefix_len) {
  out->hash_len = join(out->hash, prefix, prefix_len, HASH_TAIL);
  out->version_len = join(out->version, prefix, prefix_len, VERSION_TAIL);
}

/* ---- commands ---- */

static void begin(laju_buffer *to, size_t words, const char *command, const laju_overrides_names *names) {
  laju_words_begin(to, words, command);
  laju_words_add(to, names->hash, names->hash_len);
}

void laju_overrides_ask_version(laju_buffer *to, const laju_overrides_names *names) {
  laju_words_begin(to, 2, "GET");
  laju_words_add(to, names->version, names->version_len);
}

void laju_overrides_ask_all(laju_buffer *to, const laju_overrides_names *names) {
  begin(to, 2, "HGETALL", names);
}

static void add_field(laju_buffer *to, laju_slice rule, laju_slice key) {
  laju_buffer_add_format(to, "$%zu\r\n", rule.len + 1 + key.len);
  laju_buffer_add(to, rule.at, rule.len);
  laju_buffer_add(to, ":", 1);
  laju_buffer_add(to, key.at, key.len);
  laju_buffer_add(to, "\r\n", 2);
}

static void add_end(laju_buffer *to, const laju_overrides_names *names) {
  laju_words_begin(to, 2, "INCR");
  laju_words_add(to, names->version, names->version_len);
  laju_words_begin(to, 1, "EXEC");
}

void laju_overrides_ask_put(laju_buffer *to, const laju_overrides_names *names, const laju_kept_override *override) {
  char value[VALUE_MAX];
  size_t len = laju_decimal(value, override->limit);
  value[len++] = ' ';
  len += laju_decimal(value + len, override->burst);
  value[len++] = ' ';
  len += laju_decimal(value + len, override->expires_ms);
  if (override->veils != 0) {
    value[len++] = ' ';
    len += laju_decimal(value + len, override->veils);
  }
  laju_words_begin(to, 1, "MULTI");
  begin(to, 4, "HSET", names);
  add_field(to, override->rule, override->key);
  laju_words_add(to, value, len);
  add_end(to, names);
}

void laju_overrides_ask_remove(laju_buffer *to, const laju_overrides_names *names, laju_slice rule, laju_slice key) {
  laju_words_begin(to, 1, "MULTI");
  begin(to, 3, "HDEL", names);
  add_field(to, rule, key);
  add_end(to, names);
}

void laju_overrides_ask_forget(laju_buffer *to, const laju_overrides_names *names, laju_slice field, laju_slice value) {
  laju_words_begin(to, 6, "EVAL");
  laju_words_add_text(to, COMPARE_AND_DELETE);
  laju_words_add_text(to, "1");
  laju_words_add(to, names->hash, names->hash_len);
  laju_words_add(to, field.at, field.len);
  laju_words_add(to, value.at, value.len);
}

/* ---- replies ---- */

/* Digits up to `stop`, or to the end; the rest goes on behind it. */
static bool read_number(laju_slice *text, char stop, int64_t max, int64_t *out) {
  laju_slice digits = laju_slice_cut(*text, stop, text);
  int64_t number = 0;
  if (digits.len == 0) return false;
  for (size_t i = 0; i < digits.len; i++) {
    if (digits.at[i] < '0' || digits.at[i] > '9' || number > max) return false;
    number = 10 * number + (digits.at[i] - '0');
  }
  *out = number;
  return number <= max;
}

int64_t laju_overrides_read_version(const redisReply *reply) {
  int64_t version;
  if (reply->type == REDIS_REPLY_NIL) return 0;
  if (reply->type != REDIS_REPLY_STRING) return -1;
  laju_slice text = {reply->str, reply->len};
  return read_number(&text, '\0', INT64_MAX / 100, &version) && text.at == NULL ? version : -1;
}

static bool read_value(laju_slice value, laju_kept_override *out) {
  int64_t limit, burst, veils = 0;
  if (!read_number(&value, ' ', LAJU_TOKENS_MAX, &limit) || value.at == NULL) return false;
  if (!read_number(&value, ' ', LAJU_TOKENS_MAX, &burst) || value.at == NULL) return false;
  if (!read_number(&value, ' ', LAJU_TIME_MAX_US / 1000, &out->expires_ms)) return false;
  if (value.at != NULL && (!read_number(&value, ' ', UINT16_MAX, &veils) || value.at != NULL)) return false;
  out->limit = (uint32_t)limit;
  out->burst = (uint32_t)burst;
  out->veils = (uint16_t)veils;
  return limit == 0 || burst > 0;
}

static bool read_pair(const redisReply *field, const redisReply *value, laju_kept_override *out) {
  if (field->type != REDIS_REPLY_STRING || value->type != REDIS_REPLY_STRING) return false;
  out->field = (laju_slice){field->str, field->len};
  out->value = (laju_slice){value->str, value->len};
  out->rule = laju_slice_cut(out->field, ':', &out->key);
  if (out->key.len < 1 || out->key.len > LAJU_KEY_MAX || !laju_name_valid(out->rule.at, out->rule.len)) return false;
  return read_value(out->value, out);
}

int64_t laju_overrides_read_all(const redisReply *reply,
                                void (*take)(void *context, const laju_kept_override *override), void *context) {
  if (reply->type != REDIS_REPLY_ARRAY || reply->elements % 2 != 0) return -1;
  for (size_t i = 0; i < reply->elements; i += 2) {
    laju_kept_override override;
    if (read_pair(reply->element[i], reply->element[i + 1], &override)) take(context, &override);
  }
  return (int64_t)(reply->elements / 2);
}

int64_t laju_overrides_read_changed(const redisReply *reply) {
  if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2) return -1;
  const redisReply *fields = reply->element[0], *version = reply->element[1];
  if (fields->type != REDIS_REPLY_INTEGER || version->type != REDIS_REPLY_INTEGER) return -1;
  return fields->integer;
}
