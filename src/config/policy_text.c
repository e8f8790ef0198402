#include "config/policy_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "config/value.h"

#define PATTERN_ALLOWED "1 to 1024 bytes without control characters, * takes any run"
#define HOST_ALLOWED "a name or an address, * takes any run; no scheme, port, path or brackets"
#define PATH_ALLOWED "/ or * first, * takes any run"
#define METHOD_ALLOWED "1 to 32 letters, as GET or POST"
#define PART_ALLOWED "ip, header:NAME, cookie:NAME, query:NAME, path, method, host"
#define EXEMPT_ALLOWED "an address, a network such as 10.0.0.0/8, or key:PATTERN"
#define KEY_MARK "key:"
#define GUESS_MAX 31 /* bytes of the text that a guess repeats: one that is cut helps nobody */
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- lists --------------------------------------------------------------------------------------------------------- */

/* Room for one element more, doubling: the capacity is the power of two that holds `count`. NULL where memory ran out. */
static void *grow(void *array, size_t count, size_t size) {
  if (count > 0 && (count & (count - 1)) != 0) return array;
  return realloc(array, (count > 0 ? 2 * count : 1) * size);
}

static int complain_memory(char why[LAJU_TEXT_SIZE]) {
  snprintf(why, LAJU_TEXT_SIZE, "memory ran out");
  return -1;
}

static int complain_many(size_t max, char why[LAJU_TEXT_SIZE]) {
  char allowed[32];
  snprintf(allowed, sizeof allowed, "at most %zu", max);
  return laju_complain(why, NULL, 0, "too many", NULL, allowed);
}

/* ---- patterns ------------------------------------------------------------------------------------------------------ */

int laju_pattern_read(laju_pattern *out, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  if (len == 0) return laju_complain(why, NULL, 0, "is empty", NULL, PATTERN_ALLOWED);
  if (len > LAJU_PATTERN_MAX) return laju_complain(why, text, len, "is too long", NULL, PATTERN_ALLOWED);
  for (size_t i = 0; i < len; i++) {
    if ((unsigned char)text[i] < ' ' || text[i] == 0x7f) {
      return laju_complain(why, text, len, "holds a control character", NULL, PATTERN_ALLOWED);
    }
  }
  char *copy = malloc(len + 1);
  if (copy == NULL) return complain_memory(why);
  memcpy(copy, text, len);
  copy[len] = '\0';
  *out = (laju_pattern){.text = copy, .len = len, .literal = memchr(text, '*', len) == NULL};
  return 0;
}

static int add_pattern(laju_pattern **patterns, size_t *count, size_t max, const char *text, size_t len,
                       char why[LAJU_TEXT_SIZE]) {
  if (*count >= max) return complain_many(max, why);
  laju_pattern *grown = grow(*patterns, *count, sizeof **patterns);
  if (grown == NULL) return complain_memory(why);
  *patterns = grown;
  if (laju_pattern_read(&grown[*count], text, len, why) < 0) return -1;
  (*count)++;
  return 0;
}

/* ---- match --------------------------------------------------------------------------------------------------------- */

static bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static char lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* The host without its port, scheme and brackets, for a hint; of an address in IPv6 only the brackets can be told. */
static const char *bare_host(char to[LAJU_SHOWN_SIZE], const char *text, size_t len) {
  const char *scheme = memmem(text, len, "://", 3);
  size_t start = scheme != NULL ? (size_t)(scheme - text) + 3 : 0;
  bool bracketed = start < len && text[start] == '[';
  start += bracketed;
  size_t end = start;
  while (end < len && strchr(bracketed ? "]" : ":/?#", text[end]) == NULL) end++;
  while (end > start && text[end - 1] == '.') end--;
  if (end == start || end - start >= LAJU_SHOWN_SIZE) return NULL;
  snprintf(to, LAJU_SHOWN_SIZE, "%.*s", (int)(end - start), text + start);
  return to;
}

