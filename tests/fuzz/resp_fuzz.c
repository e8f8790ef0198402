/* RESP from strangers. Whatever the bytes are and however they are cut, the replies are the same as in one piece, they are
 * RESP themselves, nothing is kept above the bound, and no byte outside is touched. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/codec.h"
#include "proto/resp.h"

#define TIME_US INT64_C(1700000000000000)

static laju_service service;
static laju_terms terms;
static const laju_peer peer;
static laju_way way;
static laju_batch *batch;

/* A table as new for every input, or one input's admissions would show in the next. */
static void open_service(bool locked) {
  if (terms.rules == NULL) {
    batch = laju_batch_new();
    if (batch == NULL) abort();
    laju_rule rules[2];
    laju_policy policies[2];
    char why[LAJU_TEXT_SIZE];
    laju_ruleset *set;
    if (laju_rule_parse(&rules[0], "api=10/10s token-bucket", why) < 0) abort();
    if (laju_rule_parse(&rules[1], "none=0/1s sliding-window-log", why) < 0) abort();
    for (int i = 0; i < 2; i++) laju_policy_init(&policies[i], &rules[i]);
    if (laju_ruleset_new(&set, policies, 2) < 0) abort();
    terms.rules = set;
    terms.resp_admin = true;
    atomic_store(&service.terms, &terms);
    atomic_store(&service.stage, LAJU_SERVING);
  }
  laju_limiter_options options = {.memory_bytes = 1 << 20};
  if (laju_limiter_new(&service.limiter, &options) < 0) abort();
  way.limiter = service.limiter;
  terms.resp_password = locked ? "pw" : NULL;
}

/* The replies to `len` bytes, fed in pieces of `first` and then `step` bytes, each time in a block of exactly their size. */
static void converse(const uint8_t *bytes, size_t len, size_t first, size_t step, bool locked, laju_buffer *replies) {
  open_service(locked);
  laju_resp_connection *connection = calloc(1, sizeof *connection);
  char *kept = NULL;
  size_t kept_len = 0;
  bool closed = false;
  if (connection == NULL) abort();
  laju_resp_codec.init(connection, &service, &peer);
  connection->id = 1; /* or HELLO would tell another number each time */
  for (size_t at = 0, piece = first; at < len && !closed; at += piece, piece = step) {
    if (piece > len - at) piece = len - at;
    char *grown = malloc(kept_len + piece);
    if (grown == NULL) abort();
    if (kept_len > 0) memcpy(grown, kept, kept_len);
    memcpy(grown + kept_len, bytes + at, piece);
    free(kept);
    kept = grown;
    kept_len += piece;
    for (bool more = true; more && !closed;) {
      laju_batch_clear(batch);
      laju_parsed parsed = laju_resp_codec.parse(connection, kept, kept_len, batch);
      if (parsed.consumed > kept_len || (parsed.more && batch->ask_count == 0)) abort();
      laju_batch_decide(batch, &way, TIME_US);
      laju_resp_codec.encode(connection, batch, replies);
      kept_len -= parsed.consumed;
      memmove(kept, kept + parsed.consumed, kept_len);
      more = parsed.more;
      closed = parsed.closed;
    }
    if (kept_len > laju_resp_codec.input_max) abort();
    if (!closed && laju_resp_codec.unfinished(connection) < (kept_len > 0)) abort();
  }
  free(kept);
  free(connection);
  laju_limiter_free(service.limiter);
}

/* ---- are the replies RESP? ---- */

/* The number after a type's mark, up to its line end; `*at` moves behind it. */
static long long read_integer(const char **at, const char *end) {
  char *stop;
  const char *line = memchr(*at, '\r', (size_t)(end - *at));
  if (line == NULL || end - line < 2 || line[1] != '\n') abort();
  long long value = strtoll(*at + 1, &stop, 10);
  if (stop != line) abort();
  *at = line + 2;
  return value;
}

static void read_value(const char **at, const char *end, int depth) {
  if (*at == end || depth > 8) abort();
  char type = **at;
  if (type == '+' || type == '-' || type == '_') {
    const char *line = memchr(*at, '\r', (size_t)(end - *at));
    if (line == NULL || end - line < 2 || line[1] != '\n') abort();
    *at = line + 2;
    return;
  }
  if (memchr(":$*%~", type, 5) == NULL) abort();
  long long value = read_integer(at, end);
  if (type == '$' && value >= 0) {
    if (value + 2 > end - *at || memcmp(*at + value, "\r\n", 2) != 0) abort();
    *at += value + 2;
  }
  if (type == '$' || type == ':') return;
  for (long long i = 0; i < (type == '%' ? 2 * value : value); i++) read_value(at, end, depth + 1);
}

static void read_replies(const laju_buffer *replies) {
  if (replies->len == 0) return;
  const char *at = replies->data, *end = replies->data + replies->len;
  while (at < end) read_value(&at, end, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  bool locked = (data[0] & 1) != 0;
  size_t step = 1 + data[0] / 2, first = 1 + data[1];
  data += 2;
  size -= 2;
  laju_buffer whole = {0}, cut = {0};
  converse(data, size, size, 1, locked, &whole);
  converse(data, size, first, step, locked, &cut);
  read_replies(&whole);
  read_replies(&cut);
  if (whole.len != cut.len || (whole.len > 0 && memcmp(whole.data, cut.data, whole.len) != 0)) abort();
  laju_buffer_deinit(&whole);
  laju_buffer_deinit(&cut);
  return 0;
}
