#include "base/duration.h"
#include "core/rule.h"
#include "proto/json_text.h"
#include "replay/access_time.h"
#include "replay/report.h"

static laju_slice slice(const char *text) {
  return (laju_slice){text, strlen(text)};
}

/* null for a negative one */
static void add_time(laju_buffer *to, const char *name, int64_t time_us) {
  char text[LAJU_TIME_TEXT_SIZE];
  if (time_us >= 0) {
    laju_time_format(text, time_us);
    laju_json_add_string(to, name, slice(text));
  } else {
    laju_json_add_name(to, name);
    laju_buffer_add_text(to, "null");
  }
}

static void add_per(laju_buffer *to, int64_t period_us) {
  char per[24];
  laju_json_add_string(to, "per", (laju_slice){per, laju_duration_format(per, sizeof per, period_us)});
}

/* ---- parts ---- */

static void add_totals(const laju_report *report, laju_buffer *to) {
  const laju_replay_tally *tally = report->tally;
  laju_json_add_name(to, "files");
  for (size_t i = 0; i < report->file_count; i++) {
    laju_buffer_add_text(to, i == 0 ? "[" : ",");
    laju_json_add_text(to, slice(report->files[i]));
  }
  laju_buffer_add_text(to, "]");
  laju_json_add_count(to, "lines", report->lines);
  laju_json_add_count(to, "unreadable", report->unreadable);
  laju_json_add_count(to, "requests", tally->requests);
  laju_json_add_count(to, "admitted", tally->admitted);
  laju_json_add_count(to, "refused", tally->refused);
  laju_json_add_count(to, "unmatched", tally->unmatched);
  laju_json_add_count(to, "errors", tally->crowded);
  laju_json_add_count(to, "late", tally->late);
  laju_json_add_count(to, "late_max_ms", (uint64_t)(tally->late_max_us / 1000));
  add_time(to, "from", tally->from_us);
  add_time(to, "to", tally->to_us);
  laju_json_add_count(to, "evicted", tally->table.evicted_used + tally->table.logs_evicted_used);
  laju_json_add_count(to, "elapsed_ms", (uint64_t)(report->elapsed_us / 1000));
}

static void add_rule(laju_buffer *to, const laju_rule *rule, const laju_rule_tally *tally) {
  laju_json_begin_element(to);
  laju_json_add_string(to, "rule", slice(rule->name));
  laju_json_add_string(to, "algorithm", slice(laju_algorithm_name(rule->algorithm)));
  laju_json_add_count(to, "limit", rule->limit);
  add_per(to, laju_rule_period_us(rule));
  laju_json_add_count(to, "burst", rule->capacity);
  laju_json_add_bool(to, "shadow", rule->shadow);
  laju_json_add_count(to, "checks", tally->checks);
  laju_json_add_count(to, "admitted", tally->admitted);
  laju_json_add_count(to, "refused", tally->refused);
  laju_json_add_count(to, "missing", tally->missing);
  laju_json_add_count(to, "keys_refused", tally->keys_refused);
  add_time(to, "first_refused", tally->first_refused_us);
  laju_buffer_add_text(to, "}");
}

static void add_rules(const laju_report *report, laju_buffer *to) {
  laju_json_add_name(to, "rules");
  laju_buffer_add_text(to, "[");
  for (size_t i = 0; i < laju_ruleset_count(report->rules); i++) {
    add_rule(to, &laju_ruleset_at(report->rules, i)->rule, &report->tally->rules[i]);
  }
  laju_buffer_add_text(to, "]");
}

static void add_refused(const laju_report *report, laju_buffer *to) {
  const laju_refused *refused = &report->tally->refused_keys;
  laju_json_add_name(to, "refused_most");
  laju_buffer_add_text(to, "[");
  for (size_t i = 0; i < refused->count && i < report->top; i++) {
    const laju_refused_entry *entry = &refused->entries[i];
    bool cut = entry->key_len > LAJU_REFUSED_KEY_MAX;
    laju_json_begin_element(to);
    laju_json_add_string(to, "rule", slice(laju_ruleset_at(report->rules, entry->rule)->rule.name));
    laju_json_add_string(to, "key", (laju_slice){entry->key, cut ? LAJU_REFUSED_KEY_MAX : entry->key_len});
    laju_json_add_bool(to, "key_cut", cut);
    laju_json_add_count(to, "refused", entry->count);
    add_time(to, "first", entry->first_us);
    laju_json_add_bool(to, "first_exact", !entry->late);
    laju_buffer_add_text(to, "}");
  }
  laju_buffer_add_text(to, "]");
  laju_json_add_count(to, "refused_most_too_low_by", refused->missed);
}