/* What a host never has when it is compared. NULL where the text can be one. */
static const char *host_problem(const char *text, size_t len) {
  size_t colons = 0;
  for (size_t i = 0; i < len; i++) {
    if (strchr("[]", text[i]) != NULL && text[i] != '\0') return "has brackets";
    colons += text[i] == ':';
    if (!is_letter_or_digit(text[i]) && memchr("-._*:", text[i], 5) == NULL) return "is not a host";
  }
  if (colons == 1) return "has a port";
  return len > 0 && text[len - 1] == '.' ? "ends with a dot" : NULL;
}

int laju_policy_add_host(void *policy, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  laju_match *match = &((laju_policy *)policy)->match;
  const char *problem = host_problem(text, len);
  if (problem != NULL) {
    char hint[LAJU_SHOWN_SIZE];
    const char *bare = bare_host(hint, text, len);
    if (bare != NULL && host_problem(bare, strlen(bare)) != NULL) bare = NULL;
    return laju_complain(why, text, len, problem, bare, HOST_ALLOWED);
  }
  if (add_pattern(&match->hosts, &match->host_count, LAJU_PATTERNS_MAX, text, len, why) < 0) return -1;
  laju_pattern *host = &match->hosts[match->host_count - 1];
  for (size_t i = 0; i < host->len; i++) host->text[i] = lower(host->text[i]);
  return 0;
}

int laju_policy_add_path(void *policy, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  laju_match *match = &((laju_policy *)policy)->match;
  if (len > 0 && text[0] != '/' && text[0] != '*') {
    char hint[LAJU_SHOWN_SIZE];
    bool guessed = len <= GUESS_MAX;
    if (guessed) snprintf(hint, sizeof hint, "/%.*s", (int)len, text);
    return laju_complain(why, text, len, "does not begin with /", guessed ? hint : NULL, PATH_ALLOWED);
  }
  return add_pattern(&match->paths, &match->path_count, LAJU_PATTERNS_MAX, text, len, why);
}

/* RFC 9110, 5.6.2 */
static bool is_token(const char *text, size_t len) {
  for (size_t i = 0; i < len; i++) {
    if (!is_letter_or_digit(text[i]) && (text[i] == '\0' || strchr("!#$%&'*+-.^_`|~", text[i]) == NULL)) return false;
  }
  return len > 0;
}

int laju_policy_add_method(void *policy, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  laju_match *match = &((laju_policy *)policy)->match;
  if (len > LAJU_METHOD_MAX || !is_token(text, len) || memchr(text, '*', len) != NULL) {
    return laju_complain(why, text, len, "is not a method", NULL, METHOD_ALLOWED);
  }
  if (match->method_count >= LAJU_METHODS_MAX) return complain_many(LAJU_METHODS_MAX, why);
  char *method = match->methods[match->method_count++];
  memcpy(method, text, len);
  method[len] = '\0';
  return 0;
}

/* ---- key ----------------------------------------------------------------------------------------------------------- */

static const char *const part_words[] = {
    [LAJU_PART_IP] = "ip",       [LAJU_PART_HEADER] = "header", [LAJU_PART_COOKIE] = "cookie",
    [LAJU_PART_QUERY] = "query", [LAJU_PART_PATH] = "path",     [LAJU_PART_METHOD] = "method",
    [LAJU_PART_HOST] = "host",
};

static bool has_name(laju_part_kind kind) {
  return kind == LAJU_PART_HEADER || kind == LAJU_PART_COOKIE || kind == LAJU_PART_QUERY;
}

static bool has_control(const char *text, size_t len) {
  for (size_t i = 0; i < len; i++) {
    if ((unsigned char)text[i] < ' ' || text[i] == 0x7f) return true;
  }
  return false;
}

/* "X-User-Id" -> "header:X-User-Id", "Header:a" -> "header:a" */
static int complain_part(const char *text, size_t len, size_t word_len, char why[LAJU_TEXT_SIZE]) {
  char hint[LAJU_SHOWN_SIZE];
  const char *word = laju_nearest(text, word_len, part_words, COUNT(part_words));
  bool lone_name = word == NULL && word_len == len && is_token(text, len);
  bool guessed = len <= GUESS_MAX && (word != NULL || lone_name);
  if (lone_name) {
    snprintf(hint, sizeof hint, "header:%.*s", (int)(len & GUESS_MAX), text);
  } else if (word != NULL) {
    snprintf(hint, sizeof hint, "%s%.*s", word, (int)((len - word_len) & GUESS_MAX), text + word_len);
  }
  return laju_complain(why, text, len, "is not a part of a key", guessed ? hint : NULL, PART_ALLOWED);
}

