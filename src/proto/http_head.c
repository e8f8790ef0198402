#include "proto/http_head.h"

#include <string.h>
#include <strings.h>

#include "proto/http.h"
#include "proto/target.h"

static laju_http_head *head_of(llhttp_t *parser) {
  return parser->data;
}

static int refuse(laju_http_head *head, int status, const char *why) {
  head->status = status;
  head->why = why;
  return HPE_USER;
}

/* ---- llhttp's callbacks. A span comes in pieces where the bytes did; its pieces lie one behind the other. ---- */

static int on_url(llhttp_t *parser, const char *at, size_t len) {
  laju_http_head *head = head_of(parser);
  laju_http_request *request = &head->request;
  if (request->url_len == 0) request->url_at = (uint32_t)(at - head->bytes);
  request->url_len += (uint32_t)len;
  if (request->url_len > LAJU_HTTP_URL_MAX) return refuse(head, 414, "the request's target is longer than 8192 bytes");
  return 0;
}

static int on_url_complete(llhttp_t *parser) {
  head_of(parser)->targeted = true;
  return 0;
}

static int on_header_field(llhttp_t *parser, const char *at, size_t len) {
  laju_http_head *head = head_of(parser);
  if (head->name_len == 0) head->name_at = (uint32_t)(at - head->bytes);
  head->name_len += (uint32_t)len;
  return 0;
}

static int on_header_value(llhttp_t *parser, const char *at, size_t len) {
  laju_http_head *head = head_of(parser);
  if (head->value_end == 0) head->value_at = (uint32_t)(at - head->bytes);
  head->value_end = (uint32_t)(at - head->bytes + (ptrdiff_t)len);
  return 0;
}

static bool named(const laju_http_head *head, const char *name, size_t len) {
  return head->name_len == len && strncasecmp(head->bytes + head->name_at, name, len) == 0;
}

static bool valued(const laju_http_head *head, const char *value) {
  const char *from = head->bytes + head->value_at, *end = head->bytes + head->value_end;
  while (end > from && (end[-1] == ' ' || end[-1] == '\t')) end--;
  size_t len = strlen(value);
  return (size_t)(end - from) == len && strncasecmp(from, value, len) == 0;
}

/* Lists the field, and looks at those that matter here and whose meaning llhttp does not know, or not check to the end. */
static int take_field(laju_http_head *head) {
  bool empty = head->value_end <= head->value_at;
  head->list[head->request.fields++] = (laju_field){
      .name_at = (uint16_t)head->name_at,
      .name_len = (uint16_t)head->name_len,
      .value_at = (uint16_t)head->value_at,
      .value_len = (uint16_t)(empty ? 0 : head->value_end - head->value_at),
  };
  if (named(head, "host", 4)) {
    head->hosts++;
  } else if (named(head, "expect", 6)) {
    if (!valued(head, "100-continue")) return refuse(head, 417, "no expectation but 100-continue is met");
    head->request.expects = true;
  } else if (named(head, "transfer-encoding", 17)) {
    if (!valued(head, "chunked")) return refuse(head, 501, "no transfer coding but chunked is known");
  }
  return 0;
}

static int on_header_value_complete(llhttp_t *parser) {
  laju_http_head *head = head_of(parser);
  if (++head->fields > LAJU_HTTP_HEADERS_MAX) return refuse(head, 431, "there are more than 100 header fields");
  if (head->name_len == 0) return refuse(head, 400, "a header field has no name");
  uint32_t from = head->name_at + head->name_len;
  /* an empty value is told where the next line begins */
  if (head->value_end > head->value_at && memchr(head->bytes + from, '\n', head->value_end - from) != NULL) {
    return refuse(head, 400, "a header field is folded over several lines");
  }
  int error = head->in_trailers ? 0 : take_field(head);
  head->name_len = head->value_at = head->value_end = 0;
  return error;
}

static int pause(llhttp_t *parser) {
  (void)parser;
  return HPE_PAUSED;
}

static int on_body(llhttp_t *parser, const char *at, size_t len) {
  laju_http_head *head = head_of(parser);
  if (len > LAJU_HTTP_BODY_MAX - head->body_len) return refuse(head, 413, "the body is longer than 2097152 bytes");
  memmove(head->bytes + head->request.head_len + head->body_len, at, len);
  head->body_len += (uint32_t)len;
  return 0;
}

