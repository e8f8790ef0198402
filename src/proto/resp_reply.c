#include "proto/resp_reply.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "proto/resp_command.h"

#define INTEGER_MAX 23 /* bytes of ":-9223372036854775808\r\n" */
#define FAILURE_MAX 512
#define HEADER_MAX 16 /* bytes of an array's "*97\r\n", and of every other short piece */

/* ---- asks and notes ---- */

static laju_ask *add_ask(laju_resp_call *call, laju_ask_kind kind, laju_resp_form form) {
  laju_ask *ask = &call->batch->asks[call->batch->ask_count++];
  *ask = (laju_ask){
      .kind = kind,
      .form = (uint16_t)form,
      .flags = call->connection->protocol == 3 ? LAJU_RESP_FLAG_RESP3 : 0,
  };
  return ask;
}

void laju_resp_ask(laju_resp_call *call, laju_ask_kind kind, laju_resp_form form, uint32_t count) {
  laju_ask *ask = add_ask(call, kind, form);
  ask->count = count;
  ask->first = (uint32_t)call->batch->check_count - count;
}

static char *note_begin(laju_resp_call *call) {
  return call->batch->notes + call->batch->note_len;
}

/* Makes an ask of the `len` bytes that were written at note_begin. */
static void note_end(laju_resp_call *call, laju_resp_form form, size_t len) {
  laju_ask *ask = add_ask(call, LAJU_ASK_NOTE, form);
  ask->first = (uint32_t)call->batch->note_len;
  ask->count = (uint32_t)len;
  call->batch->note_len += len;
}

void laju_resp_note_form(laju_resp_call *call, laju_resp_form form, const void *bytes, size_t len) {
  if (len > LAJU_NOTE_MAX) len = LAJU_NOTE_MAX;
  memcpy(note_begin(call), bytes, len);
  note_end(call, form, len);
}

void laju_resp_note_text(laju_resp_call *call, const char *reply) {
  laju_resp_note_form(call, LAJU_RESP_FORM_NOTE, reply, strlen(reply));
}

static size_t bounded(int len, size_t size) {
  return len < 0 ? 0 : (size_t)len < size ? (size_t)len : size - 1;
}

void laju_resp_note_format(laju_resp_call *call, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int len = vsnprintf(note_begin(call), LAJU_NOTE_MAX, format, arguments);
  va_end(arguments);
  note_end(call, LAJU_RESP_FORM_NOTE, bounded(len, LAJU_NOTE_MAX));
}

void laju_resp_note_bulk(laju_resp_call *call, const char *bytes, size_t len) {
  size_t room = LAJU_NOTE_MAX - HEADER_MAX;
  if (len > room) len = room;
  char *note = note_begin(call);
  size_t header = (size_t)snprintf(note, HEADER_MAX, "$%zu\r\n", len);
  if (len > 0) memcpy(note + header, bytes, len);
  memcpy(note + header + len, "\r\n", 2);
  note_end(call, LAJU_RESP_FORM_NOTE, header + len + 2);
}

void laju_resp_note_nil(laju_resp_call *call) {
  laju_resp_note_text(call, call->connection->protocol == 3 ? "_\r\n" : "$-1\r\n");
}

void laju_resp_note_error(laju_resp_call *call, const char *format, ...) {
  char *note = note_begin(call);
  size_t room = LAJU_NOTE_MAX - 3; /* the '-' and the line end */
  va_list arguments;
  va_start(arguments, format);
  int written = vsnprintf(note + 1, room, format, arguments);
  va_end(arguments);
  size_t len = bounded(written, room);
  note[0] = '-';
  memcpy(note + 1 + len, "\r\n", 2);
  note_end(call, LAJU_RESP_FORM_NOTE, len + 3);
  laju_ask *ask = &call->batch->asks[call->batch->ask_count - 1];
  ask->failed = ask->counts = true;
}

