#include "proto/headers.h"

#include <string.h>

#include "base/buffer.h"
#include "core/rule.h"

#define SECOND_US INT64_C(1000000)

#define PUT(to, text) (memcpy(to, text, sizeof text - 1), (to) + sizeof text - 1)

/* One rule of the list: `"name";q=4294967295;w=` and 20 digits in one line, and much the same in the other. */
#define RULE_MAX (2 * (LAJU_NAME_MAX + 48))
_Static_assert(LAJU_CHECKS_MAX *RULE_MAX + 256 <= LAJU_HEADERS_MAX, "all lines of a request fit");

static int64_t seconds_up(int64_t us) {
  return (us + SECOND_US - 1) / SECOND_US;
}

/* The seconds in which the whole capacity comes back: period * capacity / limit; 0 where that is no whole number. */
static int64_t window_s(const laju_rule *rule) {
  if (rule->limit == 0) return 0;
  uint64_t period_us = (uint64_t)laju_rule_period_us(rule), limit_us = rule->limit * (uint64_t)SECOND_US;
  unsigned __int128 product = (unsigned __int128)period_us * rule->capacity;
  if (product <= UINT64_MAX) { /* nearly always; and a division of 128 bits is slow */
    uint64_t small = (uint64_t)product;
    return small % limit_us == 0 ? (int64_t)(small / limit_us) : 0;
  }
  return product % limit_us == 0 ? (int64_t)(product / limit_us) : 0;
}

static char *put_name(char *to, const laju_rule *rule) {
  size_t len = strlen(rule->name);
  *to++ = '"';
  memcpy(to, rule->name, len);
  to[len] = '"';
  return to + len + 1;
}

static char *put_policy(char *to, const laju_rule *rule) {
  to = put_name(to, rule);
  to = PUT(to, ";q=");
  to += laju_decimal(to, rule->capacity);
  int64_t window = window_s(rule);
  if (window <= 0) return to;
  to = PUT(to, ";w=");
  return to + laju_decimal(to, window);
}

static char *put_quota(char *to, const laju_rule *rule, const laju_decision *decision) {
  to = put_name(to, rule);
  to = PUT(to, ";r=");
  to += laju_decimal(to, decision->remaining);
  if (decision->more_after_us == 0) return to; /* it is the capacity already; or nobody knows */
  to = PUT(to, ";t=");
  return to + laju_decimal(to, seconds_up(decision->more_after_us));
}

/* The checks that speak for their rules, one an enforced rule by name, in the order of each rule's first check. */
static size_t choose(const laju_check *checks, const laju_decision *decisions, size_t count,
                     uint8_t chosen[LAJU_CHECKS_MAX]) {
  size_t rules = 0;
  for (size_t i = 0; i < count; i++) {
    size_t at = 0;
    if (checks[i].rule->shadow || decisions[i].basis == LAJU_UNASKED) continue;
    while (at < rules && strcmp(checks[chosen[at]].rule->name, checks[i].rule->name) != 0) at++;
    if (at == rules) {
      chosen[rules++] = (uint8_t)i;
    } else if (laju_decision_tighter(&decisions[i], &decisions[chosen[at]])) {
      chosen[at] = (uint8_t)i;
    }
  }
  return rules;
}

static char *put_rules(char *to, const laju_check *checks, const laju_decision *decisions, size_t count) {
  uint8_t chosen[LAJU_CHECKS_MAX];
  size_t rules = choose(checks, decisions, count, chosen);
  to = PUT(to, "RateLimit-Policy: ");
  for (size_t i = 0; i < rules; i++) {
    if (i > 0) to = PUT(to, ", ");
    to = put_policy(to, checks[chosen[i]].rule);
  }
  to = PUT(to, "\r\nRateLimit: ");
  for (size_t i = 0; i < rules; i++) {
    if (i > 0) to = PUT(to, ", ");
    to = put_quota(to, checks[chosen[i]].rule, &decisions[chosen[i]]);
  }
  return PUT(to, "\r\n");
}

/* In seconds; 0 where nothing was refused, or waiting cannot help. */
static int64_t retry_after_s(const laju_check *checks, const laju_decision *decisions, size_t count) {
  int64_t longest = 0;
  for (size_t i = 0; i < count; i++) {
    if (decisions[i].allowed || checks[i].rule->shadow || decisions[i].basis == LAJU_UNASKED) continue;
    if (decisions[i].retry_after_us == LAJU_NEVER) return 0;
    int64_t wait = seconds_up(decisions[i].retry_after_us);
    if (wait < 1) wait = 1;
    if (wait > longest) longest = wait;
  }
  return longest;
}

/* Waits count from the start of a tick, so the instant they lead to does too: it does not wobble within a tick. */
static int64_t reset_s(const laju_rule *rule, const laju_decision *decision, int64_t now_us) {
  return seconds_up(now_us - now_us % rule->tick_us + decision->reset_after_us);
}

static char *put_tightest(char *to, const laju_terms *terms, const laju_rule *rule, const laju_decision *decision,
                          int64_t now_us) {
  to = PUT(to, "X-RateLimit-Limit: ");
  to += laju_decimal(to, decision->limit);
  to = PUT(to, "\r\nX-RateLimit-Remaining: ");
  to += laju_decimal(to, decision->remaining);
  to = PUT(to, "\r\nX-RateLimit-Reset: ");
  to +=
      laju_decimal(to, terms->reset_is_delta ? seconds_up(decision->reset_after_us) : reset_s(rule, decision, now_us));
  return PUT(to, "\r\n");
}

/* Who speaks before whom, however tight: first those that are enforced and were decided. */
static int rank(const laju_check *check, const laju_decision *decision) {
  return 2 * !check->rule->shadow + (decision->basis != LAJU_UNASKED);
}

static bool any_fallback(const laju_check *checks, const laju_decision *decisions, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (decisions[i].basis == LAJU_FALLBACK && !checks[i].rule->shadow) return true;
  }
  return false;
}

size_t laju_headers_tightest(const laju_check *checks, const laju_decision *decisions, size_t count) {
  size_t tightest = 0;
  for (size_t i = 1; i < count; i++) {
    int mine = rank(&checks[i], &decisions[i]), best = rank(&checks[tightest], &decisions[tightest]);
    bool closer = mine == best && laju_decision_tighter(&decisions[i], &decisions[tightest]);
    if (closer || mine > best) tightest = i;
  }
  return tightest;
}

size_t laju_headers_write(char to[LAJU_HEADERS_MAX], const laju_terms *terms, const laju_check *checks,
                          const laju_decision *decisions, size_t count, size_t tightest, int64_t now_us) {
  const laju_rule *rule = checks[tightest].rule;
  if (rule->shadow || decisions[tightest].basis == LAJU_UNASKED) return 0;
  char *at = to;
  if (terms->show_x_ratelimit) {
    at = put_tightest(at, terms, rule, &decisions[tightest], now_us);
    if (any_fallback(checks, decisions, count)) at = PUT(at, "X-RateLimit-Source: fallback\r\n");
  }
  if (terms->show_ratelimit) at = put_rules(at, checks, decisions, count);
  int64_t wait = retry_after_s(checks, decisions, count);
  if (wait > 0) {
    at = PUT(at, "Retry-After: ");
    at += laju_decimal(at, wait);
    at = PUT(at, "\r\n");
  }
  return (size_t)(at - to);
}
