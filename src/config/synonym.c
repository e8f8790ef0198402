#include "config/synonym.h"

#include <stdbool.h>
#include <string.h>

#include "base/nearest.h"

/* Small letters, and `-` where a word may have `_`. The same word may mean several: the first that is known where it stands. */
static const struct {
  const char *written, *meant;
} synonyms[] = {
    {"requests", "limit"},
    {"rate", "limit"},
    {"max", "limit"},
    {"quota", "limit"},
    {"max-requests", "limit"},
    {"period", "per"},
    {"window", "per"},
    {"interval", "per"},
    {"unit", "per"},
    {"duration", "per"},
    {"capacity", "burst"},
    {"weight", "cost"},
    {"tokens", "cost"},
    {"id", "name"},
    {"type", "algorithm"},
    {"strategy", "algorithm"},
    {"dry-run", "shadow"},
    {"fallback", "on_store_error"},
    {"on-error", "on_store_error"},
    {"whitelist", "exempt"},
    {"allowlist", "exempt"},
    {"bypass", "exempt"},
    {"url", "redis"},
    {"uri", "redis"},
    {"address", "redis"},
    {"addr", "redis"},
    {"redis", "store"},
    {"port", "listen"},
    {"bind", "listen"},
    {"limits", "rules"},
    {"logging", "log"},
    {"threads", "workers"},
    {"redis", "exact"},
    {"shared", "exact"},
    {"global", "exact"},
    {"distributed", "exact"},
    {"local", "embedded"},
    {"memory", "embedded"},
    {"open", "allow"},
    {"fail-open", "allow"},
    {"closed", "deny"},
    {"fail-closed", "deny"},
    {"block", "deny"},
    {"gcra", "token-bucket"},
    {"sliding-log", "sliding-window-log"},
    {"sliding-counter", "sliding-window-counter"},
};

static char plain(char c) {
  if (c >= 'A' && c <= 'Z') return (char)(c - 'A' + 'a');
  return c == '_' ? '-' : c;
}

static bool is_written(const char *word, size_t len, const char *written) {
  for (size_t i = 0; i < len; i++) {
    if (written[i] == '\0' || plain(word[i]) != written[i]) return false;
  }
  return written[len] == '\0';
}

static const char *find(const char *word, const char *const *known, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(known[i], word) == 0) return known[i];
  }
  return NULL;
}

const char *laju_guess(const char *word, size_t len, const char *const *known, size_t count) {
  for (size_t i = 0; i < sizeof synonyms / sizeof synonyms[0]; i++) {
    const char *meant = is_written(word, len, synonyms[i].written) ? find(synonyms[i].meant, known, count) : NULL;
    if (meant != NULL) return meant;
  }
  return laju_nearest(word, len, known, count);
}
