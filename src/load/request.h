/* What a load sends, again and again: one request as bytes, with the places where each copy gets a key of its own.
 *
 * A command is words, as at redis-cli, or HTTP's `METHOD PATH [BODY]`. `{key}`, `{rule}` and `{cost}` in it are filled in: a key
 * is `key:` and twelve digits, so that every copy is equally long. A single word LAJU.CHECK, LAJU.PEEK or CL.THROTTLE, and no
 * command at all, stand for the whole usual one. A request is made once and then read only: by any thread.
 */
#ifndef LAJU_LOAD_REQUEST_H
#define LAJU_LOAD_REQUEST_H

#include "base/buffer.h"
#include "load/door.h"
#include "load/reply.h"

#define LAJU_LOAD_WORDS_MAX 128      /* of a RESP command */
#define LAJU_LOAD_KEYS_PLACES_MAX 64 /* `{key}` in one request */
#define LAJU_LOAD_REQUEST_MAX 65536  /* bytes of one request; a pipeline of 1024 is 64 MiB */
#define LAJU_LOAD_HEADERS_MAX 16
#define LAJU_LOAD_KEY_DIGITS 12

typedef struct laju_load_wish {
  const char *command;        /* NULL: a check of `rule` */
  const char *rule;           /* [A-Za-z0-9_.-]{1,64} */
  const char *cost;           /* in digits; NULL: the rule's own */
  const char *const *headers; /* HTTP: "Name: value" each */
  size_t header_count;
} laju_load_wish;

typedef struct laju_load_request {
  laju_buffer bytes;
  size_t places[LAJU_LOAD_KEYS_PLACES_MAX]; /* where the digits of a key begin */
  size_t place_count;
  laju_load_meaning meaning; /* of the replies */
  laju_buffer command;       /* in words, terminated: what is sent, for people */
} laju_load_request;

/* 0, or -1 with `why`: `"HEAD /" has a method ...; allowed: ...`. `out` is then as it was; otherwise the caller deinits it. */
int laju_load_request_init(laju_load_request *out, const laju_load_door *door, const laju_load_wish *wish,
                           char why[LAJU_TEXT_SIZE]);
void laju_load_request_deinit(laju_load_request *request);

/* Writes the last `digits` digits of `number` over those of a key at `to`; the ones before them stay. */
void laju_load_key_write(char *to, uint64_t number, unsigned digits);

#endif
