/* Policies and header fields made by hand, for tests of what the doors make of them. */
#ifndef LAJU_TESTS_MADE_H
#define LAJU_TESTS_MADE_H

#include <stdlib.h>
#include <string.h>

#include "config/policy.h"
#include "proto/fields.h"
#include "proto/http.h"

static inline void made_must(bool ok) {
  if (!ok) abort();
}

static inline laju_slice made_slice(const char *text) {
  return (laju_slice){text, strlen(text)};
}

/* The lines of a head, each ended by CRLF, as fields. */
static inline laju_fields made_fields(const char *lines, laju_field list[LAJU_HTTP_HEADERS_MAX]) {
  size_t count = 0;
  for (const char *at = lines; *at != '\0';) {
    const char *colon = strchr(at, ':'), *end = strstr(at, "\r\n");
    list[count++] = (laju_field){.name_at = (uint16_t)(at - lines),
                                 .name_len = (uint16_t)(colon - at),
                                 .value_at = (uint16_t)(colon + 1 - lines),
                                 .value_len = (uint16_t)(end - colon - 1)};
    at = end + 2;
  }
  return (laju_fields){.bytes = lines, .list = list, .count = count};
}

static inline laju_pattern made_pattern(const char *text) {
  laju_pattern pattern = {.text = strdup(text), .len = strlen(text), .literal = strchr(text, '*') == NULL};
  made_must(pattern.text != NULL);
  return pattern;
}

static inline laju_rule made_rule(const char *line) {
  laju_rule rule;
  char why[LAJU_TEXT_SIZE];
  made_must(laju_rule_parse(&rule, line, why) == 0);
  return rule;
}

/* One of "ip", "header:NAME", "cookie:NAME", "query:NAME", "path", "method", "host". */
static inline laju_part made_part(const char *text, size_t len) {
  static const char *const kinds[] = {"ip", "header:", "cookie:", "query:", "path", "method", "host"};
  laju_part part = {.kind = LAJU_PART_IP};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    size_t kind_len = strlen(kinds[i]);
    if (len < kind_len || memcmp(text, kinds[i], kind_len) != 0) continue;
    part.kind = (laju_part_kind)i;
    memcpy(part.name, text + kind_len, len - kind_len);
    return part;
  }
  abort();
}

/* A rule's line, the parts of its key with spaces between them, and a pattern for its host and its path (or NULL). */
static inline laju_policy made_policy(const char *line, const char *parts, const char *host, const char *path) {
  laju_policy policy;
  laju_rule rule = made_rule(line);
  laju_policy_init(&policy, &rule);
  policy.part_count = 0;
  for (const char *at = parts; *at != '\0';) {
    size_t len = strcspn(at, " ");
    policy.parts[policy.part_count++] = made_part(at, len);
    at += len + (at[len] == ' ');
  }
  if (host != NULL) {
    policy.match.hosts = malloc(sizeof *policy.match.hosts);
    policy.match.hosts[policy.match.host_count++] = made_pattern(host);
  }
  if (path != NULL) {
    policy.match.paths = malloc(sizeof *policy.match.paths);
    policy.match.paths[policy.match.path_count++] = made_pattern(path);
  }
  return policy;
}

/* "10.0.0.0/8" or "key:PATTERN". */
static inline void made_exempt(laju_policy *policy, const char *text) {
  if (strncmp(text, "key:", 4) == 0) {
    size_t count = policy->exempt_key_count++;
    policy->exempt_keys = realloc(policy->exempt_keys, (count + 1) * sizeof *policy->exempt_keys);
    policy->exempt_keys[count] = made_pattern(text + 4);
  } else {
    size_t count = policy->exempt_network_count++;
    policy->exempt_networks = realloc(policy->exempt_networks, (count + 1) * sizeof *policy->exempt_networks);
    made_must(laju_network_parse(text, strlen(text), &policy->exempt_networks[count]) == 0);
  }
}

static inline void made_override(laju_policy *policy, const char *key, const char *line) {
  policy->overrides = realloc(policy->overrides, (policy->override_count + 1) * sizeof *policy->overrides);
  policy->overrides[policy->override_count++] = (laju_override){.key = made_pattern(key), .rule = made_rule(line)};
}

#endif
