/* A rule as an operator writes it: the law's rule, and to whom and to what it applies.
 *
 * Plain data, made by the configuration's reader and read by everything above. A policy owns what its pointers point to;
 * laju_policy_deinit frees it.
 */
#ifndef LAJU_CONFIG_POLICY_H
#define LAJU_CONFIG_POLICY_H

#include "base/network.h"
#include <laju/laju.h>

#define LAJU_PARTS_MAX 8         /* parts of one key */
#define LAJU_PART_NAME_MAX 64    /* bytes of a header's, cookie's or parameter's name */
#define LAJU_PATTERN_MAX 1024    /* bytes of a pattern for a host, a path or a key */
#define LAJU_PATTERNS_MAX 64     /* hosts or paths of one rule */
#define LAJU_METHODS_MAX 16      /* methods of one rule */
#define LAJU_METHOD_MAX 32       /* bytes of a method */
#define LAJU_EXEMPT_MAX 1024     /* exempt networks of one rule, and exempt keys */
#define LAJU_OVERRIDES_MAX 10000 /* overrides of one rule */

/* Where a part of a key comes from. */
typedef enum laju_part_kind {
  LAJU_PART_IP,     /* the client's address, cut to the prefix that counts as one client */
  LAJU_PART_HEADER, /* header:NAME, in lower case */
  LAJU_PART_COOKIE, /* cookie:NAME */
  LAJU_PART_QUERY,  /* query:NAME */
  LAJU_PART_PATH,   /* the normalised path */
  LAJU_PART_METHOD,
  LAJU_PART_HOST, /* in lower case, without its port */
} laju_part_kind;

typedef struct laju_part {
  laju_part_kind kind;
  char name[LAJU_PART_NAME_MAX + 1]; /* "" where the kind has none */
} laju_part;

/* What stands in for a part that a request does not have. */
typedef enum laju_missing {
  LAJU_MISSING_IP,     /* the client's address, marked so that no value can pass for it */
  LAJU_MISSING_SKIP,   /* the rule does not apply */
  LAJU_MISSING_DENY,   /* the request is refused with 403 */
  LAJU_MISSING_SHARED, /* one key for all who lack it, marked likewise */
} laju_missing;

/* Text in which `*` stands for any run of bytes, and no other byte is special. */
typedef struct laju_pattern {
  char *text; /* `len` bytes and a 0, owned */
  size_t len;
  bool literal; /* it has no `*` */
} laju_pattern;

/* What a request must be for the rule to apply; an empty list takes any. */
typedef struct laju_match {
  bool none; /* `match: none`: only checks that name the rule use it */
  laju_pattern *hosts, *paths;
  size_t host_count, path_count;
  char methods[LAJU_METHODS_MAX][LAJU_METHOD_MAX + 1]; /* as written: methods are case-sensitive */
  size_t method_count;
} laju_match;

/* Other numbers for the keys that the pattern takes. Its rule has the policy's name and algorithm. */
typedef struct laju_override {
  laju_pattern key;
  laju_rule rule;
} laju_override;

typedef struct laju_policy {
  laju_rule rule;
  laju_match match;
  laju_part parts[LAJU_PARTS_MAX]; /* of a derived key; [ip] where none was given */
  size_t part_count;
  laju_missing missing;
  laju_part
      group_parts[LAJU_PARTS_MAX]; /* of its keys' group in the shared store; none where the rule is not grouped */
  size_t group_count;
  /* rule.veils: a bit for each part that comes from a header or a cookie, and above 8 bits part_count; 0 where none does */
  bool secret;                   /* derived keys are hashed before they are stored or shown */
  bool wait_server;              /* leaky bucket: forward-auth holds its answer back for the delay */
  laju_network *exempt_networks; /* who is never limited: an address in one of these, ... */
  laju_pattern *exempt_keys;     /* ... or a key that one of these takes */
  laju_override *overrides; /* in the file's order: an exact key before any pattern, then the first that takes it */
  size_t exempt_network_count, exempt_key_count, override_count;
  bool mode_given, on_store_error_given; /* in words, rather than by default */
  uint32_t line, column;                 /* where its mode, or else the rule, stands in the file; from 0 */
} laju_policy;

/* A policy of a rule alone: applies to any request, by address. */
void laju_policy_init(laju_policy *policy, const laju_rule *rule);

void laju_policy_deinit(laju_policy *policy);

/* Does what stands in this part belong to a client alone? */
bool laju_part_is_veiled(const laju_part *part);

/* What rule.veils is by the policy's parts. */
uint16_t laju_policy_veils(const laju_policy *policy);

/* Gives `to` what `from` has beside its numbers: shadow, mode, on_store_error, secret, grouped, veils. An override has them as its
 * rule does. */
void laju_rule_follow(laju_rule *to, const laju_rule *from);

/* Does the pattern take this text? In time linear in both for up to one `*`, else that of a search (memmem) for each run
 * between two. Pure. */
bool laju_pattern_takes(const laju_pattern *pattern, const char *text, size_t len);

#endif
