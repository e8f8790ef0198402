#include "config/policy.h"

#include <stdlib.h>
#include <string.h>

void laju_policy_init(laju_policy *policy, const laju_rule *rule) {
  *policy = (laju_policy){.rule = *rule, .part_count = 1};
  policy->parts[0].kind = LAJU_PART_IP;
}

static void free_patterns(laju_pattern *patterns, size_t count) {
  for (size_t i = 0; i < count; i++) free(patterns[i].text);
  free(patterns);
}

void laju_policy_deinit(laju_policy *policy) {
  free_patterns(policy->match.hosts, policy->match.host_count);
  free_patterns(policy->match.paths, policy->match.path_count);
  for (size_t i = 0; i < policy->exempt_count; i++) free(policy->exempt[i].key.text);
  for (size_t i = 0; i < policy->override_count; i++) free(policy->overrides[i].key.text);
  free(policy->exempt);
  free(policy->overrides);
  *policy = (laju_policy){0};
}

/* Only the last star needs to be gone back to: an earlier one has taken as little as it can, which leaves the most. */
bool laju_pattern_takes(const laju_pattern *pattern, const char *text, size_t len) {
  if (pattern->literal) return pattern->len == len && memcmp(pattern->text, text, len) == 0;
  size_t p = 0, t = 0, after_star = 0, taken_to = 0;
  bool star = false;
  while (t < len) {
    if (p < pattern->len && pattern->text[p] == '*') {
      star = true;
      after_star = ++p;
      taken_to = t;
    } else if (p < pattern->len && pattern->text[p] == text[t]) {
      p++;
      t++;
    } else if (star) {
      p = after_star;
      t = ++taken_to;
    } else {
      return false;
    }
  }
  while (p < pattern->len && pattern->text[p] == '*') p++;
  return p == pattern->len;
}
