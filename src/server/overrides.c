#include "server/overrides.h"

#include <stdlib.h>
#include <string.h>

#include "limiter/overlay.h"
#include "redis/overrides_reply.h"

struct laju_overrides {
  laju_overrides_options options;
  laju_overrides_names names;
  uv_timer_t timer;
  laju_store_command command; /* looking, then reading */
  laju_buffer buffer;
  int64_t version, wanted; /* what was read, below 0: nothing yet; and what is being read */
  int64_t read_us;         /* when all was last read */
  int64_t fields;          /* that there were then */
  uint64_t changes, seen;  /* changes that were begun or made here, and those when reading began */
  bool closing;
  int uses; /* by the timer and by commands */
};

/* One command beside looking and reading, and what it is for. */
typedef struct errand {
  laju_store_command command; /* first */
  laju_overrides *o;
  laju_admin_change *change; /* NULL: a field is forgotten */
  void (*done)(void *context);
  void *context;
} errand;

static void let_go(laju_overrides *o) {
  if (--o->uses > 0) return;
  laju_buffer_deinit(&o->buffer);
  free(o);
}

static int64_t now_us(const laju_overrides *o) {
  return laju_limiter_now_us(o->options.service->limiter);
}

static laju_slice slice(const char *text) {
  return (laju_slice){text, strlen(text)};
}

/* Sends what is in the buffer. */
static bool send_buffer(laju_overrides *o, laju_store_command *command, uint32_t replies,
                        void (*done)(laju_store_command *command, const redisReply *reply)) {
  *command = (laju_store_command){.bytes = o->buffer.data,
                                  .len = o->buffer.len,
                                  .key = o->names.hash,
                                  .key_len = o->names.hash_len,
                                  .replies = replies,
                                  .done = done};
  if (o->closing || o->buffer.failed || !laju_store_send(o->options.store, command)) return false;
  o->uses++;
  return true;
}

/* ---- reading ---- */

static void look(uv_timer_t *timer);

static void again_in(laju_overrides *o, uint64_t ms) {
  if (!o->closing) uv_timer_start(&o->timer, look, ms, 0);
}

static void on_forgotten(laju_store_command *command, const redisReply *reply) {
  errand *done = (errand *)command;
  (void)reply;
  let_go(done->o);
  free(done);
}

/* Whoever else has set it anew meanwhile has written another value. */
static void forget(laju_overrides *o, const laju_kept_override *stale) {
  errand *fresh = calloc(1, sizeof *fresh);
  if (fresh == NULL) return;
  fresh->o = o;
  laju_buffer_clear(&o->buffer);
  laju_overrides_ask_forget(&o->buffer, &o->names, stale->field, stale->value);
  if (!send_buffer(o, &fresh->command, 1, on_forgotten)) free(fresh);
}

typedef struct reading {
  laju_overrides *o;
  const laju_ruleset *rules;
  laju_overlay_entry *entries;
  size_t count, forgotten;
  int64_t now_us;
} reading;

/* Those of rules that are not here wait in the store. */
static void take(void *context, const laju_kept_override *kept) {
  reading *r = context;
  int64_t expires_us = kept->expires_ms * 1000;
  bool stale = expires_us + INT64_C(1000) * LAJU_OVERRIDES_STALE_MS < r->now_us;
  if (stale && !r->o->options.transaction && r->forgotten < LAJU_OVERRIDES_FORGET_MAX) {
    forget(r->o, kept);
    r->forgotten++;
  }
  const laju_policy *policy = laju_ruleset_find(r->rules, kept->rule.at, kept->rule.len);
  if (expires_us <= r->now_us || policy == NULL || policy->rule.number == 0 || r->count == LAJU_OVERLAY_MAX) return;
  laju_overlay_entry *entry = &r->entries[r->count++];
  entry->number = policy->rule.number;
  entry->limit = kept->limit;
  entry->burst = kept->burst;
  entry->expires_us = expires_us;
  entry->veils = kept->veils;
  entry->key_len = (uint32_t)kept->key.len;
  memcpy(entry->key, kept->key.at, kept->key.len);
}

static bool read_all(laju_overrides *o, const redisReply *reply) {
  size_t fields = reply->type == REDIS_REPLY_ARRAY ? reply->elements / 2 : 0;
  size_t room = fields < LAJU_OVERLAY_MAX ? fields : LAJU_OVERLAY_MAX;
  reading r = {.o = o, .rules = laju_service_terms(o->options.service)->rules, .now_us = now_us(o)};
  r.entries = malloc((room + 1) * sizeof *r.entries);
  if (r.entries == NULL) return false;
  o->fields = laju_overrides_read_all(reply, take, &r);
  if (o->fields >= 0) laju_overlay_replace(o->options.service->overlay, r.entries, r.count, r.now_us);
  free(r.entries);
  return o->fields >= 0;
}

static laju_overrides *reader_of(laju_store_command *command) {
  return (laju_overrides *)((char *)command - offsetof(laju_overrides, command));
}

/* What was changed here while the answer was on its way may not be in it: then it is read once more. */
static void on_all(laju_store_command *command, const redisReply *reply) {
  laju_overrides *o = reader_of(command);
  if (o->seen != o->changes) {
    again_in(o, 0);
  } else if (reply != NULL && !o->closing && read_all(o, reply)) {
    o->version = o->wanted;
    o->read_us = now_us(o);
    again_in(o, LAJU_OVERRIDES_LOOK_MS);
  } else {
    again_in(o, LAJU_OVERRIDES_AGAIN_MS);
  }
  let_go(o);
}

