#include "redis/nodes_reply.h"

#include <string.h>

#include "base/slice.h"
#include "redis/words.h"

#define NAME_TAIL ":{!nodes}"
#define LIVES_MS 60000 /* the register itself, without any node */
#define STEPS 6        /* between MULTI and EXEC */
#define AT_COUNT 4     /* where among their replies the count is, and the list behind it */

size_t laju_nodes_name(const char *prefix, size_t prefix_len, char out[LAJU_NODES_NAME_MAX]) {
  memcpy(out, prefix, prefix_len);
  memcpy(out + prefix_len, NAME_TAIL, sizeof NAME_TAIL - 1);
  return prefix_len + sizeof NAME_TAIL - 1;
}

static bool is_version(laju_slice text) {
  if (text.len == 0 || text.len > LAJU_NODES_VERSION_MAX) return false;
  for (size_t i = 0; i < text.len; i++) {
    if (text.at[i] <= ' ' || text.at[i] > '~') return false;
  }
  return true;
}

bool laju_nodes_version_valid(const char *version) {
  return is_version((laju_slice){version, strlen(version)});
}

/* ---- commands ---- */

static void begin(laju_buffer *to, size_t words, const char *command, const char *name, size_t name_len) {
  laju_words_begin(to, words, command);
  if (name != NULL) laju_words_add(to, name, name_len);
}

void laju_nodes_ask_time(laju_buffer *to) {
  begin(to, 1, "TIME", NULL, 0);
}

void laju_nodes_ask_who(laju_buffer *to, const char *name, size_t name_len, const char *member, int64_t now_ms) {
  begin(to, 1, "MULTI", NULL, 0);
  begin(to, 4, "ZADD", name, name_len);
  laju_words_add_number(to, "", now_ms);
  laju_words_add_text(to, member);
  begin(to, 4, "ZREMRANGEBYSCORE", name, name_len);
  laju_words_add_text(to, "-inf");
  laju_words_add_number(to, "(", now_ms - LAJU_NODES_FORGET_MS);
  begin(to, 4, "ZREMRANGEBYSCORE", name, name_len);
  laju_words_add_number(to, "(", now_ms + LAJU_NODES_FORGET_MS);
  laju_words_add_text(to, "+inf");
  begin(to, 3, "PEXPIRE", name, name_len);
  laju_words_add_number(to, "", LIVES_MS);
  begin(to, 2, "ZCARD", name, name_len);
  begin(to, 4, "ZRANGE", name, name_len);
  laju_words_add_number(to, "", 0);
  laju_words_add_number(to, "", LAJU_NODES_LISTED_MAX - 1);
  begin(to, 1, "EXEC", NULL, 0);
}

/* ---- replies ---- */

static int64_t read_digits(const redisReply *reply, int64_t most) {
  if (reply->type != REDIS_REPLY_STRING || reply->len == 0) return -1;
  int64_t number = 0;
  for (size_t i = 0; i < reply->len; i++) {
    if (reply->str[i] < '0' || reply->str[i] > '9') return -1;
    number = 10 * number + (reply->str[i] - '0');
    if (number > most) return -1;
  }
  return number;
}

int64_t laju_nodes_read_time(const redisReply *reply) {
  if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2) return -1;
  int64_t seconds = read_digits(reply->element[0], LAJU_TIME_MAX_US / 1000000);
  int64_t us = read_digits(reply->element[1], 999999);
  return seconds < 0 || us < 0 ? -1 : seconds * 1000 + us / 1000;
}

/* A member of somebody else's making is a node whose version is not told. */
static laju_slice version_of(const redisReply *member) {
  if (member->type != REDIS_REPLY_STRING || member->len <= LAJU_NODES_ID_LEN) return (laju_slice){NULL, 0};
  laju_slice version = {member->str + LAJU_NODES_ID_LEN + 1, member->len - LAJU_NODES_ID_LEN - 1};
  bool valid = member->str[LAJU_NODES_ID_LEN] == ' ' && is_version(version);
  return valid ? version : (laju_slice){NULL, 0};
}

static void count_version(laju_nodes_seen *seen, laju_slice version) {
  if (version.at == NULL) return;
  size_t at = 0;
  while (at < seen->version_count &&
         !laju_slice_equal(version, (laju_slice){seen->versions[at].text, strlen(seen->versions[at].text)})) {
    at++;
  }
  if (at == LAJU_NODES_VERSIONS_MAX) return;
  if (at == seen->version_count) {
    memcpy(seen->versions[at].text, version.at, version.len);
    seen->version_count++;
  }
  seen->versions[at].count++;
}

int laju_nodes_read_who(const redisReply *reply, laju_nodes_seen *out) {
  if (reply->type != REDIS_REPLY_ARRAY || reply->elements != STEPS) return -1;
  const redisReply *count = reply->element[AT_COUNT], *list = reply->element[AT_COUNT + 1];
  if (count->type != REDIS_REPLY_INTEGER || count->integer < 1 || count->integer > UINT32_MAX) return -1;
  if (list->type != REDIS_REPLY_ARRAY || list->elements > LAJU_NODES_LISTED_MAX) return -1;
  *out = (laju_nodes_seen){.count = (uint32_t)count->integer};
  for (size_t i = 0; i < list->elements; i++) count_version(out, version_of(list->element[i]));
  return 0;
}