static int find_part(const char *text, size_t len, laju_part_kind *kind) {
  for (size_t i = 0; i < COUNT(part_words); i++) {
    if (strlen(part_words[i]) != len || memcmp(part_words[i], text, len) != 0) continue;
    *kind = (laju_part_kind)i;
    return 0;
  }
  return -1;
}

static int read_part(laju_part *part, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  const char *colon = memchr(text, ':', len);
  size_t word_len = colon != NULL ? (size_t)(colon - text) : len;
  if (find_part(text, word_len, &part->kind) < 0) return complain_part(text, len, word_len, why);
  if (!has_name(part->kind)) {
    if (colon == NULL) return 0;
    return laju_complain(why, text, len, "takes no name", part_words[part->kind], PART_ALLOWED);
  }
  const char *name = text + word_len + (colon != NULL);
  size_t name_len = (size_t)(text + len - name);
  if (name_len == 0) return laju_complain(why, text, len, "needs a name", NULL, PART_ALLOWED);
  if (name_len > LAJU_PART_NAME_MAX) {
    return laju_complain(why, text, len, "has too long a name", NULL, "names of at most 64 bytes");
  }
  bool good = part->kind == LAJU_PART_QUERY ? !has_control(name, name_len) : is_token(name, name_len);
  if (!good)
    return laju_complain(why, text, len, "has a name that cannot be", NULL, "letters, digits and !#$%&'*+-.^_`|~");
  for (size_t i = 0; i < name_len; i++) part->name[i] = part->kind == LAJU_PART_HEADER ? lower(name[i]) : name[i];
  return 0;
}

static int add_part(laju_part parts[LAJU_PARTS_MAX], size_t *count, const char *text, size_t len,
                    char why[LAJU_TEXT_SIZE]) {
  laju_part part = {0};
  if (read_part(&part, text, len, why) < 0) return -1;
  if (*count >= LAJU_PARTS_MAX) return complain_many(LAJU_PARTS_MAX, why);
  parts[(*count)++] = part;
  return 0;
}

int laju_policy_add_part(void *policy, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  laju_policy *to = policy;
  return add_part(to->parts, &to->part_count, text, len, why);
}

int laju_policy_add_group_part(void *policy, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  laju_policy *to = policy;
  return add_part(to->group_parts, &to->group_count, text, len, why);
}

int laju_policy_set_missing(void *policy, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  static const char *const words[] = {
      [LAJU_MISSING_IP] = "ip",
      [LAJU_MISSING_SKIP] = "skip",
      [LAJU_MISSING_DENY] = "deny",
      [LAJU_MISSING_SHARED] = "shared",
  };
  size_t found;
  if (laju_value_word(text, len, words, COUNT(words), &found, why) < 0) return -1;
  ((laju_policy *)policy)->missing = (laju_missing)found;
  return 0;
}

/* ---- the shared store ---------------------------------------------------------------------------------------------- */

int laju_policy_set_mode(void *policy, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  static const char *const words[] = {[LAJU_EMBEDDED] = "embedded", [LAJU_EXACT] = "exact"};
  size_t found;
  if (laju_value_word(text, len, words, COUNT(words), &found, why) < 0) return -1;
  ((laju_policy *)policy)->rule.mode = (laju_mode)found;
  ((laju_policy *)policy)->mode_given = true;
  return 0;
}

int laju_policy_set_on_store_error(void *policy, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  static const char *const words[] = {
      [LAJU_STORE_ERROR_ALLOW] = "allow",
      [LAJU_STORE_ERROR_DENY] = "deny",
      [LAJU_STORE_ERROR_LOCAL] = "local",
  };
  size_t found;
  if (laju_value_word(text, len, words, COUNT(words), &found, why) < 0) return -1;
  ((laju_policy *)policy)->rule.on_store_error = (laju_on_store_error)found;
  ((laju_policy *)policy)->on_store_error_given = true;
  return 0;
}

