/* A connection's bytes, in pieces. The first byte says how large the pieces are. What comes out must be what hiredis' own objects
 * say of the same bytes in one piece: as many replies, each alike; and an end at the same place. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "redis/replies.h"
#include "reply.h"

static void check_same(const redisReply *a, const redisReply *b) {
  if (a->type != b->type || a->integer != b->integer || a->len != b->len || a->elements != b->elements) abort();
  if ((a->str == NULL) != (b->str == NULL) || (a->str != NULL && memcmp(a->str, b->str, a->len + 1) != 0)) abort();
  for (size_t i = 0; i < a->elements; i++) check_same(a->element[i], b->element[i]);
}

/* Both readers' next reply; false where there is none. */
static bool step(laju_replies *replies, redisReader *whole) {
  const redisReply *mine;
  void *other = NULL;
  int got = laju_replies_next(replies, &mine);
  if (got == 0) return false;
  int other_got = redisReaderGetReply(whole, &other) == REDIS_OK ? other != NULL : -1;
  if (got != other_got) abort();
  if (got < 0) return false;
  check_same(mine, other);
  freeReplyObject(other);
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
  if (len < 2 || announces_too_much(bytes, len)) return 0;
  size_t piece = bytes[0] + 1u;
  const char *text = (const char *)bytes + 1;
  laju_replies replies;
  redisReader *whole = redisReaderCreate();
  if (laju_replies_init(&replies) < 0 || whole == NULL) abort();
  if (redisReaderFeed(whole, text, len - 1) != REDIS_OK) abort();
  for (size_t at = 0; at < len - 1; at += piece) {
    size_t part = len - 1 - at < piece ? len - 1 - at : piece;
    if (!laju_replies_feed(&replies, text + at, part)) break;
    while (step(&replies, whole)) continue;
  }
  void *more = NULL;
  if (redisReaderGetReply(whole, &more) == REDIS_OK && more != NULL) abort();
  laju_replies_deinit(&replies);
  redisReaderFree(whole);
  return 0;
}
