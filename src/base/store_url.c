#include "base/store_url.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/hex.h"
#include "base/nearest.h"
#include "base/network.h"

#define ALLOWED "redis://HOST:PORT, rediss:// (TLS), unix:/PATH, redis+sentinel://H1,H2/NAME, redis+cluster://H1,H2"
#define PLACES_SHOWN 3
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct scheme {
  const char *word;
  laju_store_kind kind;
  bool tls;
} schemes[] = {
    {"redis", LAJU_STORE_SINGLE, false},
    {"rediss", LAJU_STORE_SINGLE, true},
    {"redis+sentinel", LAJU_STORE_SENTINEL, false},
    {"rediss+sentinel", LAJU_STORE_SENTINEL, true},
    {"redis+cluster", LAJU_STORE_CLUSTER, false},
    {"rediss+cluster", LAJU_STORE_CLUSTER, true},
};

/* A run of the URL's bytes. */
typedef struct piece {
  const char *text;
  size_t len;
} piece;

static int complain(char why[LAJU_STORE_WHY_SIZE], const char *format, ...) __attribute__((format(printf, 2, 3)));

static int complain(char why[LAJU_STORE_WHY_SIZE], const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, LAJU_STORE_WHY_SIZE, format, arguments);
  va_end(arguments);
  return -1;
}

/* Takes what stands before the first `end` off the front, and `end` with it; all where there is none. */
static piece take(piece *from, char end) {
  const char *found = memchr(from->text, end, from->len);
  piece taken = {from->text, found != NULL ? (size_t)(found - from->text) : from->len};
  size_t gone = taken.len + (found != NULL);
  *from = (piece){from->text + gone, from->len - gone};
  return taken;
}

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

static bool is_name(piece text) {
  for (size_t i = 0; i < text.len; i++) {
    if (!is_word(text.text[i])) return false;
  }
  return text.len > 0;
}

/* Decimal digits without a leading zero. */
static int read_number(piece text, uint32_t max, uint32_t *out) {
  uint32_t value = 0;
  if (text.len < 1 || text.len > 5 || (text.len > 1 && text.text[0] == '0')) return -1;
  for (size_t i = 0; i < text.len; i++) {
    if (text.text[i] < '0' || text.text[i] > '9') return -1;
    value = value * 10 + (uint32_t)(text.text[i] - '0');
  }
  if (value > max) return -1;
  *out = value;
  return 0;
}

/* ---- user and password --------------------------------------------------------------------------------------------- */

static int decode(char to[LAJU_STORE_TEXT_MAX + 1], piece from, const char *what, char why[LAJU_STORE_WHY_SIZE]) {
  size_t len = 0;
  for (size_t i = 0; i < from.len; i++) {
    char c = from.text[i];
    if (c == '%') {
      int high = i + 2 < from.len ? laju_hex_value(from.text[i + 1]) : -1;
      int low = high >= 0 ? laju_hex_value(from.text[i + 2]) : -1;
      if (low < 0) return complain(why, "the %s has a %% that begins no %%XX; allowed: %%25 for a %% itself", what);
      c = (char)(high * 16 + low);
      i += 2;
    }
    if (c == '\0') return complain(why, "the %s has a zero byte; allowed: any other", what);
    if (len == LAJU_STORE_TEXT_MAX) {
      return complain(why, "the %s is too long; allowed: at most %d bytes", what, LAJU_STORE_TEXT_MAX);
    }
    to[len++] = c;
  }
  to[len] = '\0';
  return 0;
}

/* The last @ ends it, so that a password that holds an @ or a / unescaped is never taken for a host, and shown. */
static int read_login(laju_store_url *url, piece *rest, char why[LAJU_STORE_WHY_SIZE]) {
  const char *at = memrchr(rest->text, '@', rest->len);
  if (at == NULL) return 0;
  piece login = {rest->text, (size_t)(at - rest->text)};
  *rest = (piece){at + 1, rest->len - login.len - 1};
  piece user = take(&login, ':');
  if (decode(url->user, user, "user", why) < 0 || decode(url->password, login, "password", why) < 0) return -1;
  if (url->user[0] != '\0' || url->password[0] != '\0') return 0;
  return complain(why, "neither user nor password stands before @; allowed: USER:PASSWORD@ or :PASSWORD@");
}

/* ---- hosts --------------------------------------------------------------------------------------------------------- */

/* A port is never shown: where a host was forgotten, it is the password. */
static int read_port(laju_store_place *place, piece text, char why[LAJU_STORE_WHY_SIZE]) {
  uint32_t port;
  if (read_number(text, UINT16_MAX, &port) < 0 || port == 0) {
    return complain(why, "host \"%.60s\" has a port that is none; allowed: 1 to 65535", place->host);
  }
  place->port = (uint16_t)port;
  return 0;
}