const char *laju_resp_quote(char to[LAJU_RESP_QUOTED_SIZE], laju_resp_argument value) {
  static const char digits[] = "0123456789abcdef";
  char *at = to;
  *at++ = '\'';
  for (size_t i = 0; i < value.len && i < LAJU_RESP_QUOTED_MAX; i++) {
    unsigned char c = (unsigned char)value.at[i];
    if (c >= ' ' && c <= '~' && c != '\'' && c != '\\') {
      *at++ = (char)c;
    } else {
      *at++ = '\\';
      *at++ = 'x';
      *at++ = digits[c >> 4];
      *at++ = digits[c & 15];
    }
  }
  if (value.len > LAJU_RESP_QUOTED_MAX) {
    memcpy(at, "...", 3);
    at += 3;
  }
  *at++ = '\'';
  *at = '\0';
  return to;
}

/* ---- decisions ---- */

/* ":5\r\n"; the shortest numbers, which are most, without a division. */
static inline char *put_integer(char *to, int64_t value) {
  *to++ = ':';
  if (value >= 0 && value <= 9) {
    *to++ = (char)('0' + value);
  } else {
    to += laju_decimal(to, value);
  }
  memcpy(to, "\r\n", 2);
  return to + 2;
}

static inline char *put_text(char *to, const char *text, size_t len) {
  memcpy(to, text, len);
  return to + len;
}

/* Rounded up, so that a client that waits that long has waited long enough. -1, "never", stays itself. */
static inline int64_t whole(int64_t us, uint64_t unit_us) {
  return us <= 0 ? us : (int64_t)(((uint64_t)us + unit_us - 1) / unit_us);
}

/* A rule in shadow refuses nothing. */
static inline char *put_check(char *to, const laju_check *check, const laju_decision *decision) {
  bool allowed = decision->allowed || check->rule->shadow;
  to = put_integer(to, allowed);
  to = put_integer(to, decision->limit);
  to = put_integer(to, decision->remaining);
  to = put_integer(to, allowed ? 0 : whole(decision->retry_after_us, 1000));
  to = put_integer(to, whole(decision->reset_after_us, 1000));
  return put_integer(to, whole(decision->delay_us, 1000));
}

static char *put_all(char *to, const laju_ask *ask, const laju_check *checks, const laju_decision *decisions) {
  *to++ = '*';
  to += laju_decimal(to, 1 + 6 * (int64_t)ask->count);
  to = put_text(to, "\r\n", 2);
  to = put_integer(to, ask->allowed);
  for (uint32_t i = 0; i < ask->count; i++) to = put_check(to, &checks[i], &decisions[i]);
  return to;
}

static inline char *put_throttle(char *to, const laju_decision *decision) {
  to = put_text(to, "*5\r\n", 4);
  to = put_integer(to, !decision->allowed);
  to = put_integer(to, decision->limit);
  to = put_integer(to, decision->remaining);
  to = put_integer(to, decision->allowed ? -1 : whole(decision->retry_after_us, 1000000));
  return put_integer(to, whole(decision->reset_after_us, 1000000));
}

static char *put_each(char *to, const laju_ask *ask, const laju_check *checks, const laju_decision *decisions) {
  bool resp3 = (ask->flags & LAJU_RESP_FLAG_RESP3) != 0;
  *to++ = '*';
  to += laju_decimal(to, ask->count);
  to = put_text(to, "\r\n", 2);
  for (uint32_t i = 0; i < ask->count; i++) {
    const laju_decision *decision = &decisions[i];
    if (decision->allowed || checks[i].rule->shadow) {
      to = put_integer(to, decision->remaining);
    } else if (decision->retry_after_us == LAJU_NEVER) {
      to = resp3 ? put_text(to, "_\r\n", 3) : put_text(to, "$-1\r\n", 5);
    } else {
      int64_t wait_ms = whole(decision->retry_after_us, 1000);
      to = put_integer(to, wait_ms > 0 ? -wait_ms : -1);
    }
  }
  return to;
}

/* ---- COMMAND ---- */