/* ---- exempt -------------------------------------------------------------------------------------------------------- */

/* "10.0.0.1/8" -> "10.0.0.0/8" */
static const char *guess_network(char to[LAJU_SHOWN_SIZE], const char *text, size_t len) {
  const char *slash = memchr(text, '/', len);
  laju_ip address;
  uint64_t prefix;
  char ignored[LAJU_TEXT_SIZE], shown[LAJU_IP_TEXT_SIZE];
  if (slash == NULL || laju_ip_parse(text, (size_t)(slash - text), &address) < 0) return NULL;
  bool dotted = memchr(text, ':', (size_t)(slash - text)) == NULL;
  size_t left = (size_t)(text + len - slash - 1);
  if (laju_value_count(slash + 1, left, dotted ? 32 : 128, "", &prefix, ignored) < 0) return NULL;
  laju_ip cut = laju_ip_cut(&address, (unsigned)prefix + (dotted ? 96 : 0));
  bool mapped = !dotted && laju_ip_is_v4(&cut);
  if (laju_ip_format(shown, &cut) > GUESS_MAX) return NULL;
  snprintf(to, LAJU_SHOWN_SIZE, "%.*s/%u", GUESS_MAX, shown, (unsigned)prefix - (mapped ? 96 : 0));
  return to;
}

int laju_network_read(laju_network *out, const char *text, size_t len, const char *hint, const char *allowed,
                      char why[LAJU_TEXT_SIZE]) {
  if (laju_network_parse(text, len, out) == 0) return 0;
  char guess[LAJU_SHOWN_SIZE];
  const char *network = guess_network(guess, text, len);
  if (network != NULL) return laju_complain(why, text, len, "has bits beyond its prefix", network, allowed);
  return laju_complain(why, text, len, "is not an address or a network", hint, allowed);
}

static int add_network(laju_policy *policy, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  size_t count = policy->exempt_network_count;
  if (count >= LAJU_EXEMPT_MAX) return complain_many(LAJU_EXEMPT_MAX, why);
  laju_network *grown = grow(policy->exempt_networks, count, sizeof *grown);
  if (grown == NULL) return complain_memory(why);
  policy->exempt_networks = grown;
  char hint[LAJU_SHOWN_SIZE];
  bool guessed = len > 0 && len <= GUESS_MAX && memchr(text, '/', len) == NULL;
  if (guessed) snprintf(hint, sizeof hint, KEY_MARK "%.*s", (int)len, text);
  if (laju_network_read(&grown[count], text, len, guessed ? hint : NULL, EXEMPT_ALLOWED, why) < 0) return -1;
  policy->exempt_network_count++;
  return 0;
}

int laju_policy_add_exempt(void *policy, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  laju_policy *to = policy;
  size_t mark_len = strlen(KEY_MARK);
  if (len < mark_len || memcmp(text, KEY_MARK, mark_len) != 0) return add_network(to, text, len, why);
  return add_pattern(&to->exempt_keys, &to->exempt_key_count, LAJU_EXEMPT_MAX, text + mark_len, len - mark_len, why);
}

/* ---- wait ---------------------------------------------------------------------------------------------------------- */

int laju_policy_wait_verify(const laju_rule *rule, char why[LAJU_TEXT_SIZE]) {
  if (rule->algorithm != LAJU_LEAKY_BUCKET) {
    char problem[96];
    snprintf(problem, sizeof problem, "is not for %s", laju_algorithm_name(rule->algorithm));
    return laju_complain(why, NULL, 0, problem, NULL, "with leaky-bucket only");
  }
  if (rule->limit == 0) return 0; /* nothing is ever let through */
  uint64_t queue_ticks = ((uint64_t)rule->capacity * (uint64_t)rule->period + rule->limit - 1) / rule->limit;
  if (queue_ticks <= (uint64_t)(LAJU_POLICY_WAIT_MAX_US / rule->tick_us)) return 0;
  return laju_complain(why, NULL, 0, "a full queue would take longer than an answer is held back (wait: server)", NULL,
                       "burst * per / limit of at most 60s");
}
