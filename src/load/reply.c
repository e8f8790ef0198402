#include "load/reply.h"

#include <string.h>

#include "base/count.h"

void laju_load_tally_tell(laju_load_tally *tally, const char *text, size_t len) {
  size_t at = strlen(tally->error);
  for (size_t i = 0; i < len && at < LAJU_LOAD_ERROR_SIZE - 1; i++) {
    /* What a stranger's server sends goes to a terminal, for which some bytes from 0x80 on are control characters, too. */
    tally->error[at++] = text[i] < ' ' || text[i] > '~' ? ' ' : text[i];
  }
  tally->error[at] = '\0';
}

void laju_load_reader_end(laju_load_reader *reader, laju_load_verdict verdict) {
  laju_load_tally *tally = reader->tally;
  reader->count++;
  switch (verdict) {
    case LAJU_LOAD_DENIED: laju_count(&tally->denied); break;
    case LAJU_LOAD_FAILED: laju_count(&tally->errors); break;
    default: laju_count(&tally->allowed); break;
  }
}

void laju_load_reader_init(laju_load_reader *reader, laju_load_protocol protocol, laju_load_meaning meaning,
                           laju_load_tally *tally) {
  *reader = (laju_load_reader){.protocol = protocol, .meaning = meaning, .tally = tally};
  if (protocol == LAJU_LOAD_HTTP) laju_load_http_init(reader);
}

int64_t laju_load_reader_feed(laju_load_reader *reader, const char *bytes, size_t len) {
  reader->count = 0;
  int error = reader->protocol == LAJU_LOAD_HTTP ? laju_load_http_feed(reader, bytes, len)
                                                 : laju_load_resp_feed(reader, bytes, len);
  return error < 0 ? -1 : (int64_t)reader->count;
}

uint64_t laju_load_reader_finish(laju_load_reader *reader) {
  reader->count = 0;
  if (reader->protocol == LAJU_LOAD_HTTP) laju_load_http_finish(reader);
  return reader->count;
}
