/* laju: one exact rate limit, inside a C program.
 *
 * A *rule* says how much: `limit` tokens per `period`, by one of five algorithms. A *key* says who: a user, an API key, an
 * address. A *check* asks for `cost` tokens of one key under one rule, and the answer is a *decision*. A *limiter* is the
 * store that remembers the keys: bounded memory, many threads.
 *
 *     laju_limiter *limiter;
 *     laju_limiter_options options = {.memory_bytes = 64 << 20};
 *     if (laju_limiter_new(&limiter, &options) < 0) ...
 *     laju_rule login;
 *     char why[LAJU_TEXT_SIZE];
 *     if (laju_rule_parse(&login, "login=5/1m token-bucket burst 10", why) < 0) ...
 *     laju_check check = {.rule = &login, .key = "user:42", .key_len = 7, .cost = 1};
 *     laju_decision decision;
 *     if (laju_limiter_check(limiter, &check, 1, &decision) == 1) ... serve it
 *
 * Conventions
 *   - Functions return 0 (or a small positive answer, where it says so) or a negative LAJU_ERR_*. "Limited" is an answer,
 *     never an error. Results come through `out` arguments, written only on success.
 *   - Times and waits are microseconds in int64_t and end in `_us`. Waits are exact to the rule's tick, and never above
 *     LAJU_WAIT_MAX_US.
 *   - The library never logs and never exits. It allocates in laju_limiter_new and in save/load, nowhere else.
 *   - A laju_limiter may be used by any number of threads at once. A laju_rule is a plain value: initialise it once, then
 *     only read it.
 */
#ifndef LAJU_LAJU_H
#define LAJU_LAJU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LAJU_API __attribute__((visibility("default")))

/* ---- limits of everything ------------------------------------------------------------------------------------------ */

#define LAJU_TOKENS_MAX UINT32_MAX                          /* largest limit, burst and cost */
#define LAJU_LOG_LIMIT_MAX 65536                            /* largest limit of a sliding-window-log */
#define LAJU_PERIOD_MIN_US INT64_C(1000)                    /* 1 ms */
#define LAJU_PERIOD_MAX_US (INT64_C(366) * 86400 * 1000000) /* 366 days */
#define LAJU_WAIT_MAX_US ((INT64_C(1) << 53) - 1)           /* 285 years: where a wait stops being exact */
#define LAJU_TIME_MAX_US ((INT64_C(1) << 53) - 1)           /* latest time that may be passed in, since the epoch */
#define LAJU_NEVER INT64_C(-1)                              /* retry_after_us where waiting cannot help */
#define LAJU_KEY_MAX 1024                                   /* bytes of a key; at least 1 */
#define LAJU_NAME_MAX 64                                    /* bytes of a rule's name: [A-Za-z0-9_.-]{1,64} */
#define LAJU_CHECKS_MAX 16                                  /* checks of one request, all charged or none */
#define LAJU_TEXT_SIZE 256                                  /* room for an error's text */

/* ---- errors -------------------------------------------------------------------------------------------------------- */

typedef enum laju_error {
  LAJU_ERR_LIMIT = -1,       /* limit above LAJU_TOKENS_MAX, or above LAJU_LOG_LIMIT_MAX for a log */
  LAJU_ERR_PERIOD = -2,      /* period outside 1 ms to 366 days */
  LAJU_ERR_PERIOD_TICK = -3, /* no tick divides the period finely enough: laju_period_nearest names one that works */
  LAJU_ERR_BURST = -4,       /* burst 0 where limit is not, or burst given to an algorithm that has none */
  LAJU_ERR_COST = -5,        /* cost above LAJU_TOKENS_MAX */
  LAJU_ERR_ALGORITHM = -6,   /* not one of the five */
  LAJU_ERR_NAME = -7,        /* not [A-Za-z0-9_.-]{1,64} */
  LAJU_ERR_KEY = -8,         /* empty, or longer than LAJU_KEY_MAX */
  LAJU_ERR_CHECKS = -9,      /* no check, or more than LAJU_CHECKS_MAX in one request */
  LAJU_ERR_TEXT = -10,       /* a rule's text that cannot be read */
  LAJU_ERR_TIME = -11,       /* a time outside 0 to LAJU_TIME_MAX_US */
  LAJU_ERR_MEMORY = -12,     /* memory could not be had, or the amount asked for is outside its range */
  LAJU_ERR_SYSTEM = -13,     /* a system call failed: errno says why */
  LAJU_ERR_SNAPSHOT = -14,   /* a snapshot that is truncated, corrupt, or not one */
} laju_error;