static int read_bracketed(laju_store_place *place, piece text, char why[LAJU_STORE_WHY_SIZE]) {
  laju_ip address;
  text = (piece){text.text + 1, text.len - 1};
  piece host = take(&text, ']');
  bool ends = host.text + host.len < text.text && laju_ip_parse(host.text, host.len, &address) == 0;
  if (!ends || memchr(host.text, ':', host.len) == NULL) {
    return complain(why, "what stands in [ ] is not an IPv6 address; allowed: as [::1]:6379");
  }
  memcpy(place->host, host.text, host.len);
  if (text.len == 0) return 0;
  if (text.text[0] != ':') return complain(why, "something follows [%s] that is no port; allowed: :PORT", place->host);
  return read_port(place, (piece){text.text + 1, text.len - 1}, why);
}

static int read_place(laju_store_place *place, piece text, char why[LAJU_STORE_WHY_SIZE]) {
  if (text.len > 0 && text.text[0] == '[') return read_bracketed(place, text, why);
  piece host = take(&text, ':');
  bool has_port = host.text + host.len < text.text;
  if (memchr(text.text, ':', text.len) != NULL) {
    return complain(why, "a host has several colons; allowed: HOST:PORT, with an IPv6 address in [ ]");
  }
  if (host.len == 0) return complain(why, "a host is missing; allowed: " ALLOWED);
  if (host.len > LAJU_STORE_HOST_MAX || !is_name(host)) {
    return complain(why, "a host is too long or holds what no host does; allowed: a name, an IPv4 address or [IPv6]");
  }
  memcpy(place->host, host.text, host.len);
  return has_port ? read_port(place, text, why) : 0;
}

static int read_places(laju_store_url *url, piece hosts, char why[LAJU_STORE_WHY_SIZE]) {
  uint16_t port = url->kind == LAJU_STORE_SENTINEL ? LAJU_STORE_SENTINEL_PORT : LAJU_STORE_PORT;
  bool more = true;
  while (more) {
    piece host = take(&hosts, ',');
    more = host.text + host.len < hosts.text;
    if (url->place_count == LAJU_STORE_PLACES_MAX) {
      return complain(why, "has too many hosts; allowed: at most %d", LAJU_STORE_PLACES_MAX);
    }
    laju_store_place *place = &url->places[url->place_count++];
    place->port = port;
    if (read_place(place, host, why) < 0) return -1;
  }
  if (url->kind != LAJU_STORE_SINGLE || url->place_count == 1) return 0;
  return complain(why, "has several hosts; did you mean redis+cluster:// or redis+sentinel://? allowed: " ALLOWED);
}

/* ---- what follows the hosts ---------------------------------------------------------------------------------------- */

static int read_name(laju_store_url *url, piece name, char why[LAJU_STORE_WHY_SIZE]) {
  if (name.len == 0) {
    return complain(why, "the primary's name is missing; allowed: redis+sentinel://H1,H2/NAME, as Sentinel calls it");
  }
  if (name.len > LAJU_STORE_TEXT_MAX || !is_name(name)) {
    return complain(why, "the primary's name cannot be one; allowed: 1 to 256 of A-Z a-z 0-9 . - _");
  }
  memcpy(url->name, name.text, name.len);
  return 0;
}

static int read_database(laju_store_url *url, piece text, char why[LAJU_STORE_WHY_SIZE]) {
  if (text.len == 0) return 0;
  uint32_t database;
  if (read_number(text, LAJU_STORE_DATABASE_MAX, &database) < 0) {
    return complain(why, "the database after the / is none; allowed: 0 to %d", LAJU_STORE_DATABASE_MAX);
  }
  if (url->kind == LAJU_STORE_CLUSTER && database != 0) {
    return complain(why, "a cluster has no database %u; allowed: 0, or none", database);
  }
  url->database = database;
  return 0;
}

static int read_server(laju_store_url *url, piece rest, char why[LAJU_STORE_WHY_SIZE]) {
  if (read_login(url, &rest, why) < 0) return -1;
  if (read_places(url, take(&rest, '/'), why) < 0) return -1;
  if (url->kind == LAJU_STORE_SENTINEL && read_name(url, take(&rest, '/'), why) < 0) return -1;
  return read_database(url, rest, why);
}

/* ---- the whole ----------------------------------------------------------------------------------------------------- */

static int read_unix(laju_store_url *url, piece path, char why[LAJU_STORE_WHY_SIZE]) {
  bool good = path.len > 1 && path.text[0] == '/' && path.len <= LAJU_STORE_UNIX_MAX;
  for (size_t i = 0; good && i < path.len; i++) good = (unsigned char)path.text[i] >= ' ' && path.text[i] != 0x7f;
  if (!good) return complain(why, "unix: is not followed by a path; allowed: unix:/PATH, 107 bytes at most");
  url->kind = LAJU_STORE_SINGLE;
  memcpy(url->unix_path, path.text, path.len);
  return 0;
}

