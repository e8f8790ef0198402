/* What goes back to a RESP client. Notes are replies that need no decision, written while parsing; the others are asked
 * for while parsing and written by laju_resp_encode when they are decided. */
#ifndef LAJU_PROTO_RESP_REPLY_H
#define LAJU_PROTO_RESP_REPLY_H

#include "base/buffer.h"
#include "proto/resp.h"

/* How an ask's reply is written: laju_ask's `form`. */
typedef enum laju_resp_form {
  LAJU_RESP_FORM_NOTE,     /* as the note stands */
  LAJU_RESP_FORM_CHECK,    /* LAJU.CHECK, LAJU.PEEK: six integers */
  LAJU_RESP_FORM_ALL,      /* LAJU.ALL: 1 + 6n integers */
  LAJU_RESP_FORM_EACH,     /* LAJU.MCHECK: an integer or nil for each */
  LAJU_RESP_FORM_THROTTLE, /* CL.THROTTLE: redis-cell's five integers */
  LAJU_RESP_FORM_RESET,    /* LAJU.RESET: 1 or 0 */
  LAJU_RESP_FORM_INFO,     /* COMMAND INFO: the note holds numbers of commands, a byte each (or LAJU_RESP_NO_COMMAND) */
  LAJU_RESP_FORM_DOCS,     /* COMMAND DOCS: likewise */
} laju_resp_form;

#define LAJU_RESP_FLAG_RESP3 1 /* laju_ask's `flags` */

/* Adds an ask for `count` checks, the last ones of the batch. */
void laju_resp_ask(laju_resp_call *call, laju_ask_kind kind, laju_resp_form form, uint32_t count);

/* Notes. A reply as it stands ("+OK\r\n"); formatted; a bulk string of any bytes; nil; or a note of some other form. Each
 * is at most LAJU_NOTE_MAX bytes. */
void laju_resp_note_text(laju_resp_call *call, const char *reply);
void laju_resp_note_format(laju_resp_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));
void laju_resp_note_bulk(laju_resp_call *call, const char *bytes, size_t len);
void laju_resp_note_nil(laju_resp_call *call);
void laju_resp_note_form(laju_resp_call *call, laju_resp_form form, const void *bytes, size_t len);

/* An error: "ERR ..." without the '-' and the line end. What a client sent goes in quoted by laju_resp_quote. */
void laju_resp_note_error(laju_resp_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define LAJU_RESP_QUOTED_MAX 64                              /* bytes of a value that an error shows */
#define LAJU_RESP_QUOTED_SIZE (4 * LAJU_RESP_QUOTED_MAX + 6) /* room for them escaped, in quotes, with "..." */

/* A value in quotes for an error's text: shortened, and whatever is not printable ASCII as \xHH. Returns `to`. */
const char *laju_resp_quote(char to[LAJU_RESP_QUOTED_SIZE], laju_resp_argument value);

/* The replies of a decided batch. */
void laju_resp_encode(const laju_batch *batch, laju_buffer *out);

#endif
