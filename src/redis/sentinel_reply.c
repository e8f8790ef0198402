#include "redis/sentinel_reply.h"

#include <string.h>

#include "base/slice.h"
#include "redis/refusal.h"

#define SWITCH_WORDS 5 /* name, old host, old port, new host, new port */

static laju_slice text_of(const redisReply *reply) {
  if (reply->type != REDIS_REPLY_STRING && reply->type != REDIS_REPLY_STATUS) return (laju_slice){NULL, 0};
  return (laju_slice){reply->str, reply->len};
}

static bool says(const redisReply *reply, const char *word) {
  return laju_slice_equal(text_of(reply), (laju_slice){word, strlen(word)});
}

static bool is_array(const redisReply *reply, size_t elements) {
  return reply->type == REDIS_REPLY_ARRAY && reply->elements == elements;
}

static bool read_place(laju_slice host, laju_slice port, laju_store_place *out) {
  char text[LAJU_STORE_HOST_MAX + 8];
  if (host.len == 0 || host.len > LAJU_STORE_HOST_MAX || port.len == 0 || port.len > 5) return false;
  memcpy(text, host.at, host.len);
  text[host.len] = ':';
  memcpy(text + host.len + 1, port.at, port.len);
  return laju_refusal_read_place(text, host.len + 1 + port.len, out);
}

bool laju_sentinel_read_primary(const redisReply *reply, laju_store_place *out) {
  return is_array(reply, 2) && read_place(text_of(reply->element[0]), text_of(reply->element[1]), out);
}

static int64_t read_number(laju_slice text) {
  int64_t number = text.len > 0 ? 0 : -1;
  for (size_t i = 0; i < text.len; i++) {
    if (text.at[i] < '0' || text.at[i] > '9' || number > INT64_MAX / 10 - 1) return -1;
    number = 10 * number + (text.at[i] - '0');
  }
  return number;
}

int64_t laju_sentinel_read_epoch(const redisReply *reply) {
  for (size_t i = 0; reply->type == REDIS_REPLY_ARRAY && i + 1 < reply->elements; i += 2) {
    if (says(reply->element[i], "config-epoch")) return read_number(text_of(reply->element[i + 1]));
  }
  return -1;
}

bool laju_sentinel_read_switch(const redisReply *message, const char *name, laju_store_place *out) {
  if (!is_array(message, 3) || !says(message->element[0], "message")) return false;
  if (!says(message->element[1], LAJU_SENTINEL_CHANNEL)) return false;
  laju_slice rest = text_of(message->element[2]), words[SWITCH_WORDS];
  for (size_t i = 0; i < SWITCH_WORDS; i++) words[i] = laju_slice_cut(rest, ' ', &rest);
  if (rest.at != NULL || !laju_slice_equal(words[0], (laju_slice){name, strlen(name)})) return false;
  return read_place(words[3], words[4], out);
}

bool laju_sentinel_role_is_primary(const redisReply *reply) {
  return reply->type == REDIS_REPLY_ARRAY && reply->elements > 0 && says(reply->element[0], "master");
}