/* llhttp gives the size of a chunk before the chunk; the last one, of size 0, has the trailers behind it. */
static int on_chunk_header(llhttp_t *parser) {
  laju_http_head *head = head_of(parser);
  head->in_trailers = parser->content_length == 0;
  return 0;
}

static const llhttp_settings_t settings = {
    .on_url = on_url,
    .on_url_complete = on_url_complete,
    .on_header_field = on_header_field,
    .on_header_value = on_header_value,
    .on_header_value_complete = on_header_value_complete,
    .on_headers_complete = pause,
    .on_body = on_body,
    .on_chunk_header = on_chunk_header,
    .on_message_complete = pause,
};

void laju_http_head_next(laju_http_head *head) {
  llhttp_init(&head->parser, HTTP_REQUEST, &settings);
  head->parser.data = head;
  head->request = (laju_http_request){0};
  head->seen = head->body_len = 0;
  head->name_len = head->value_at = head->value_end = 0;
  head->fields = head->hosts = 0;
  head->targeted = head->in_trailers = false;
}

void laju_http_head_init(laju_http_head *head) {
  *head = (laju_http_head){.status = 0};
  laju_http_head_next(head);
}

/* ---- what a complete head says ---- */

static laju_http_route find_route(laju_slice path) {
  static const struct {
    const char *path;
    size_t len;
    laju_http_route route;
  } routes[] = {
      {"/v1/check", 9, LAJU_ROUTE_CHECK}, {"/v1/batch", 9, LAJU_ROUTE_BATCH}, {"/healthz", 8, LAJU_ROUTE_HEALTH},
      {"/readyz", 7, LAJU_ROUTE_READY},   {"/auth", 5, LAJU_ROUTE_AUTH},
  };
  for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
    if (routes[i].len == path.len && memcmp(routes[i].path, path.at, path.len) == 0) return routes[i].route;
  }
  return path.len >= 6 && memcmp(path.at, "/auth/", 6) == 0 ? LAJU_ROUTE_AUTH : LAJU_ROUTE_NONE;
}

bool laju_http_head_asks_auth(const laju_http_head *head) {
  if (!head->targeted) return false;
  laju_slice url = {head->bytes + head->request.url_at, head->request.url_len};
  return find_route(laju_target_split(url).path) == LAJU_ROUTE_AUTH;
}

/* llhttp speaks RTSP and ICE as well. */
static bool is_http(const laju_http_head *head) {
  const char *at = head->bytes + head->request.url_at + head->request.url_len;
  while (*at == ' ') at++; /* the head ends in a line feed, so this ends */
  return strncmp(at, "HTTP/", 5) == 0;
}

static laju_http_step refused(laju_http_head *head, int status, const char *why) {
  refuse(head, status, why);
  return LAJU_HTTP_REFUSED;
}

/* RFC 9112, section 6.3: what makes a body's end certain. */
static laju_http_step check_framing(laju_http_head *head) {
  const llhttp_t *parser = &head->parser;
  laju_http_request *request = &head->request;
  if ((parser->flags & F_TRANSFER_ENCODING) != 0) {
    if ((parser->flags & F_CONTENT_LENGTH) != 0) {
      return refused(head, 400, "Content-Length and Transfer-Encoding are both there");
    }
    if ((parser->flags & F_CHUNKED) == 0) return refused(head, 400, "the transfer coding cannot be read");
    if (request->old) return refused(head, 400, "HTTP/1.0 has no transfer codings");
    request->chunked = true;
  } else if ((parser->flags & F_CONTENT_LENGTH) != 0) {
    bool fits = parser->content_length <= LAJU_HTTP_BODY_MAX;
    if (!fits && request->route != LAJU_ROUTE_AUTH) {
      return refused(head, 413, "the body is longer than 2097152 bytes");
    }
    request->content_length = fits ? (uint32_t)parser->content_length : LAJU_HTTP_BODY_MAX;
  }
  return LAJU_HTTP_DONE;
}

/* Whether the body follows is not to be known: proxies that ask for leave announce their client's and send none. */
static void drop_body(laju_http_request *request) {
  if (!request->chunked && request->content_length == 0) return;
  request->chunked = false;
  request->content_length = 0;
  request->keep_alive = false;
}

