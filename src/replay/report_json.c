#include "base/duration.h"
#include "core/rule.h"
#include "replay/access_time.h"
#include "replay/report.h"
#include "replay/text.h"

static laju_slice slice(const char *text) {
  return (laju_slice){text, strlen(text)};
}

/* `,"name":`, the comma where something stands before it in its object. */
static void add_name(laju_buffer *to, const char *name) {
  char last = to->len > 0 ? to->data[to->len - 1] : '{';
  laju_buffer_add_format(to, "%s\"%s\":", last == '{' ? "" : ",", name);
}

static void add_number(laju_buffer *to, const char *name, uint64_t value) {
  add_name(to, name);
  laju_buffer_add_format(to, "%llu", (unsigned long long)value);
}

static void add_string(laju_buffer *to, const char *name, laju_slice value) {
  add_name(to, name);
  laju_text_add_json(to, value);
}

static void add_bool(laju_buffer *to, const char *name, bool value) {
  add_name(to, name);
  laju_buffer_add_text(to, value ? "true" : "false");
}

/* null for a negative one */
static void add_time(laju_buffer *to, const char *name, int64_t time_us) {
  char text[LAJU_TIME_TEXT_SIZE];
  if (time_us >= 0) {
    laju_time_format(text, time_us);
    add_string(to, name, slice(text));
  } else {
    add_name(to, name);
    laju_buffer_add_text(to, "null");
  }
}

static void add_per(laju_buffer *to, int64_t period_us) {
  char per[24];
  add_string(to, "per", (laju_slice){per, laju_duration_format(per, sizeof per, period_us)});
}

/* An element that is an object: `{`, behind a comma where it is not the first. */
static void begin_element(laju_buffer *to) {
  laju_buffer_add_text(to, to->len > 0 && to->data[to->len - 1] == '[' ? "{" : ",{");
}

/* ---- parts ---- */

static void add_totals(const laju_report *report, laju_buffer *to) {
  const laju_replay_tally *tally = report->tally;
  add_name(to, "files");
  for (size_t i = 0; i < report->file_count; i++) {
    laju_buffer_add_text(to, i == 0 ? "[" : ",");
    laju_text_add_json(to, slice(report->files[i]));
  }
  laju_buffer_add_text(to, "]");
  add_number(to, "lines", report->lines);
  add_number(to, "unreadable", report->unreadable);
  add_number(to, "requests", tally->requests);
  add_number(to, "admitted", tally->admitted);
  add_number(to, "refused", tally->refused);
  add_number(to, "unmatched", tally->unmatched);
  add_number(to, "errors", tally->crowded);
  add_number(to, "late", tally->late);
  add_number(to, "late_max_ms", (uint64_t)(tally->late_max_us / 1000));
  add_time(to, "from", tally->from_us);
  add_time(to, "to", tally->to_us);
  add_number(to, "evicted", tally->table.evicted_used + tally->table.logs_evicted_used);
  add_number(to, "elapsed_ms", (uint64_t)(report->elapsed_us / 1000));
}

static void add_rule(laju_buffer *to, const laju_rule *rule, const laju_rule_tally *tally) {
  begin_element(to);
  add_string(to, "rule", slice(rule->name));
  add_string(to, "algorithm", slice(laju_algorithm_name(rule->algorithm)));
  add_number(to, "limit", rule->limit);
  add_per(to, laju_rule_period_us(rule));
  add_number(to, "burst", rule->capacity);
  add_bool(to, "shadow", rule->shadow);
  add_number(to, "checks", tally->checks);
  add_number(to, "admitted", tally->admitted);
  add_number(to, "refused", tally->refused);
  add_number(to, "missing", tally->missing);
  add_number(to, "keys_refused", tally->keys_refused);
  add_time(to, "first_refused", tally->first_refused_us);
  laju_buffer_add_text(to, "}");
}

static void add_rules(const laju_report *report, laju_buffer *to) {
  add_name(to, "rules");
  laju_buffer_add_text(to, "[");
  for (size_t i = 0; i < laju_ruleset_count(report->rules); i++) {
    add_rule(to, &laju_ruleset_at(report->rules, i)->rule, &report->tally->rules[i]);
  }
  laju_buffer_add_text(to, "]");
}

