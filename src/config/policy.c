#include "config/policy.h"

#include <stdlib.h>
#include <string.h>

void laju_policy_init(laju_policy *policy, const laju_rule *rule) {
  *policy = (laju_policy){.rule = *rule, .part_count = 1};
  policy->parts[0].kind = LAJU_PART_IP;
}

bool laju_part_is_veiled(const laju_part *part) {
  return part->kind == LAJU_PART_HEADER || part->kind == LAJU_PART_COOKIE;
}

_Static_assert(LAJU_PARTS_MAX <= 8, "a bit each");

uint16_t laju_policy_veils(const laju_policy *policy) {
  unsigned bits = 0;
  for (size_t i = 0; i < policy->part_count; i++) bits |= (unsigned)laju_part_is_veiled(&policy->parts[i]) << i;
  return (uint16_t)(bits == 0 ? 0 : bits | (unsigned)policy->part_count << 8);
}

void laju_rule_follow(laju_rule *to, const laju_rule *from) {
  to->shadow = from->shadow;
  to->mode = from->mode;
  to->on_store_error = from->on_store_error;
  to->secret = from->secret;
  to->grouped = from->grouped;
  to->veils = from->veils;
}

static void free_patterns(laju_pattern *patterns, size_t count) {
  for (size_t i = 0; i < count; i++) free(patterns[i].text);
  free(patterns);
}

void laju_policy_deinit(laju_policy *policy) {
  free_patterns(policy->match.hosts, policy->match.host_count);
  free_patterns(policy->match.paths, policy->match.path_count);
  free_patterns(policy->exempt_keys, policy->exempt_key_count);
  for (size_t i = 0; i < policy->override_count; i++) free(policy->overrides[i].key.text);
  free(policy->exempt_networks);
  free(policy->overrides);
  *policy = (laju_policy){0};
}

/* The runs between the first star and the last, each at the earliest place after the one before: that leaves the most to
 * those that follow. `text` to `end` is what the two ends have left over. */
static bool takes_middle(const char *runs, const char *last, const char *text, const char *end) {
  while (runs <= last) {
    const char *star = memchr(runs, '*', (size_t)(last - runs) + 1);
    size_t run_len = (size_t)(star - runs);
    const char *found = run_len > 0 ? memmem(text, (size_t)(end - text), runs, run_len) : text;
    if (found == NULL) return false;
    text = found + run_len;
    runs = star + 1;
  }
  return true;
}

bool laju_pattern_takes(const laju_pattern *pattern, const char *text, size_t len) {
  if (pattern->literal) return pattern->len == len && memcmp(pattern->text, text, len) == 0;
  const char *first = memchr(pattern->text, '*', pattern->len), *last = memrchr(pattern->text, '*', pattern->len);
  size_t before = (size_t)(first - pattern->text), after = (size_t)(pattern->text + pattern->len - last - 1);
  if (len < before + after || memcmp(pattern->text, text, before) != 0) return false;
  if (memcmp(last + 1, text + len - after, after) != 0) return false;
  return takes_middle(first + 1, last, text + before, text + len - after);
}
