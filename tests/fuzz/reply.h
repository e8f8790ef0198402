/* A reply as a server sends it, through hiredis' reader. */
#ifndef TESTS_FUZZ_REPLY_H
#define TESTS_FUZZ_REPLY_H

#include <ctype.h>
#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define NUMBER_MAX 99999

/* hiredis takes memory for as many elements as a reply announces: no larger ones than any that laju is for. */
static inline bool announces_too_much(const uint8_t *bytes, size_t len) {
  for (size_t i = 0; i < len; i++) {
    if (bytes[i] != '*' && bytes[i] != '$') continue;
    long number = 0;
    for (size_t j = i + 1; j < len && isdigit(bytes[j]) && number <= NUMBER_MAX; j++)
      number = 10 * number + bytes[j] - '0';
    if (number > NUMBER_MAX) return true;
  }
  return false;
}

/* NULL where the bytes are no whole reply. The caller frees it. */
static inline redisReply *reply_read(const uint8_t *bytes, size_t len) {
  if (announces_too_much(bytes, len)) return NULL;
  redisReader *reader = redisReaderCreate();
  void *reply = NULL;
  if (reader == NULL) abort();
  if (redisReaderFeed(reader, (const char *)bytes, len) != REDIS_OK ||
      redisReaderGetReply(reader, &reply) != REDIS_OK) {
    reply = NULL;
  }
  redisReaderFree(reader);
  return reply;
}

#endif
