#include "redis/refusal.h"

#include <string.h>

#include "base/slice.h"
#include "redis/slot.h"

#define DIGITS_MAX 5 /* of a slot or port */

static bool read_number(laju_slice text, uint32_t most, uint32_t *out) {
  if (text.len == 0 || text.len > DIGITS_MAX) return false;
  uint32_t number = 0;
  for (size_t i = 0; i < text.len; i++) {
    if (text.at[i] < '0' || text.at[i] > '9') return false;
    number = 10 * number + (uint32_t)(text.at[i] - '0');
  }
  if (number > most) return false;
  *out = number;
  return true;
}

static bool is_host_byte(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '.' ||
         byte == '-' || byte == '_' || byte == ':' || byte == '%';
}

bool laju_refusal_host_valid(const char *host, size_t len) {
  if (len == 0 || len > LAJU_STORE_HOST_MAX) return false;
  for (size_t i = 0; i < len; i++) {
    if (!is_host_byte(host[i])) return false;
  }
  return true;
}

bool laju_refusal_read_place(const char *text, size_t len, laju_store_place *out) {
  const char *colon = len > 0 ? memrchr(text, ':', len) : NULL;
  if (colon == NULL) return false;
  size_t host_len = (size_t)(colon - text);
  uint32_t port;
  if (!read_number((laju_slice){colon + 1, len - host_len - 1}, UINT16_MAX, &port) || port == 0) return false;
  if (host_len > 0 && !laju_refusal_host_valid(text, host_len)) return false;
  memcpy(out->host, text, host_len);
  out->host[host_len] = '\0';
  out->port = (uint16_t)port;
  return true;
}

static laju_refusal_kind kind_of(laju_slice word) {
  static const struct {
    const char *word;
    laju_refusal_kind kind;
  } kinds[] = {
      {"MOVED", LAJU_REFUSAL_MOVED},      {"ASK", LAJU_REFUSAL_ASK},         {"TRYAGAIN", LAJU_REFUSAL_TRYAGAIN},
      {"CLUSTERDOWN", LAJU_REFUSAL_DOWN}, {"MASTERDOWN", LAJU_REFUSAL_DOWN}, {"READONLY", LAJU_REFUSAL_READONLY},
      {"LOADING", LAJU_REFUSAL_LOADING},
  };
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (laju_slice_equal(word, (laju_slice){kinds[i].word, strlen(kinds[i].word)})) return kinds[i].kind;
  }
  return LAJU_REFUSAL_NONE;
}

void laju_refusal_read(const char *text, size_t len, laju_refusal *out) {
  laju_slice rest = {text, len};
  laju_slice word = laju_slice_cut(rest, ' ', &rest);
  *out = (laju_refusal){.kind = kind_of(word)};
  if (out->kind != LAJU_REFUSAL_MOVED && out->kind != LAJU_REFUSAL_ASK) return;
  uint32_t slot;
  laju_slice slot_text = laju_slice_cut(rest, ' ', &rest);
  if (!read_number(slot_text, LAJU_SLOTS - 1, &slot) || !laju_refusal_read_place(rest.at, rest.len, &out->to)) {
    *out = (laju_refusal){.kind = LAJU_REFUSAL_NONE};
    return;
  }
  out->slot = (uint16_t)slot;
}
