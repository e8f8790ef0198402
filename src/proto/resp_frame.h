/* Bytes to a request's arguments, as RESP has them: an array of bulk strings, or a line of words (telnet's way).
 *
 * A request is read once it is all there; until then the reader remembers how far it has looked, so that no byte is looked
 * at again and again. A request that is too large is not kept: it is refused as soon as that is known, and the rest of it
 * is let by, so that the connection stays usable. What is not RESP at all ends the connection.
 */
#ifndef LAJU_PROTO_RESP_FRAME_H
#define LAJU_PROTO_RESP_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/batch.h"

#define LAJU_RESP_ARGUMENTS_MAX (3 + LAJU_EACH_MAX) /* arguments of a request: LAJU.MCHECK rule cost key ... */
#define LAJU_RESP_ARGUMENT_MAX LAJU_KEY_MAX         /* bytes of an argument */
#define LAJU_RESP_LINE_MAX 65536                    /* bytes of an inline request, its line end included */
#define LAJU_RESP_ARRAY_MAX (1 << 20)               /* arguments that are let by; above, the connection ends */
#define LAJU_RESP_BULK_MAX (1 << 20)    /* bytes of an argument that are let by; above, the connection ends */
#define LAJU_RESP_STRANGER_ARRAY_MAX 10 /* the same two where a password is still to come, as redis has them */
#define LAJU_RESP_STRANGER_BULK_MAX 16384

/* The largest request that is kept: each argument with its "$1024\r\n" and "\r\n", and the array's "*1003\r\n". */
#define LAJU_RESP_REQUEST_MAX (7 + LAJU_RESP_ARGUMENTS_MAX * (7 + LAJU_RESP_ARGUMENT_MAX + 2))

#define LAJU_RESP_BROKEN_SIZE 64

typedef struct laju_resp_argument {
  char *at; /* any bytes, not terminated */
  uint32_t len;
} laju_resp_argument;

/* What is remembered of a request that is not all here. All zeros: none has begun. */
typedef struct laju_resp_reader {
  uint32_t seen;       /* bytes of it that need no second look */
  uint32_t left;       /* an array: its arguments that begin after those */
  uint32_t skip_bytes; /* a refused request: what is still to come of the current argument, its line end included, */
  uint32_t skip_arguments; /* and arguments after that */
} laju_resp_reader;

typedef enum laju_resp_step {
  LAJU_RESP_PART,     /* more bytes are needed; `size` may go already */
  LAJU_RESP_WHOLE,    /* a request of `argc` arguments; 0: an empty one, to be ignored */
  LAJU_RESP_TOO_MANY, /* refused for its `array_len` arguments; argv has the first */
  LAJU_RESP_TOO_LONG, /* refused for argument number `argc`, of `bulk_len` bytes; argv has those before it */
  LAJU_RESP_SKIPPED,  /* the last of a refused request went by; it was answered before */
  LAJU_RESP_BROKEN,   /* not RESP: `broken` says why, and nothing after it can be read */
} laju_resp_step;

typedef struct laju_resp_request {
  size_t size; /* bytes that this step used up */
  size_t argc;
  uint32_t array_len, bulk_len;
  char broken[LAJU_RESP_BROKEN_SIZE];
  laju_resp_argument argv[LAJU_RESP_ARGUMENTS_MAX];
} laju_resp_request;

/* Reads on from the `len` bytes at `bytes`, that begin with what was not yet used up. `stranger`: a password is still to
 * come. A line of words is unquoted in place when it is whole, so it must be used then. */
laju_resp_step laju_resp_read(laju_resp_reader *reader, char *bytes, size_t len, bool stranger, laju_resp_request *out);

/* Is a refused request still going by? */
static inline bool laju_resp_skipping(const laju_resp_reader *reader) {
  return (reader->skip_bytes | reader->skip_arguments) != 0;
}

#endif