/* The field that an error is about ("limit", "key", ...) and what is allowed there ("0 to 4294967295"). Static strings;
 * "" and "unknown error" for a number that is none. Thread-safe. */
LAJU_API const char *laju_error_field(int error);
LAJU_API const char *laju_error_allowed(int error);

/* ---- rules --------------------------------------------------------------------------------------------------------- */

typedef enum laju_algorithm {
  LAJU_TOKEN_BUCKET,           /* GCRA's other name: `burst` at once, `limit` per period in the long run */
  LAJU_LEAKY_BUCKET,           /* a queue of `burst` places that drains evenly: a decision tells how long to wait */
  LAJU_FIXED_WINDOW,           /* a counter per period of the clock: up to twice the limit around an edge */
  LAJU_SLIDING_WINDOW_COUNTER, /* two counters, weighted: the default */
  LAJU_SLIDING_WINDOW_LOG,     /* each admission's time: exact in every window, 8 bytes an admission */
} laju_algorithm;

#define LAJU_ALGORITHMS 5

/* "token-bucket", ...; NULL for a number that is none. */
LAJU_API const char *laju_algorithm_name(laju_algorithm algorithm);

/* Finds an algorithm by its name (not terminated by 0). LAJU_ERR_ALGORITHM where there is none. */
LAJU_API int laju_algorithm_find(const char *name, size_t len, laju_algorithm *out);

/* Where a rule is decided, and by what when the shared store does not answer. The daemon's alone: liblaju has no shared store,
 * and decides every rule by its own table. */
typedef enum laju_mode { LAJU_EMBEDDED, LAJU_EXACT } laju_mode;
typedef enum laju_on_store_error {
  LAJU_STORE_ERROR_ALLOW,
  LAJU_STORE_ERROR_DENY,
  LAJU_STORE_ERROR_LOCAL
} laju_on_store_error;

/* A rule, ready to decide with. Made by laju_rule_init or laju_rule_parse; read its members, do not write them. */
typedef struct laju_rule {
  uint64_t id[2];    /* names (name, algorithm, period): what a key's state belongs to, beside the key */
  int64_t period;    /* ticks */
  int64_t tick_us;   /* 1 us to 100 s: the smallest power of ten that divides the period into <= 2^20 ticks */
  uint32_t limit;    /* tokens per period */
  uint32_t capacity; /* the most that can be taken at once: burst for buckets, else limit; 0 where limit is 0 */
  laju_algorithm algorithm;
  uint32_t cost;                      /* what a check costs where it does not say; 1 after init */
  laju_mode mode;                     /* LAJU_EMBEDDED after init */
  laju_on_store_error on_store_error; /* LAJU_STORE_ERROR_ALLOW after init */
  bool shadow;     /* decided and charged as a request of its own, but refuses nothing; false after init */
  bool secret;     /* the shared store never sees its keys' text; false after init */
  bool grouped;    /* its keys' names in the shared store carry a group; false after init */
  uint16_t veils;  /* which parts of its keys are not to be shown (the daemon's alone); 0 after init */
  uint32_t number; /* what its decisions are counted under (the daemon's alone); 0 after init */
  char name[LAJU_NAME_MAX + 1];
} laju_rule;

/* Makes a rule. `name` is `name_len` bytes. `burst` 0 means "as limit"; for algorithms other than the buckets it must be
 * 0 or equal to limit. A limit of 0 refuses everything. Errors: LAJU_ERR_NAME, _ALGORITHM, _LIMIT, _PERIOD, _PERIOD_TICK,
 * _BURST. */
LAJU_API int laju_rule_init(laju_rule *out, const char *name, size_t name_len, laju_algorithm algorithm, uint64_t limit,
                            int64_t period_us, uint64_t burst);

/* Makes a rule from a line such as "login=5/1m token-bucket burst 10": NAME=LIMIT/PERIOD [ALGORITHM] [burst N] [cost N].
 * On an error, `why` says in words what is wrong and what is allowed. */
LAJU_API int laju_rule_parse(laju_rule *out, const char *text, char why[LAJU_TEXT_SIZE]);

/* The period nearest to `period_us` that a tick divides. */
LAJU_API int64_t laju_period_nearest(int64_t period_us);

/* ---- checks and decisions ------------------------------------------------------------------------------------------ */

