/* Single values as people write them: each reader takes `len` bytes of text and, where it refuses them, says so in words.
 *
 * A complaint names the value (cut and cleaned, so that it fits on one line), what is wrong, a guess at what was meant where
 * there is one, and what is allowed: `"60" has no unit; did you mean "60s"? allowed: 1ms to 366d`. It does not name the key:
 * the caller knows that. All return 0, or -1 with `why`; `out` is written only on success. Pure; any thread.
 */
#ifndef LAJU_CONFIG_VALUE_H
#define LAJU_CONFIG_VALUE_H

#include <laju/laju.h>

/* Writes `"VALUE" PROBLEM; did you mean "HINT"? allowed: ALLOWED`; `value` and `hint` may be NULL. Returns -1. */
int laju_complain(char why[LAJU_TEXT_SIZE], const char *value, size_t len, const char *problem, const char *hint,
                  const char *allowed);

/* Copies text to `to` (LAJU_SHOWN_SIZE) for a message: at most 40 bytes of it, anything but printable ASCII as `?`. */
#define LAJU_SHOWN_SIZE 48
void laju_text_show(char to[LAJU_SHOWN_SIZE], const char *text, size_t len);

/* A whole number from 0 to `max`, in decimal digits without sign or leading zeros. `allowed` says its range. */
int laju_value_count(const char *text, size_t len, uint64_t max, const char *allowed, uint64_t *out,
                     char why[LAJU_TEXT_SIZE]);

/* A duration with its unit, from `min_us` to `max_us`. */
int laju_value_duration(const char *text, size_t len, int64_t min_us, int64_t max_us, const char *allowed,
                        int64_t *out_us, char why[LAJU_TEXT_SIZE]);

/* A size with its unit, from `min` to `max` bytes. */
int laju_value_size(const char *text, size_t len, uint64_t min, uint64_t max, const char *allowed, uint64_t *out_bytes,
                    char why[LAJU_TEXT_SIZE]);

/* `true` or `false`. */
int laju_value_bool(const char *text, size_t len, bool *out, char why[LAJU_TEXT_SIZE]);

/* One of `count` words, exactly: its place among them. */
int laju_value_word(const char *text, size_t len, const char *const *words, size_t count, size_t *out,
                    char why[LAJU_TEXT_SIZE]);

/* Joins words with ", " for a message, cut where `size` ends. */
void laju_words_join(char *to, size_t size, const char *const *words, size_t count);

/* Text of `min` to `max` bytes without control characters, copied with a terminating 0: `to` has room for max + 1. */
int laju_value_text(const char *text, size_t len, size_t min, size_t max, char *to, char why[LAJU_TEXT_SIZE]);

#endif