static laju_http_step finish_head(laju_http_head *head) {
  const llhttp_t *parser = &head->parser;
  laju_http_request *request = &head->request;
  request->head_len = head->seen;
  if (!is_http(head)) return refused(head, 400, "the protocol is not HTTP");
  if (parser->http_major != 1) return refused(head, 505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
  request->old = parser->http_minor == 0;
  request->method = parser->method;
  if (parser->method == HTTP_CONNECT) return refused(head, 501, "this is no proxy");
  if (head->hosts > 1 || (head->hosts == 0 && !request->old)) {
    return refused(head, 400, "there is not exactly one Host field");
  }
  laju_target target = laju_target_split((laju_slice){head->bytes + request->url_at, request->url_len});
  request->query = target.query.at != NULL;
  request->route = (uint8_t)find_route(target.path);
  laju_http_step step = check_framing(head);
  if (step != LAJU_HTTP_DONE) return step;
  request->keep_alive = llhttp_should_keep_alive(parser) != 0;
  if (request->route == LAJU_ROUTE_AUTH) drop_body(request);
  request->expects = request->expects && !request->old && (request->chunked || request->content_length > 0);
  return LAJU_HTTP_DONE;
}

/* ---- feeding llhttp ---- */

static laju_http_step refuse_error(laju_http_head *head, llhttp_errno_t error) {
  if (head->status != 0) return LAJU_HTTP_REFUSED; /* a callback has said why */
  bool one = head->parser.http_major == 1 && head->parser.http_minor <= 1;
  if (error == HPE_INVALID_METHOD && head->bytes[0] >= 'A' && head->bytes[0] <= 'Z') {
    return refused(head, 501, "the method is not known");
  }
  if (error == HPE_PAUSED_H2_UPGRADE || (error == HPE_INVALID_VERSION && !one)) {
    return refused(head, 505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
  }
  return refused(head, 400, llhttp_get_error_reason(&head->parser));
}

/* Feeds the bytes up to `end` that were not fed yet; DONE where llhttp paused, as it does at the ends. */
static laju_http_step feed(laju_http_head *head, char *bytes, size_t end) {
  if (head->seen == end) return LAJU_HTTP_WAIT;
  head->bytes = bytes;
  llhttp_errno_t error = llhttp_execute(&head->parser, bytes + head->seen, end - head->seen);
  if (error == HPE_OK) {
    head->seen = (uint32_t)end;
    return LAJU_HTTP_WAIT;
  }
  if (error != HPE_PAUSED) return refuse_error(head, error);
  head->seen = (uint32_t)(llhttp_get_error_pos(&head->parser) - bytes);
  llhttp_resume(&head->parser);
  return LAJU_HTTP_DONE;
}

static bool recall(laju_http_head *head, const char *bytes, size_t len) {
  size_t head_len = head->memo.head_len;
  if (head->seen > 0 || head_len == 0 || len < head_len || memcmp(bytes, head->memo_bytes, head_len) != 0) return false;
  head->request = head->memo;
  head->seen = head->memo.head_len;
  return true;
}

/* A chunked body needs the parser that read its head, so such a head is not remembered. Nor is an earlier one then: the list of
 * fields is this one's. */
static void remember(laju_http_head *head, const char *bytes) {
  head->memo.head_len = 0;
  if (head->request.chunked || head->request.head_len > LAJU_HTTP_MEMO_MAX) return;
  head->memo = head->request;
  memcpy(head->memo_bytes, bytes, head->request.head_len);
}

laju_http_step laju_http_head_read(laju_http_head *head, char *bytes, size_t len) {
  if (recall(head, bytes, len)) return LAJU_HTTP_DONE;
  laju_http_step step = feed(head, bytes, len < LAJU_HTTP_HEAD_MAX ? len : LAJU_HTTP_HEAD_MAX);
  if (step == LAJU_HTTP_DONE) step = finish_head(head);
  if (step == LAJU_HTTP_DONE) remember(head, bytes);
  if (step == LAJU_HTTP_WAIT && head->seen == LAJU_HTTP_HEAD_MAX) {
    return refused(head, 431, "the request's line and header fields are longer than 16384 bytes");
  }
  return step;
}

laju_http_step laju_http_chunks_read(laju_http_head *head, char *bytes, size_t len) {
  size_t max = (size_t)head->request.head_len + LAJU_HTTP_CHUNKED_MAX;
  laju_http_step step = feed(head, bytes, len < max ? len : max);
  if (step == LAJU_HTTP_WAIT && head->seen == max) {
    return refused(head, 413, "the body with its framing is longer than 2097152 bytes");
  }
  return step;
}