static void add_refused(const laju_report *report, laju_buffer *to) {
  const laju_refused *refused = &report->tally->refused_keys;
  add_name(to, "refused_most");
  laju_buffer_add_text(to, "[");
  for (size_t i = 0; i < refused->count && i < report->top; i++) {
    const laju_refused_entry *entry = &refused->entries[i];
    bool cut = entry->key_len > LAJU_REFUSED_KEY_MAX;
    begin_element(to);
    add_string(to, "rule", slice(laju_ruleset_at(report->rules, entry->rule)->rule.name));
    add_string(to, "key", (laju_slice){entry->key, cut ? LAJU_REFUSED_KEY_MAX : entry->key_len});
    add_bool(to, "key_cut", cut);
    add_number(to, "refused", entry->count);
    add_time(to, "first", entry->first_us);
    add_bool(to, "first_exact", !entry->late);
    laju_buffer_add_text(to, "}");
  }
  laju_buffer_add_text(to, "]");
  add_number(to, "refused_most_too_low_by", refused->missed);
}

static void add_steps(const laju_timeline *timeline, const char *name, bool refused, laju_buffer *to) {
  add_name(to, name);
  laju_buffer_add_text(to, "[");
  for (size_t i = 0; i < timeline->count; i++) {
    const laju_span *step = &timeline->steps[i];
    if (i > 0) laju_buffer_add_text(to, ",");
    laju_buffer_add_int(to, (int64_t)(refused ? step->refused : step->admitted));
  }
  laju_buffer_add_text(to, "]");
}

static void add_timeline(const laju_report *report, laju_buffer *to) {
  const laju_timeline *timeline = &report->tally->timeline;
  add_name(to, "worst_second");
  if (report->tally->requests > 0) {
    laju_buffer_add_text(to, "{");
    add_time(to, "time", timeline->worst_s * 1000000);
    add_number(to, "admitted", timeline->worst.admitted);
    add_number(to, "refused", timeline->worst.refused);
    laju_buffer_add_text(to, "}");
  } else {
    laju_buffer_add_text(to, "null");
  }
  add_name(to, "timeline");
  laju_buffer_add_text(to, "{");
  add_time(to, "from", timeline->from_s < 0 ? -1 : timeline->from_s * 1000000);
  add_number(to, "step_s", (uint64_t)timeline->step_s);
  add_steps(timeline, "admitted", false, to);
  add_steps(timeline, "refused", true, to);
  laju_buffer_add_text(to, "}");
}

static void add_suggested(laju_buffer *to, const laju_rule *rule, const laju_suggested *suggested) {
  begin_element(to);
  add_string(to, "rule", slice(rule->name));
  add_string(to, "algorithm", slice(laju_algorithm_name(rule->algorithm)));
  add_number(to, "keys", suggested->keys);
  add_number(to, "may_be_refused", suggested->refused);
  add_name(to, "limits");
  laju_buffer_add_text(to, "[");
  for (size_t i = 0; i < LAJU_SUGGEST_PERIODS; i++) {
    const laju_suggestion *s = &suggested->periods[i];
    begin_element(to);
    add_per(to, laju_suggest_periods_us[i]);
    if (s->limit > 0) {
      add_number(to, "limit", s->limit);
      add_number(to, "burst", s->burst);
    } else {
      laju_buffer_add_text(to, ",\"limit\":null,\"burst\":null");
    }
    laju_buffer_add_text(to, "}");
  }
  laju_buffer_add_text(to, "]}");
}

static void add_suggestions(const laju_report *report, laju_buffer *to) {
  if (report->suggested == NULL) return;
  add_name(to, "suggested");
  laju_buffer_add_text(to, "{");
  add_string(to, "share", slice(report->share));
  add_number(to, "left_out", report->left_out);
  add_name(to, "rules");
  laju_buffer_add_text(to, "[");
  for (size_t i = 0; i < laju_ruleset_count(report->rules); i++) {
    if (report->suggested[i].keys == 0) continue;
    add_suggested(to, &laju_ruleset_at(report->rules, i)->rule, &report->suggested[i]);
  }
  laju_buffer_add_text(to, "]}");
}

static void add_unreadable(const laju_report *report, laju_buffer *to) {
  add_name(to, "unreadable_first");
  laju_buffer_add_text(to, "[");
  for (size_t i = 0; i < report->unreadable && i < LAJU_UNREADABLE_SHOWN; i++) {
    const laju_unreadable *line = &report->shown[i];
    size_t kept = line->len < LAJU_UNREADABLE_TEXT ? line->len : LAJU_UNREADABLE_TEXT;
    begin_element(to);
    add_string(to, "file", slice(line->file));
    add_number(to, "line", line->line);
    add_string(to, "why", slice(line->why));
    add_string(to, "text", (laju_slice){line->text, kept});
    laju_buffer_add_text(to, "}");
  }
  laju_buffer_add_text(to, "]");
}

void laju_report_print_json(const laju_report *report, laju_buffer *to) {
  laju_buffer_add_text(to, "{");
  add_totals(report, to);
  add_rules(report, to);
  add_refused(report, to);
  add_timeline(report, to);
  add_suggestions(report, to);
  add_unreadable(report, to);
  laju_buffer_add_text(to, "}\n");
}