/* "localhost:6379" lacks its scheme alone. Nothing that could hold a password is repeated. */
static int complain_scheme(piece text, char why[LAJU_STORE_WHY_SIZE]) {
  laju_store_place place = {0};
  char ignored[LAJU_STORE_WHY_SIZE];
  const char *slashes = memmem(text.text, text.len, "://", 3);
  if (slashes == NULL) {
    bool bare = memchr(text.text, '@', text.len) == NULL && text.len < 60 && read_place(&place, text, ignored) == 0;
    if (!bare) return complain(why, "is not a store's URL; allowed: " ALLOWED);
    return complain(why, "has no scheme; did you mean \"redis://%.*s\"? allowed: " ALLOWED, (int)text.len, text.text);
  }
  const char *words[COUNT(schemes)];
  for (size_t i = 0; i < COUNT(schemes); i++) words[i] = schemes[i].word;
  const char *hint = laju_nearest(text.text, (size_t)(slashes - text.text), words, COUNT(words));
  if (hint == NULL) return complain(why, "has a scheme that is not known here; allowed: " ALLOWED);
  return complain(why, "has a scheme that is not known here; did you mean %s://? allowed: " ALLOWED, hint);
}

static int read_url(laju_store_url *url, piece text, char why[LAJU_STORE_WHY_SIZE]) {
  if (text.len > LAJU_STORE_URL_MAX) return complain(why, "is too long; allowed: %d bytes", LAJU_STORE_URL_MAX);
  if (text.len >= 5 && memcmp(text.text, "unix:", 5) == 0) {
    return read_unix(url, (piece){text.text + 5, text.len - 5}, why);
  }
  for (size_t i = 0; i < COUNT(schemes); i++) {
    size_t len = strlen(schemes[i].word);
    if (text.len < len + 3 || memcmp(text.text, schemes[i].word, len) != 0) continue;
    if (memcmp(text.text + len, "://", 3) != 0) continue;
    url->kind = schemes[i].kind;
    url->tls = schemes[i].tls;
    return read_server(url, (piece){text.text + len + 3, text.len - len - 3}, why);
  }
  return complain_scheme(text, why);
}

int laju_store_url_parse(laju_store_url *out, const char *text, size_t len, char why[LAJU_STORE_WHY_SIZE]) {
  laju_store_url url = {0};
  int error = read_url(&url, (piece){text, len}, why);
  if (error == 0) *out = url;
  explicit_bzero(url.password, sizeof url.password);
  return error;
}

bool laju_store_url_same(const laju_store_url *a, const laju_store_url *b) {
  bool same = a->kind == b->kind && a->tls == b->tls && a->database == b->database &&
              a->place_count == b->place_count && strcmp(a->unix_path, b->unix_path) == 0 &&
              strcmp(a->user, b->user) == 0 && strcmp(a->password, b->password) == 0 && strcmp(a->name, b->name) == 0;
  for (size_t i = 0; same && i < a->place_count; i++) {
    same = strcmp(a->places[i].host, b->places[i].host) == 0 && a->places[i].port == b->places[i].port;
  }
  return same;
}

/* ---- showing ------------------------------------------------------------------------------------------------------- */

static const char *scheme_of(const laju_store_url *url) {
  size_t i = 0;
  while (schemes[i].kind != url->kind || schemes[i].tls != url->tls) i++;
  return schemes[i].word;
}

void laju_store_url_show(char to[LAJU_STORE_SHOWN_SIZE], const laju_store_url *url) {
  to[0] = '\0';
  if (url->kind == LAJU_STORE_NONE) return;
  if (url->unix_path[0] != '\0') {
    snprintf(to, LAJU_STORE_SHOWN_SIZE, "unix:%s", url->unix_path);
    return;
  }
  size_t at = (size_t)snprintf(to, LAJU_STORE_SHOWN_SIZE, "%s://", scheme_of(url));
  for (size_t i = 0; i < url->place_count && i < PLACES_SHOWN; i++) {
    const laju_store_place *place = &url->places[i];
    bool bracketed = strchr(place->host, ':') != NULL;
    at += (size_t)snprintf(to + at, LAJU_STORE_SHOWN_SIZE - at, "%s%s%s%s:%u", i > 0 ? "," : "", bracketed ? "[" : "",
                           place->host, bracketed ? "]" : "", place->port);
  }
  if (url->place_count > PLACES_SHOWN) at += (size_t)snprintf(to + at, LAJU_STORE_SHOWN_SIZE - at, ",...");
  if (url->name[0] != '\0') at += (size_t)snprintf(to + at, LAJU_STORE_SHOWN_SIZE - at, "/%s", url->name);
  if (url->database != 0) snprintf(to + at, LAJU_STORE_SHOWN_SIZE - at, "/%u", url->database);
}
