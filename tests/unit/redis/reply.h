/* Replies as a server sends them, through hiredis' reader; and how cmocka wants to be included. */
#ifndef TESTS_UNIT_REDIS_REPLY_H
#define TESTS_UNIT_REDIS_REPLY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <hiredis/hiredis.h>

/* The caller frees it. */
static inline redisReply *reply_of(const char *bytes) {
  redisReader *reader = redisReaderCreate();
  void *reply = NULL;
  assert_int_equal(redisReaderFeed(reader, bytes, strlen(bytes)), REDIS_OK);
  assert_int_equal(redisReaderGetReply(reader, &reply), REDIS_OK);
  assert_non_null(reply);
  redisReaderFree(reader);
  return reply;
}

#endif