typedef struct laju_check {
  const laju_rule *rule; /* must outlive the call */
  const char *key;       /* 1 to LAJU_KEY_MAX bytes, any bytes; must outlive the call */
  uint32_t key_len;
  uint32_t cost; /* tokens; 0 peeks: always allowed, answers, changes nothing */
} laju_check;

/* What a decision rests on. liblaju's are all LAJU_DECIDED. */
typedef enum laju_basis {
  LAJU_DECIDED,  /* the key's state */
  LAJU_FALLBACK, /* the rule's on_store_error: the shared store did not answer */
  LAJU_UNASKED,  /* nothing: another check of the request was refused before the shared store was asked */
} laju_basis;

typedef struct laju_decision {
  int64_t retry_after_us; /* a denial: the least wait after which the same check passes, or LAJU_NEVER; else 0 */
  int64_t more_after_us;  /* the least wait after which `remaining` is larger; 0 where it is the limit already */
  int64_t reset_after_us; /* the least wait after which the key is as good as new */
  int64_t delay_us;       /* leaky bucket: how long this admitted request waits its turn */
  uint32_t limit;         /* the rule's capacity */
  uint32_t remaining;     /* the largest cost that would be admitted now, after this decision; <= limit */
  bool allowed;
  laju_basis basis;
} laju_decision;

/* Which of two decisions of one request its client should be told of: true where `a` is strictly the tighter. Among
 * refusals the longer wait, otherwise the lesser remaining / limit, then the later reset. */
LAJU_API bool laju_decision_tighter(const laju_decision *a, const laju_decision *b);

/* The index of the tightest of `count` (>= 1) decisions; the first among equals. */
LAJU_API size_t laju_decision_tightest(const laju_decision *decisions, size_t count);

/* ---- the limiter --------------------------------------------------------------------------------------------------- */

typedef struct laju_limiter laju_limiter;

typedef struct laju_limiter_options {
  uint64_t memory_bytes; /* bound on what keys take in all; 0: 256 MiB; 1 MiB to 1 TiB. Mapped, used as keys come */
  uint64_t memory_logs_bytes; /* the part of it for sliding logs; 0: a quarter */
  bool huge_pages;            /* map it in huge pages, where the kernel gives them: faster, and in steps of 2 MiB */
} laju_limiter_options;

/* Makes an empty limiter. `options` may be NULL. Errors: LAJU_ERR_MEMORY, LAJU_ERR_SYSTEM. */
LAJU_API int laju_limiter_new(laju_limiter **out, const laju_limiter_options *options);

/* Frees it and all its keys. No other thread may be using it. NULL is allowed. */
LAJU_API void laju_limiter_free(laju_limiter *limiter);

/* Decides one request of 1 to LAJU_CHECKS_MAX checks, now: all are charged or none. `decisions` has a place for each, in
 * the same order. Returns 1 where the request is allowed, 0 where one refuses (then nothing is charged), or LAJU_ERR_KEY,
 * LAJU_ERR_CHECKS (nothing is charged, nothing written). Checks under a `shadow` rule have no part in that: each is decided
 * and charged by itself, and its decision says what it would have answered. */
LAJU_API int laju_limiter_check(laju_limiter *limiter, const laju_check *checks, size_t count,
                                laju_decision *decisions);

/* Decides `count` independent checks, each for itself: the fast way for many. Same errors; any count from 1. */
LAJU_API int laju_limiter_check_each(laju_limiter *limiter, const laju_check *checks, size_t count,
                                     laju_decision *decisions);

/* Forgets a key under a rule. Returns 1 where it was known, 0 where it was not, or LAJU_ERR_KEY. */
LAJU_API int laju_limiter_reset(laju_limiter *limiter, const laju_rule *rule, const char *key, size_t key_len);

/* Writes all keys to a file (aside, then renamed; mode 0600), or reads them from one into an empty limiter. On an error
 * `why` says what happened; a failed load leaves the limiter empty. Errors: LAJU_ERR_SYSTEM, _SNAPSHOT, _MEMORY. */
LAJU_API int laju_limiter_save(laju_limiter *limiter, const char *path, char why[LAJU_TEXT_SIZE]);
LAJU_API int laju_limiter_load(laju_limiter *limiter, const char *path, char why[LAJU_TEXT_SIZE]);

/* "0.1.0" */
LAJU_API const char *laju_version(void);

#ifdef __cplusplus
}
#endif
#endif