static void ask_all(laju_overrides *o) {
  o->seen = o->changes;
  laju_buffer_clear(&o->buffer);
  laju_overrides_ask_all(&o->buffer, &o->names);
  if (!send_buffer(o, &o->command, 1, on_all)) again_in(o, LAJU_OVERRIDES_AGAIN_MS);
}

static void on_version(laju_store_command *command, const redisReply *reply) {
  laju_overrides *o = reader_of(command);
  o->wanted = reply != NULL ? laju_overrides_read_version(reply) : -1;
  bool due = now_us(o) - o->read_us >= INT64_C(1000) * LAJU_OVERRIDES_READ_MS;
  if (o->wanted < 0) {
    again_in(o, LAJU_OVERRIDES_AGAIN_MS);
  } else if (o->wanted != o->version || due) {
    ask_all(o);
  } else {
    again_in(o, LAJU_OVERRIDES_LOOK_MS);
  }
  let_go(o);
}

static void look(uv_timer_t *timer) {
  laju_overrides *o = timer->data;
  laju_buffer_clear(&o->buffer);
  laju_overrides_ask_version(&o->buffer, &o->names);
  if (!send_buffer(o, &o->command, 1, on_version)) again_in(o, LAJU_OVERRIDES_AGAIN_MS);
}

/* ---- changing ---- */

static laju_change_result apply(laju_overrides *o, const laju_admin_change *change, int64_t fields) {
  laju_overlay *overlay = o->options.service->overlay;
  const laju_overlay_entry *entry = &change->entry;
  if (!change->removes) return laju_overlay_put(overlay, entry, now_us(o)) == 0 ? LAJU_CHANGE_DONE : LAJU_CHANGE_FULL;
  laju_overlay_remove(overlay, entry->number, entry->key, entry->key_len, now_us(o));
  return fields > 0 ? LAJU_CHANGE_DONE : LAJU_CHANGE_UNKNOWN;
}

static void on_changed(laju_store_command *command, const redisReply *reply) {
  errand *done = (errand *)command;
  laju_overrides *o = done->o;
  laju_admin_change *change = done->change;
  int64_t fields = reply != NULL ? laju_overrides_read_changed(reply) : -1;
  o->changes++;
  change->result = fields >= 0 ? apply(o, change, fields) : LAJU_CHANGE_UNANSWERED;
  change->done = true;
  if (change->abandoned) {
    free(change);
  } else {
    done->done(done->context);
  }
  let_go(o);
  free(done);
}

/* Would there be too many? Those that have expired and stand in the store all the same count. */
static bool is_full(const laju_overrides *o, const laju_admin_change *change) {
  const laju_overlay_entry *entry = &change->entry;
  laju_overlay *overlay = o->options.service->overlay;
  laju_overlay_entry found;
  int64_t known = (int64_t)laju_overlay_count(overlay);
  if (change->removes || (known < LAJU_OVERLAY_MAX && o->fields < LAJU_OVERLAY_MAX)) return false;
  return !laju_overlay_look(overlay, entry->number, entry->key, entry->key_len, now_us(o), &found);
}

static void write_change(laju_overrides *o, const laju_admin_change *change) {
  const laju_overlay_entry *entry = &change->entry;
  laju_kept_override kept = {.rule = slice(change->rule),
                             .key = {entry->key, entry->key_len},
                             .limit = entry->limit,
                             .burst = entry->burst,
                             .expires_ms = entry->expires_us / 1000,
                             .veils = entry->veils};
  laju_buffer_clear(&o->buffer);
  if (change->removes) {
    laju_overrides_ask_remove(&o->buffer, &o->names, kept.rule, kept.key);
  } else {
    laju_overrides_ask_put(&o->buffer, &o->names, &kept);
  }
}

void laju_overrides_change(laju_overrides *o, laju_admin_change *change, void (*done)(void *context), void *context) {
  change->result = LAJU_CHANGE_FULL;
  change->done = is_full(o, change);
  if (change->done) return;
  errand *fresh = calloc(1, sizeof *fresh);
  if (fresh != NULL) {
    *fresh = (errand){.o = o, .change = change, .done = done, .context = context};
    write_change(o, change);
    o->changes++;
    if (send_buffer(o, &fresh->command, LAJU_OVERRIDES_REPLIES, on_changed)) return;
  }
  free(fresh);
  change->result = LAJU_CHANGE_UNANSWERED;
  change->done = true;
}

/* ---- life ---- */

static void timer_closed(uv_handle_t *timer) {
  let_go(timer->data);
}

void laju_overrides_close(laju_overrides *o) {
  o->closing = true;
  uv_close((uv_handle_t *)&o->timer, timer_closed);
}

int laju_overrides_new(laju_overrides **out, uv_loop_t *loop, const laju_overrides_options *options) {
  laju_overrides *o = calloc(1, sizeof *o);
  if (o == NULL) return LAJU_ERR_MEMORY;
  o->options = *options;
  o->version = -1;
  o->uses = 1;
  laju_overrides_name(&o->names, options->prefix, strlen(options->prefix));
  uv_timer_init(loop, &o->timer);
  o->timer.data = o;
  again_in(o, 0);
  *out = o;
  return 0;
}
