#include <stdio.h>
#include <string.h>

#include "load/reply.h"

static laju_load_reader *reader_of(llhttp_t *parser) {
  return parser->data;
}

static laju_load_verdict verdict_of(const llhttp_t *parser) {
  if (parser->status_code >= 200 && parser->status_code < 300) return LAJU_LOAD_ALLOWED;
  return parser->status_code == 429 ? LAJU_LOAD_DENIED : LAJU_LOAD_FAILED;
}

static int on_headers_complete(llhttp_t *parser) {
  laju_load_reader *reader = reader_of(parser);
  if (parser->status_code < 200) return 0; /* the reply is still to come */
  if (verdict_of(parser) != LAJU_LOAD_FAILED || reader->tally->error[0] != '\0') return 0;
  char text[16];
  int len = snprintf(text, sizeof text, "HTTP %u ", parser->status_code);
  laju_load_tally_tell(reader->tally, text, (size_t)len);
  reader->http.telling = true;
  return 0;
}

static int on_body(llhttp_t *parser, const char *at, size_t len) {
  laju_load_reader *reader = reader_of(parser);
  if (reader->http.telling) laju_load_tally_tell(reader->tally, at, len);
  return 0;
}

static int on_message_complete(llhttp_t *parser) {
  laju_load_reader *reader = reader_of(parser);
  reader->http.telling = false;
  if (parser->status_code < 200) return 0;
  reader->last = llhttp_should_keep_alive(parser) == 0;
  laju_load_reader_end(reader, verdict_of(parser));
  return 0;
}

static const llhttp_settings_t settings = {
    .on_headers_complete = on_headers_complete,
    .on_body = on_body,
    .on_message_complete = on_message_complete,
};

void laju_load_http_init(laju_load_reader *reader) {
  llhttp_init(&reader->http.parser, HTTP_RESPONSE, &settings);
  reader->http.parser.data = reader;
}

int laju_load_http_feed(laju_load_reader *reader, const char *bytes, size_t len) {
  return llhttp_execute(&reader->http.parser, bytes, len) == HPE_OK ? 0 : -1;
}

void laju_load_http_finish(laju_load_reader *reader) {
  llhttp_finish(&reader->http.parser);
}
