#include "base/network.h"

#include <arpa/inet.h>
#include <string.h>

#define V4_BITS 96 /* of ::ffff:0:0/96 */

static const uint8_t v4_prefix[12] = {[10] = 0xff, [11] = 0xff};

void laju_ip_from_v4(laju_ip *out, const void *bytes) {
  memcpy(out->bytes, v4_prefix, sizeof v4_prefix);
  memcpy(out->bytes + sizeof v4_prefix, bytes, 4);
}

int laju_ip_parse(const char *text, size_t len, laju_ip *out) {
  char copy[LAJU_IP_TEXT_SIZE];
  laju_ip address;
  if (len == 0 || len >= sizeof copy || memchr(text, 0, len) != NULL) return -1;
  memcpy(copy, text, len);
  copy[len] = 0;
  if (memchr(text, ':', len) != NULL) {
    if (inet_pton(AF_INET6, copy, address.bytes) != 1) return -1;
  } else {
    uint8_t v4[4];
    if (inet_pton(AF_INET, copy, v4) != 1) return -1;
    laju_ip_from_v4(&address, v4);
  }
  *out = address;
  return 0;
}

/* One to three digits, at most `max`. */
static int parse_prefix(const char *text, size_t len, unsigned max, unsigned *out) {
  unsigned value = 0;
  if (len < 1 || len > 3 || (len > 1 && text[0] == '0')) return -1;
  for (size_t i = 0; i < len; i++) {
    if (text[i] < '0' || text[i] > '9') return -1;
    value = value * 10 + (unsigned)(text[i] - '0');
  }
  if (value > max) return -1;
  *out = value;
  return 0;
}

int laju_network_parse(const char *text, size_t len, laju_network *out) {
  const char *slash = memchr(text, '/', len);
  size_t address_len = slash != NULL ? (size_t)(slash - text) : len;
  laju_network network = {.prefix = 128};
  if (laju_ip_parse(text, address_len, &network.address) < 0) return -1;
  if (slash != NULL) {
    bool dotted = laju_ip_is_v4(&network.address) && memchr(text, ':', address_len) == NULL;
    unsigned prefix;
    if (parse_prefix(slash + 1, len - address_len - 1, dotted ? 32 : 128, &prefix) < 0) return -1;
    network.prefix = (uint8_t)(dotted ? V4_BITS + prefix : prefix);
  }
  laju_ip cut = laju_ip_cut(&network.address, network.prefix);
  if (memcmp(&cut, &network.address, sizeof cut) != 0) return -1;
  *out = network;
  return 0;
}

bool laju_ip_is_v4(const laju_ip *address) {
  return memcmp(address->bytes, v4_prefix, sizeof v4_prefix) == 0;
}

bool laju_ip_is_loopback(const laju_ip *address) {
  static const laju_ip loopback6 = {.bytes = {[15] = 1}};
  if (laju_ip_is_v4(address)) return address->bytes[12] == 127;
  return memcmp(address, &loopback6, sizeof loopback6) == 0;
}

laju_ip laju_ip_cut(const laju_ip *address, unsigned prefix) {
  laju_ip cut = *address;
  if (prefix >= 8 * sizeof cut.bytes) return cut;
  for (unsigned i = 0; i < sizeof cut.bytes; i++) {
    unsigned kept = prefix > 8 * i ? prefix - 8 * i : 0; /* bits of this byte */
    if (kept < 8) cut.bytes[i] &= (uint8_t)(0xff00U >> kept);
  }
  return cut;
}

bool laju_network_has(const laju_network *network, const laju_ip *address) {
  laju_ip cut = laju_ip_cut(address, network->prefix);
  return memcmp(&cut, &network->address, sizeof cut) == 0;
}

static char *put_octet(char *to, uint8_t octet) {
  if (octet >= 100) *to++ = (char)('0' + octet / 100);
  if (octet >= 10) *to++ = (char)('0' + octet / 10 % 10);
  *to++ = (char)('0' + octet % 10);
  return to;
}

/* By hand: every request without another key has its address written, and inet_ntop goes through sprintf for it. */
static size_t format_v4(char *to, const uint8_t bytes[4]) {
  char *at = to;
  for (int i = 0; i < 4; i++) {
    at = put_octet(at, bytes[i]);
    *at++ = '.';
  }
  *--at = '\0';
  return (size_t)(at - to);
}

size_t laju_ip_format(char to[LAJU_IP_TEXT_SIZE], const laju_ip *address) {
  if (laju_ip_is_v4(address)) return format_v4(to, address->bytes + sizeof v4_prefix);
  inet_ntop(AF_INET6, address->bytes, to, LAJU_IP_TEXT_SIZE);
  return strlen(to);
}
