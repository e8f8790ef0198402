/* The admin door and strangers. Whatever the bytes are and however they are cut, each answer is a whole response with the guards that
 * browsers need, its body is JSON where it says so, and no byte outside is touched. */
#include "../unit/proto/admin_door.h"

#include "http_answers.h"

static desk k;

static const char *check_answer(const char *at, const char *body, const char *end) {
  door_must(after(at, body, "\r\nContent-Security-Policy: default-src 'none';") != NULL);
  door_must(after(at, body, "\r\nX-Content-Type-Options: nosniff\r\n") != NULL);
  if (after(at, body, "\r\nContent-Type: text/event-stream\r\n") != NULL) return end;
  if (memcmp(at, "HTTP/1.1 304", 12) == 0) return body;
  const char *length = after(at, body, "\r\nContent-Length: ");
  door_must(length != NULL);
  size_t len = strtoul(length, NULL, 10);
  bool is_head = body == end || memcmp(body, "HTTP/1.1 ", (size_t)(end - body) < 9 ? (size_t)(end - body) : 9) == 0;
  if (is_head) return body;
  door_must(len <= (size_t)(end - body));
  if (after(at, body, "\r\nContent-Type: application/") != NULL) check_json(body, len);
  return body + len;
}

/* The first byte says how: whether there is a token, whether changes wait, how the rest is cut. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
  static bool opened;
  if (!opened) desk_open(&k);
  opened = true;
  if (len == 0) return 0;
  laju_overlay_replace(k.admin.overlay, NULL, 0, 0);
  k.d.terms.admin_token = (bytes[0] & 1) != 0 ? "open barley" : NULL;
  k.d.terms.admin_reveal = (bytes[0] & 2) != 0;
  k.waits = (bytes[0] & 4) != 0;
  uint32_t seed = bytes[0];
  for (size_t at = 1, piece; at < len; at += piece) {
    seed = seed * 1664525 + 1013904223;
    piece = bytes[0] < 128 ? len - at : seed % 7 == 0 ? seed >> 20 : 1 + (seed >> 28);
    if (piece > len - at) piece = len - at;
    door_feed(&k.d, &laju_admin_codec, (const char *)bytes + at, piece);
    if (k.pending != NULL) desk_finish(&k, k.pending);
    laju_pushed pushed = laju_admin_codec.push(k.d.connection, &k.d.out);
    if (pushed == LAJU_PUSHED_LAST) k.d.closed = true;
  }
  if (!k.d.closed && laju_admin_codec.unfinished(k.d.connection)) laju_admin_codec.give_up(k.d.connection, &k.d.out);
  check_answers(&k.d.out, check_answer);
  desk_reconnect(&k);
  door_must(k.admin.subscribers == 0 && k.pending == NULL);
  return 0;
}
