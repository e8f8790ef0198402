/* The admin door and strangers. Whatever the bytes are and however they are cut, each answer is a whole response with the guards that
 * browsers need, its body is JSON where it says so, and no byte outside is touched. */
#include <jansson.h>
#include <stdint.h>

#include "../unit/proto/admin_door.h"

#define CONTINUE "HTTP/1.1 100 Continue\r\n\r\n"

static desk k;

static const char *after(const char *at, const char *end, const char *text) {
  const char *found = memmem(at, (size_t)(end - at), text, strlen(text));
  return found != NULL ? found + strlen(text) : NULL;
}

static void check_json(const char *body, size_t len) {
  json_t *document = json_loadb(body, len, JSON_REJECT_DUPLICATES, NULL);
  door_must(document != NULL);
  json_decref(document);
}

/* The response at `at`; returns its end. */
static const char *check_response(const char *at, const char *end) {
  size_t left = (size_t)(end - at);
  if (left >= sizeof CONTINUE - 1 && memcmp(at, CONTINUE, sizeof CONTINUE - 1) == 0) return at + sizeof CONTINUE - 1;
  door_must(left > 12 && memcmp(at, "HTTP/1.1 ", 9) == 0);
  const char *body = after(at, end, "\r\n\r\n");
  door_must(body != NULL);
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

static void check_responses(const laju_buffer *out) {
  if (out->len == 0) return;
  const char *at = out->data, *end = out->data + out->len;
  while (at < end) at = check_response(at, end);
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
  check_responses(&k.d.out);
  desk_reconnect(&k);
  door_must(k.admin.subscribers == 0 && k.pending == NULL);
  return 0;
}
