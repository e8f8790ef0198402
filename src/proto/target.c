#include "proto/target.h"

#include "base/network.h"
#include "base/percent.h"

/* ---- parts ---- */

static bool is_alpha(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The bytes of "scheme://", or 0. */
static size_t scheme_len(laju_slice text) {
  size_t at = 0;
  while (at < text.len && (is_alpha(text.at[at]) || (at > 0 && memchr("0123456789+-.", text.at[at], 13) != NULL))) at++;
  return at > 0 && text.len - at >= 3 && memcmp(text.at + at, "://", 3) == 0 ? at + 3 : 0;
}

/* The bytes before the first of three stops. */
static size_t span(laju_slice text, const char stops[3]) {
  size_t at = 0;
  while (at < text.len && text.at[at] != stops[0] && text.at[at] != stops[1] && text.at[at] != stops[2]) at++;
  return at;
}

static laju_slice from(laju_slice text, size_t at) {
  return (laju_slice){text.at + at, text.len - at};
}

laju_target laju_target_split(laju_slice text) {
  laju_target target = {.authority = {NULL, 0}};
  size_t scheme = scheme_len(text);
  if (scheme > 0) {
    text = from(text, scheme);
    target.authority = (laju_slice){text.at, span(text, "/?#")};
    text = from(text, target.authority.len);
    const char *user = memrchr(target.authority.at, '@', target.authority.len);
    if (user != NULL) target.authority = from(target.authority, (size_t)(user + 1 - target.authority.at));
  }
  target.path = (laju_slice){text.at, span(text, "??#")};
  text = from(text, target.path.len);
  if (text.len == 0 || text.at[0] == '#') return target;
  text = from(text, 1);
  target.query = (laju_slice){text.at, span(text, "###")};
  return target;
}

/* ---- paths ---- */

static size_t decode(char *to, laju_slice text) {
  size_t len = 0;
  for (size_t at = 0; at < text.len;) to[len++] = laju_percent_next(text.at, text.len, &at);
  return len;
}

/* Where the last segment of the first `len` bytes begins, with its slash. */
static size_t parent(const char *path, size_t len) {
  while (len > 0 && path[--len] != '/') continue;
  return len;
}

/* Decoded behind room for the first slash, then moved together: what is written never passes what is read. */
size_t laju_path_normalise(char *to, laju_slice path) {
  size_t end = 1 + decode(to + 1, path), len = 0;
  bool open = true; /* nothing, a slash or a dot segment was the last */
  for (size_t at = 1; at < end;) {
    const char *segment = to + at;
    const char *slash = memchr(segment, '/', end - at);
    size_t segment_len = slash != NULL ? (size_t)(slash - segment) : end - at;
    bool dot = segment_len == 1 && segment[0] == '.', dots = segment_len == 2 && memcmp(segment, "..", 2) == 0;
    at += segment_len + 1;
    open = slash != NULL || dot || dots;
    if (dots) len = parent(to, len);
    if (segment_len == 0 || dot || dots) continue;
    to[len++] = '/';
    memmove(to + len, segment, segment_len);
    len += segment_len;
  }
  if (open) to[len++] = '/';
  return len;
}

/* ---- hosts ---- */

/* Without port and brackets. An IPv6 address that has lost its brackets is all address. */
static laju_slice bare(laju_slice host) {
  laju_slice rest;
  laju_ip address;
  if (host.len > 0 && host.at[0] == '[') return laju_slice_cut(from(host, 1), ']', &rest);
  if (laju_ip_parse(host.at, host.len, &address) == 0) return host;
  return laju_slice_cut(host, ':', &rest);
}

size_t laju_host_normalise(char *to, laju_slice host) {
  host = bare(host);
  while (host.len > 0 && host.at[host.len - 1] == '.') host.len--;
  for (size_t i = 0; i < host.len; i++) {
    char c = host.at[i];
    to[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
  }
  return host.len;
}
