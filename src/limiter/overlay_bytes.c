#include "limiter/overlay_bytes.h"

#include <string.h>

#include "base/bytes.h"
#include "core/rule.h"

#define VERSION 2
#define HEAD (1 + 2 + 4 + 4 + 8 + 2)

/* ---- writing ---- */

typedef struct writer {
  laju_buffer *out;
  const laju_rule_names *names;
} writer;

static void add_word(laju_buffer *out, uint64_t value, size_t bytes) {
  char text[8];
  for (size_t i = 0; i < bytes; i++) text[i] = (char)(value >> 8 * i & 0xff);
  laju_buffer_add(out, text, bytes);
}

static void add_entry(void *context, const laju_overlay_entry *entry) {
  const writer *w = context;
  const char *name = laju_rule_names_at(w->names, entry->number);
  size_t name_len = strlen(name);
  if (w->out->len == 0) add_word(w->out, VERSION, 4);
  add_word(w->out, name_len, 1);
  add_word(w->out, entry->key_len, 2);
  add_word(w->out, entry->limit, 4);
  add_word(w->out, entry->burst, 4);
  add_word(w->out, (uint64_t)entry->expires_us, 8);
  add_word(w->out, entry->veils, 2);
  laju_buffer_add(w->out, name, name_len);
  laju_buffer_add(w->out, entry->key, entry->key_len);
}

void laju_overlay_save(laju_overlay *overlay, const laju_rule_names *names, int64_t now_us, laju_buffer *out) {
  writer w = {.out = out, .names = names};
  laju_overlay_each(overlay, now_us, add_entry, &w);
}

/* ---- reading ---- */

static uint64_t word(const char *at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; i++) value |= (uint64_t)(unsigned char)at[i] << 8 * i;
  return value;
}

/* Reads one; returns the bytes that it took, or 0. `name` is terminated. */
static size_t read_entry(const char *at, size_t left, char name[LAJU_NAME_MAX + 1], laju_overlay_entry *out) {
  if (left < HEAD) return 0;
  size_t name_len = word(at, 1), key_len = word(at + 1, 2);
  uint64_t expires_us = word(at + 11, 8);
  out->limit = (uint32_t)word(at + 3, 4);
  out->burst = (uint32_t)word(at + 7, 4);
  out->veils = (uint16_t)word(at + 19, 2);
  bool good = key_len >= 1 && key_len <= LAJU_KEY_MAX && expires_us <= LAJU_TIME_MAX_US &&
              (out->limit == 0 || out->burst > 0) && left - HEAD >= name_len + key_len &&
              laju_name_valid(at + HEAD, name_len);
  if (!good) return 0;
  memcpy(name, at + HEAD, name_len);
  name[name_len] = '\0';
  memcpy(out->key, at + HEAD + name_len, key_len);
  out->key_len = (uint32_t)key_len;
  out->expires_us = (int64_t)expires_us;
  return HEAD + name_len + key_len;
}

static bool are_good(const char *bytes, size_t len) {
  char name[LAJU_NAME_MAX + 1];
  laju_overlay_entry entry;
  if (len < 4 || word(bytes, 4) != VERSION) return false;
  for (size_t at = 4; at < len;) {
    size_t took = read_entry(bytes + at, len - at, name, &entry);
    if (took == 0) return false;
    at += took;
  }
  return true;
}

int laju_overlay_load(laju_overlay *overlay, laju_rule_names *names, int64_t now_us, const char *bytes, size_t len) {
  char name[LAJU_NAME_MAX + 1];
  laju_overlay_entry entry;
  if (len == 0) return 0;
  if (!are_good(bytes, len)) return LAJU_ERR_SNAPSHOT;
  for (size_t at = 4; at < len;) {
    at += read_entry(bytes + at, len - at, name, &entry);
    if (entry.expires_us <= now_us) continue;
    entry.number = laju_rule_names_number(names, name);
    if (entry.number != 0) laju_overlay_put(overlay, &entry, now_us);
  }
  return 0;
}
