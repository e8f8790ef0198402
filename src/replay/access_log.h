/* Lines of an access log into requests: nginx' and Apache's combined format, JSON lines, and CSV with a line of names.
 *
 *   combined   ADDR - USER [TIME] "METHOD TARGET PROTOCOL" STATUS BYTES "REFERER" "USER-AGENT" "X-FORWARDED-FOR"
 *              What is behind the request may be missing, and what is behind the last is passed over. A host may stand before
 *              the address, as in Apache's vhost_combined. In quotes \" \\ \t \n \r \b \v and \xHH are bytes; - is nothing.
 *   JSON       an object a line; what its members are is told by their names (access_name.h), or by --fields
 *   CSV        the first line names the columns; separated by comma, semicolon or tab; in quotes as RFC 4180 has it, but a
 *              line is a line
 *
 * Where no format is said, a line tells it: JSON begins with `{`, a CSV's first line names a time and a client, and the
 * combined format has a time in brackets. Until one does, lines are not readable.
 *
 * A line is read in place: its bytes change, and the request points into them. Nothing is allocated. Pure; one thread a reader.
 */
#ifndef LAJU_REPLAY_ACCESS_LOG_H
#define LAJU_REPLAY_ACCESS_LOG_H

#include "replay/access.h"
#include "replay/access_name.h"

#define LAJU_ACCESS_LINE_MAX 65536  /* bytes of a line */
#define LAJU_ACCESS_COLUMNS_MAX 128 /* of CSV; names of a JSON log that are remembered */
#define LAJU_ACCESS_REQUEST_MAX \
  16000 /* bytes of what is kept of a request; less than the head that laju's door would take */

typedef enum laju_access_format {
  LAJU_FORMAT_UNKNOWN,
  LAJU_FORMAT_COMBINED,
  LAJU_FORMAT_JSON,
  LAJU_FORMAT_CSV,
} laju_access_format;

typedef struct laju_access_reader {
  laju_access_format format;
  const char *why; /* of the last line that was not readable: a static text */
  laju_access_names names;
  /* CSV: what each column is. JSON: names that were met, in the order of a line, so that the next line finds its own at once */
  laju_access_name columns[LAJU_ACCESS_COLUMNS_MAX];
  size_t column_count;
  char separator; /* CSV's; 0 until its first line was read */
} laju_access_reader;

/* For one log. `format` may be LAJU_FORMAT_UNKNOWN; `names` may be NULL. */
void laju_access_reader_init(laju_access_reader *reader, laju_access_format format, const laju_access_names *names);

/* Reads a line (without its end). 1: a request; 0: a line that holds none (empty, or the names of a CSV); -1: not readable, and
 * `reader->why` says why. */
int laju_access_read(laju_access_reader *reader, char *line, size_t len, laju_access *out);

/* "combined", "json", "csv"; NULL where there is none. */
const char *laju_access_format_name(laju_access_format format);

#endif