static void add_steps(const laju_timeline *timeline, const char *name, bool refused, laju_buffer *to) {
  laju_json_add_name(to, name);
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
  laju_json_add_name(to, "worst_second");
  if (report->tally->requests > 0) {
    laju_buffer_add_text(to, "{");
    add_time(to, "time", timeline->worst_s * 1000000);
    laju_json_add_count(to, "admitted", timeline->worst.admitted);
    laju_json_add_count(to, "refused", timeline->worst.refused);
    laju_buffer_add_text(to, "}");
  } else {
    laju_buffer_add_text(to, "null");
  }
  laju_json_add_name(to, "timeline");
  laju_buffer_add_text(to, "{");
  add_time(to, "from", timeline->from_s < 0 ? -1 : timeline->from_s * 1000000);
  laju_json_add_count(to, "step_s", (uint64_t)timeline->step_s);
  add_steps(timeline, "admitted", false, to);
  add_steps(timeline, "refused", true, to);
  laju_buffer_add_text(to, "}");
}

static void add_suggested(laju_buffer *to, const laju_rule *rule, const laju_suggested *suggested) {
  laju_json_begin_element(to);
  laju_json_add_string(to, "rule", slice(rule->name));
  laju_json_add_string(to, "algorithm", slice(laju_algorithm_name(rule->algorithm)));
  laju_json_add_count(to, "keys", suggested->keys);
  laju_json_add_count(to, "may_be_refused", suggested->refused);
  laju_json_add_name(to, "limits");
  laju_buffer_add_text(to, "[");
  for (size_t i = 0; i < LAJU_SUGGEST_PERIODS; i++) {
    const laju_suggestion *s = &suggested->periods[i];
    laju_json_begin_element(to);
    add_per(to, laju_suggest_periods_us[i]);
    if (s->limit > 0) {
      laju_json_add_count(to, "limit", s->limit);
      laju_json_add_count(to, "burst", s->burst);
    } else {
      laju_buffer_add_text(to, ",\"limit\":null,\"burst\":null");
    }
    laju_buffer_add_text(to, "}");
  }
  laju_buffer_add_text(to, "]}");
}

static void add_suggestions(const laju_report *report, laju_buffer *to) {
  if (report->suggested == NULL) return;
  laju_json_add_name(to, "suggested");
  laju_buffer_add_text(to, "{");
  laju_json_add_string(to, "share", slice(report->share));
  laju_json_add_count(to, "left_out", report->left_out);
  laju_json_add_name(to, "rules");
  laju_buffer_add_text(to, "[");
  for (size_t i = 0; i < laju_ruleset_count(report->rules); i++) {
    if (report->suggested[i].keys == 0) continue;
    add_suggested(to, &laju_ruleset_at(report->rules, i)->rule, &report->suggested[i]);
  }
  laju_buffer_add_text(to, "]}");
}

static void add_unreadable(const laju_report *report, laju_buffer *to) {
  laju_json_add_name(to, "unreadable_first");
  laju_buffer_add_text(to, "[");
  for (size_t i = 0; i < report->unreadable && i < LAJU_UNREADABLE_SHOWN; i++) {
    const laju_unreadable *line = &report->shown[i];
    size_t kept = line->len < LAJU_UNREADABLE_TEXT ? line->len : LAJU_UNREADABLE_TEXT;
    laju_json_begin_element(to);
    laju_json_add_string(to, "file", slice(line->file));
    laju_json_add_count(to, "line", line->line);
    laju_json_add_string(to, "why", slice(line->why));
    laju_json_add_string(to, "text", (laju_slice){line->text, kept});
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
