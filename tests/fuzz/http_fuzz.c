/* HTTP from strangers. Whatever the bytes are and however they are cut, the answers are the same as in one piece (but for
 * "100 Continue"), each is a whole response whose body, if it has one, is JSON, and no byte outside is touched. */
#include "../unit/proto/http_door.h"

#include "http_answers.h"

static const char *check_answer(const char *at, const char *body, const char *end) {
  const char *length = after(at, body, "\r\nContent-Length: ");
  door_must(length != NULL && after(at, body, "\r\nDate: ") != NULL);
  bool typed = after(at, body, "\r\nContent-Type: application/") != NULL;
  door_must(typed == (*length != '0'));
  if (!typed) return body;
  if (body == end || (*body != '{' && *body != '[')) return body; /* the answer to HEAD */
  size_t len = strtoul(length, NULL, 10);
  door_must(len <= (size_t)(end - body));
  check_json(body, len);
  return body + len;
}

/* Takes the interim answers out. */
static void settle(laju_buffer *out) {
  if (out->len == 0) return;
  char *at = out->data;
  while ((at = memmem(at, out->len - (size_t)(at - out->data), CONTINUE, sizeof CONTINUE - 1)) != NULL) {
    size_t behind = out->len - (size_t)(at - out->data) - (sizeof CONTINUE - 1);
    memmove(at, at + sizeof CONTINUE - 1, behind);
    out->len -= sizeof CONTINUE - 1;
  }
}

/* Feeds pieces whose lengths `seed` decides; 0: one piece. */
static void converse(door *d, const uint8_t *bytes, size_t len, uint32_t seed) {
  door_open(d, &laju_http_codec);
  for (size_t at = 0, piece; at < len; at += piece) {
    seed = seed * 1664525 + 1013904223;
    piece = seed % 7 == 0 ? seed >> 20 : 1 + (seed >> 28);
    if (piece > len - at) piece = len - at;
    door_feed(d, &laju_http_codec, (const char *)bytes + at, piece);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
  door whole, cut;
  door_open(&whole, &laju_http_codec);
  door_feed(&whole, &laju_http_codec, (const char *)bytes, len);
  check_answers(&whole.out, check_answer);
  converse(&cut, bytes, len, len > 0 ? (uint32_t)(bytes[len / 2] * 31 + len) : 1);
  check_answers(&cut.out, check_answer);
  settle(&whole.out);
  settle(&cut.out);
  door_must(whole.closed == cut.closed && whole.out.len == cut.out.len);
  door_must(whole.out.len == 0 || memcmp(whole.out.data, cut.out.data, cut.out.len) == 0);
  bool pending = laju_http_codec.unfinished(whole.connection);
  door_must(pending == laju_http_codec.unfinished(cut.connection));
  laju_buffer_clear(&cut.out);
  laju_http_codec.give_up(cut.connection, &cut.out);
  door_must(pending == (cut.out.len > 0));
  check_answers(&cut.out, check_answer);
  door_shut(&whole);
  door_shut(&cut);
  return 0;
}
