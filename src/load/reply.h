/* Counts the replies of a server under load, whatever pieces they come in, and what they decide. Sans I/O.
 *
 * RESP2 is read here and not by hiredis, and of a reply no more than its shape and its first integer: the load must cost less
 * than the server that it measures, and hiredis makes an object of every element. HTTP is llhttp's.
 *
 * A reader belongs to one connection and one thread; a tally to one thread that writes it, and any may read its counts.
 */
#ifndef LAJU_LOAD_REPLY_H
#define LAJU_LOAD_REPLY_H

#include <llhttp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "load/door.h"

#define LAJU_LOAD_ERROR_SIZE 161       /* of an error's text, its terminating 0 included */
#define LAJU_LOAD_LINE_MAX 160         /* bytes of a RESP line that are looked at */
#define LAJU_LOAD_ELEMENTS_MAX 1048576 /* of one RESP reply, those of arrays in it included */
#define LAJU_LOAD_BULK_MAX (512 << 20) /* bytes of one RESP string */

/* What the first integer of a RESP reply says. Over HTTP a status 2xx is an admission and 429 a denial. */
typedef enum laju_load_meaning {
  LAJU_LOAD_ANY,        /* nothing: every reply that is no error counts as allowed */
  LAJU_LOAD_ONE_ALLOWS, /* LAJU.CHECK */
  LAJU_LOAD_ONE_DENIES, /* CL.THROTTLE */
} laju_load_meaning;

typedef struct laju_load_tally {
  _Atomic uint64_t allowed, denied, errors; /* together: all replies */
  char error[LAJU_LOAD_ERROR_SIZE]; /* the first error's text, without control characters; "" while there is none */
} laju_load_tally;

typedef enum laju_load_verdict {
  LAJU_LOAD_UNDECIDED,
  LAJU_LOAD_ALLOWED,
  LAJU_LOAD_DENIED,
  LAJU_LOAD_FAILED,
} laju_load_verdict;

typedef struct laju_load_resp {
  uint64_t left; /* values still to come in this reply; 0: between replies */
  uint64_t bulk; /* bytes of a string still to come, its line end included */
  laju_load_verdict verdict;
  size_t held_len; /* bytes that have come of a line without its end, those beyond `held` included */
  char held[LAJU_LOAD_LINE_MAX];
} laju_load_resp;

typedef struct laju_load_http {
  llhttp_t parser;
  bool telling; /* this reply is the first error: its body goes into the tally's text */
} laju_load_http;

typedef struct laju_load_reader {
  laju_load_protocol protocol;
  laju_load_meaning meaning;
  laju_load_tally *tally;
  uint64_t count; /* replies that have ended since feed began */
  bool last;      /* the server has said that this reply is the connection's last */
  union {
    laju_load_resp resp;
    laju_load_http http;
  };
} laju_load_reader;

void laju_load_reader_init(laju_load_reader *reader, laju_load_protocol protocol, laju_load_meaning meaning,
                           laju_load_tally *tally);

/* How many replies ended in these bytes; they are in the tally. -1: this is not the protocol; nothing more is to be fed. */
int64_t laju_load_reader_feed(laju_load_reader *reader, const char *bytes, size_t len);

/* The same of the connection's end, which is the end of a reply that does not tell its length. One that breaks off is none. */
uint64_t laju_load_reader_finish(laju_load_reader *reader);

/* ---- for reply_resp.c and reply_http.c ------------------------------------------------------------------------------ */

void laju_load_http_init(laju_load_reader *reader);
int laju_load_http_feed(laju_load_reader *reader, const char *bytes, size_t len);
void laju_load_http_finish(laju_load_reader *reader);
int laju_load_resp_feed(laju_load_reader *reader, const char *bytes, size_t len);

/* A reply is over. */
void laju_load_reader_end(laju_load_reader *reader, laju_load_verdict verdict);

/* Adds to the first error's text. */
void laju_load_tally_tell(laju_load_tally *tally, const char *text, size_t len);

#endif
