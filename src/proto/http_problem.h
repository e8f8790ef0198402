/* An error as its client reads it: a problem document (RFC 9457), application/problem+json.
 *
 *     {"type":"about:blank","title":"Bad Request","status":400,
 *      "detail":"[3].cost is out of range; allowed: 0 to 4294967295",
 *      "field":"[3].cost","value":-1,"allowed":"0 to 4294967295"}
 *
 * A laju_problem points to the client's own bytes (the value, an unknown name), so it is written before those change. What is
 * shown of them is bounded, and is valid JSON and UTF-8 whatever they are. Pure; any thread.
 */
#ifndef LAJU_PROTO_HTTP_PROBLEM_H
#define LAJU_PROTO_HTTP_PROBLEM_H

#include <stddef.h>
#include <stdint.h>

#define LAJU_PROBLEM_SHOWN 64 /* bytes of the client's that are shown of a name or a value */
#define LAJU_PROBLEM_MAX 4096 /* bytes of a document */
#define LAJU_PROBLEM_NO_INDEX SIZE_MAX

typedef struct laju_shown {
  const char *text; /* NULL: nothing to show */
  size_t len;
} laju_shown;

typedef struct laju_problem {
  int status;
  const char *detail; /* what is wrong with the field, such as "is out of range"; without a field, a sentence */
  const char *list;   /* "" or "checks": the list that the field is in, where it has an index */
  size_t index;       /* or LAJU_PROBLEM_NO_INDEX */
  laju_shown field;
  laju_shown value;    /* as a string */
  laju_shown literal;  /* or as it is: JSON already, at most LAJU_PROBLEM_SHOWN bytes */
  const char *allowed; /* or NULL */
  size_t at_byte;      /* where the body cannot be read, from 1; 0: that is not what is wrong */
  char text[128];      /* room for an `allowed` that is made up */
} laju_problem;

/* "Not Found" for 404. */
const char *laju_http_reason(int status);

/* Writes the document; returns its bytes, at most LAJU_PROBLEM_MAX. `detail` and `allowed` count up to 256 bytes each. */
size_t laju_problem_write(const laju_problem *problem, char to[LAJU_PROBLEM_MAX]);

#endif
