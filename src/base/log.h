/* What the daemon and the command line have to say to people: one line each on stderr, in logfmt or as JSON.
 *
 *     time=2026-01-31T23:59:59.123Z level=info msg=listening http=http://127.0.0.1:8080
 *     {"time":"2026-01-31T23:59:59.123Z","level":"info","msg":"listening","http":"http://127.0.0.1:8080"}
 *
 * Values with spaces, quotes, '=' or control characters are quoted and escaped, so that nobody's text can forge a line; in JSON all are,
 * and what is no UTF-8 is U+FFFD. A
 * line leaves in one write, so that threads do not mix theirs; it is cut at LAJU_LOG_LINE_MAX bytes. Libraries never log:
 * only server and cli include this.
 */
#ifndef LAJU_BASE_LOG_H
#define LAJU_BASE_LOG_H

#include <stddef.h>
#include <stdint.h>

#define LAJU_LOG_LINE_MAX 4096

typedef enum laju_log_level { LAJU_LOG_ERROR, LAJU_LOG_WARN, LAJU_LOG_INFO } laju_log_level;

typedef enum laju_log_format { LAJU_LOG_LOGFMT, LAJU_LOG_JSON } laju_log_format;

/* How laju_log writes from now on; LOGFMT at first. Any thread. */
void laju_log_set_format(laju_log_format format);
laju_log_format laju_log_get_format(void);

/* Writes a line: the message, then pairs of a name and its text, ended by NULL. Any thread; errno is left as it was. */
void laju_log(laju_log_level level, const char *message, ...) __attribute__((sentinel));

/* The line itself, with its '\n', as of `time_us` since the epoch: `names` and `values` are `count` pairs. Returns the
 * bytes written, at most LAJU_LOG_LINE_MAX; no terminator. */
size_t laju_log_line(char line[LAJU_LOG_LINE_MAX], laju_log_format format, int64_t time_us, laju_log_level level,
                     const char *message, const char *const *names, const char *const *values, size_t count);

#endif
