/* Any text as a store's URL: refused with a reason that keeps the password to itself, or read into bounds, and what is shown of
 * it reads back as the same but for user and password. */
#include <stdlib.h>
#include <string.h>

#include "base/store_url.h"

#define SECRET "redis://:hunter2"

static void must(bool what) {
  if (!what) abort();
}

static void must_be_reason(const char why[LAJU_STORE_WHY_SIZE]) {
  must(memchr(why, '\0', LAJU_STORE_WHY_SIZE) != NULL && why[0] != '\0');
  for (const char *at = why; *at != '\0'; at++) must(*at >= ' ' && *at <= '~');
}

static void must_read_back(const laju_store_url *url) {
  char shown[LAJU_STORE_SHOWN_SIZE], why[LAJU_STORE_WHY_SIZE];
  laju_store_url_show(shown, url);
  if (url->place_count > 3) return; /* not all of them are shown */
  laju_store_url again;
  must(laju_store_url_parse(&again, shown, strlen(shown), why) == 0);
  must(again.kind == url->kind && again.tls == url->tls && again.database == url->database);
  must(strcmp(again.unix_path, url->unix_path) == 0 && strcmp(again.name, url->name) == 0);
  must(again.place_count == url->place_count);
  for (size_t i = 0; i < url->place_count; i++) {
    must(strcmp(again.places[i].host, url->places[i].host) == 0 && again.places[i].port == url->places[i].port);
  }
}

static void must_keep_the_secret(const uint8_t *data, size_t size) {
  char text[LAJU_STORE_URL_MAX + sizeof SECRET], why[LAJU_STORE_WHY_SIZE];
  laju_store_url url;
  size_t len = strlen(SECRET);
  memcpy(text, SECRET, len);
  memcpy(text + len, data, size);
  if (laju_store_url_parse(&url, text, len + size, why) == 0) {
    must(strncmp(url.password, "hunter2", 7) == 0);
  } else {
    must(memmem(data, size, "hunter2", 7) != NULL || strstr(why, "hunter2") == NULL);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  laju_store_url url;
  char why[LAJU_STORE_WHY_SIZE] = "";
  if (laju_store_url_parse(&url, (const char *)data, size, why) == 0) {
    must(url.kind != LAJU_STORE_NONE && url.place_count <= LAJU_STORE_PLACES_MAX);
    must((url.place_count == 0) == (url.unix_path[0] == '/'));
    must((url.name[0] != '\0') == (url.kind == LAJU_STORE_SENTINEL));
    must_read_back(&url);
  } else {
    must_be_reason(why);
  }
  if (size <= LAJU_STORE_URL_MAX) must_keep_the_secret(data, size);
  return 0;
}
