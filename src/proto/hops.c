#include "proto/hops.h"

#include <strings.h>

bool laju_terms_trust(const laju_terms *terms, const laju_ip *address) {
  for (size_t i = 0; i < terms->trusted_count; i++) {
    if (laju_network_has(&terms->trusted[i], address)) return true;
  }
  return false;
}

/* Behind a colon: a number, or an obfuscated port. */
static bool is_port(laju_slice text) {
  if (text.len == 0) return false;
  for (size_t i = 0; i < text.len; i++) {
    char c = text.at[i];
    bool fits = (c >= '0' && c <= '9') || (text.at[0] == '_' && c > ' ' && c < 0x7f);
    if (!fits) return false;
  }
  return true;
}

bool laju_hop_address(laju_slice text, laju_ip *out) {
  laju_slice port;
  if (text.len > 0 && text.at[0] == '[') {
    laju_slice address = laju_slice_cut((laju_slice){text.at + 1, text.len - 1}, ']', &port);
    if (port.at == NULL || memchr(address.at, ':', address.len) == NULL) return false;
    if (port.len > 0 && (port.at[0] != ':' || !is_port((laju_slice){port.at + 1, port.len - 1}))) return false;
    return laju_ip_parse(address.at, address.len, out) == 0;
  }
  if (laju_ip_parse(text.at, text.len, out) == 0) return true;
  laju_slice address = laju_slice_cut(text, ':', &port);
  return port.at != NULL && is_port(port) && laju_ip_parse(address.at, address.len, out) == 0;
}

/* What reading from the right finds changes with one more hop at the right: nothing where that is trusted, unless nothing was
 * known to the left of it. */
static void add_hop(laju_hops *hops, const laju_terms *terms, laju_slice text) {
  laju_ip address;
  if (!laju_hop_address(text, &address)) {
    hops->known = false;
  } else if (!hops->known || !laju_terms_trust(terms, &address)) {
    hops->client = address;
    hops->known = true;
  }
}

void laju_hops_add_list(laju_hops *hops, const laju_terms *terms, laju_slice line) {
  while (line.at != NULL) {
    laju_slice hop = laju_slice_trim(laju_slice_cut(line, ',', &line));
    if (hop.len > 0) add_hop(hops, terms, hop); /* empty elements of a list are nothing (RFC 9110, section 5.6.1) */
  }
}

/* ---- Forwarded ---- */

#define NODE_MAX 128 /* bytes of a node in quotes: an address with its port is far shorter */

/* laju_slice_cut that passes over quoted strings. A quote that is not closed is no quote: what stood before must not swallow
 * what a proxy has put behind it. */
static laju_slice cut_unquoted(laju_slice text, char stop, laju_slice *rest) {
  bool quoted = false;
  for (size_t at = 0; at < text.len; at++) {
    char c = text.at[at];
    if (c == '"') quoted = !quoted;
    if (c == '\\' && quoted) at++;
    if (c != stop || quoted) continue;
    *rest = (laju_slice){text.at + at + 1, text.len - at - 1};
    return (laju_slice){text.at, at};
  }
  if (quoted) return laju_slice_cut(text, stop, rest);
  *rest = (laju_slice){NULL, 0};
  return text;
}

/* A value without its quotes and backslashes; `room` is for one that had some. False where the quotes are not whole. */
static bool unquote(laju_slice *value, char room[NODE_MAX]) {
  if (value->len == 0 || value->at[0] != '"') return true;
  if (value->len < 2 || value->len > NODE_MAX || value->at[value->len - 1] != '"') return false;
  size_t len = 0;
  for (size_t at = 1; at < value->len - 1; at++) {
    if (value->at[at] == '\\') at++;
    room[len++] = value->at[at];
  }
  *value = (laju_slice){room, len};
  return true;
}

/* The value of the element's one `for`; empty where there is none, or not one. */
static laju_slice find_node(laju_slice element, char room[NODE_MAX]) {
  laju_slice found = {"", 0};
  bool seen = false;
  while (element.at != NULL) {
    laju_slice value, pair = cut_unquoted(element, ';', &element);
    laju_slice name = laju_slice_trim(laju_slice_cut(pair, '=', &value));
    if (name.len != 3 || strncasecmp(name.at, "for", 3) != 0 || value.at == NULL) continue;
    value = laju_slice_trim(value);
    if (seen || !unquote(&value, room)) return (laju_slice){"", 0};
    seen = true;
    found = value;
  }
  return found;
}

void laju_hops_add_forwarded(laju_hops *hops, const laju_terms *terms, laju_slice line) {
  char room[NODE_MAX];
  while (line.at != NULL) {
    laju_slice element = laju_slice_trim(cut_unquoted(line, ',', &line));
    if (element.len > 0) add_hop(hops, terms, find_node(element, room));
  }
}