static void encode_info(const laju_ask *ask, const char *numbers, laju_buffer *out) {
  bool resp3 = (ask->flags & LAJU_RESP_FLAG_RESP3) != 0;
  laju_buffer_add_format(out, "*%u\r\n", ask->count);
  for (uint32_t i = 0; i < ask->count; i++) {
    unsigned char number = (unsigned char)numbers[i];
    if (number == LAJU_RESP_NO_COMMAND) {
      laju_buffer_add_text(out, resp3 ? "_\r\n" : "*-1\r\n");
    } else {
      laju_resp_command_write_info(laju_resp_command_at(number), resp3, out);
    }
  }
}

static void encode_docs(const laju_ask *ask, const char *numbers, laju_buffer *out) {
  bool resp3 = (ask->flags & LAJU_RESP_FLAG_RESP3) != 0;
  laju_buffer_add_format(out, resp3 ? "%%%u\r\n" : "*%u\r\n", resp3 ? ask->count : 2 * ask->count);
  for (uint32_t i = 0; i < ask->count; i++) {
    laju_resp_command_write_docs(laju_resp_command_at((unsigned char)numbers[i]), resp3, out);
  }
}

/* ---- all of a batch ---- */

/* The most that an ask's reply takes, those of COMMAND aside, which ask for room themselves. */
static inline size_t reply_max(const laju_ask *ask) {
  if (ask->kind == LAJU_ASK_NOTE) return ask->count;
  if (ask->split || ask->failed) return FAILURE_MAX;
  size_t integers = ask->kind == LAJU_ASK_EACH && ask->form == LAJU_RESP_FORM_EACH ? 1 : 6;
  return HEADER_MAX + INTEGER_MAX + integers * INTEGER_MAX * ask->count;
}

/* That of an ask which could not be decided. */
static char *put_failure(char *to, const laju_ask *ask) {
  static const char split[] = "-CROSSSLOT " LAJU_SPLIT_DETAIL "; allowed: " LAJU_SPLIT_ALLOWED "\r\n";
  static const char failed[] = "-ERR the shared store did not answer: the key may be forgotten, or not\r\n";
  _Static_assert(sizeof split <= FAILURE_MAX && sizeof failed <= FAILURE_MAX, "there is room for either");
  return ask->split ? put_text(to, split, sizeof split - 1) : put_text(to, failed, sizeof failed - 1);
}

static char *put_reply(char *to, const laju_ask *ask, const laju_batch *batch) {
  if (ask->kind == LAJU_ASK_NOTE) return put_text(to, batch->notes + ask->first, ask->count);
  if (ask->split || ask->failed) return put_failure(to, ask);
  const laju_check *checks = &batch->checks[ask->first];
  const laju_decision *decisions = &batch->decisions[ask->first];
  switch (ask->form) {
    case LAJU_RESP_FORM_CHECK: return put_check(put_text(to, "*6\r\n", 4), checks, decisions);
    case LAJU_RESP_FORM_THROTTLE: return put_throttle(to, decisions);
    case LAJU_RESP_FORM_EACH: return put_each(to, ask, checks, decisions);
    case LAJU_RESP_FORM_ALL: return put_all(to, ask, checks, decisions);
    default: return put_integer(to, ask->known);
  }
}

void laju_resp_encode(const laju_batch *batch, laju_buffer *out) {
  size_t max = 1; /* never nothing, which an empty buffer has no place for */
  for (size_t i = 0; i < batch->ask_count; i++) max += reply_max(&batch->asks[i]);
  char *to = laju_buffer_reserve(out, max);
  for (size_t i = 0; i < batch->ask_count && to != NULL; i++) {
    const laju_ask *ask = &batch->asks[i];
    if (ask->form != LAJU_RESP_FORM_INFO && ask->form != LAJU_RESP_FORM_DOCS) {
      to = put_reply(to, ask, batch);
      continue;
    }
    out->len = (size_t)(to - out->data);
    if (ask->form == LAJU_RESP_FORM_INFO) {
      encode_info(ask, batch->notes + ask->first, out);
    } else {
      encode_docs(ask, batch->notes + ask->first, out);
    }
    to = laju_buffer_reserve(out, max);
  }
  if (to != NULL) out->len = (size_t)(to - out->data);
}
