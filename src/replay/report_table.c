#include "base/duration.h"
#include "core/rule.h"
#include "replay/grid.h"
#include "replay/report.h"
#include "replay/text.h"

#define KEY_SHOWN 64  /* characters of a key */
#define LINE_SHOWN 60 /* of a line that could not be read */

static const char *policy_name(const laju_report *report, size_t i) {
  return laju_ruleset_at(report->rules, i)->rule.name;
}

static void title(laju_grid *grid, const char *text) {
  laju_grid_cell(grid);
  laju_buffer_add_text(&grid->text, text);
}

static void cell_text(laju_grid *grid, const char *text) {
  title(grid, text);
}

static void cell_count(laju_grid *grid, uint64_t count) {
  laju_grid_cell(grid);
  laju_text_add_count(&grid->text, count);
}

static void cell_time(laju_grid *grid, int64_t time_us) {
  laju_grid_cell(grid);
  laju_text_add_time(&grid->text, time_us);
}

/* ---- the first lines ---- */

static void add_part(laju_buffer *to, uint64_t count, const char *what) {
  if (count == 0) return;
  laju_buffer_add_text(to, ", ");
  laju_text_add_count(to, count);
  laju_buffer_add_text(to, what);
}

static void add_summary(const laju_report *report, laju_buffer *to) {
  const laju_replay_tally *tally = report->tally;
  laju_text_add_count(to, report->lines);
  laju_buffer_add_text(to, report->lines == 1 ? " line, " : " lines, ");
  laju_text_add_count(to, tally->requests);
  laju_buffer_add_text(to, tally->requests == 1 ? " request" : " requests");
  laju_buffer_add_text(to, " from ");
  laju_text_add_time(to, tally->from_us);
  laju_buffer_add_text(to, " to ");
  laju_text_add_time(to, tally->to_us);
  laju_buffer_add_text(to, "\nadmitted ");
  laju_text_add_count(to, tally->admitted);
  laju_buffer_add_text(to, " (");
  laju_text_add_share(to, tally->admitted, tally->requests);
  laju_buffer_add_text(to, "), refused ");
  laju_text_add_count(to, tally->refused);
  laju_buffer_add_text(to, " (");
  laju_text_add_share(to, tally->refused, tally->requests);
  laju_buffer_add_text(to, ")");
  add_part(to, tally->unmatched, " under no rule");
  add_part(to, tally->crowded, " under more than 16 rules (an error)");
  laju_buffer_add_text(to, "\n");
}

static void add_remarks(const laju_report *report, laju_buffer *to) {
  const laju_replay_tally *tally = report->tally;
  char duration[24];
  if (tally->late > 0) {
    laju_text_add_count(to, tally->late);
    laju_duration_format(duration, sizeof duration, tally->late_max_us);
    laju_buffer_add_format(to, " out of order, by up to %s: decided at the time of the one before\n", duration);
  }
  uint64_t evicted = tally->table.evicted_used + tally->table.logs_evicted_used;
  if (evicted > 0) {
    laju_text_add_count(to, evicted);
    laju_buffer_add_text(to, " keys were forgotten while in use: memory is too small, and some were admitted for it\n");
  }
}

/* ---- the rules ---- */

/* As --rule takes it: "5/1m token-bucket burst 10". */
static void add_limit(laju_buffer *to, const laju_policy *policy) {
  const laju_rule *rule = &policy->rule;
  char per[24];
  laju_duration_format(per, sizeof per, laju_rule_period_us(rule));
  laju_buffer_add_format(to, "%u/%s", rule->limit, per);
  if (rule->algorithm != LAJU_SLIDING_WINDOW_COUNTER) {
    laju_buffer_add_format(to, " %s", laju_algorithm_name(rule->algorithm));
  }
  if (rule->capacity != rule->limit) laju_buffer_add_format(to, " burst %u", rule->capacity);
  if (rule->cost != 1) laju_buffer_add_format(to, " cost %u", rule->cost);
  if (rule->shadow) laju_buffer_add_text(to, " (shadow)");
}

static void add_rule(const laju_report *report, size_t i, laju_grid *grid) {
  const laju_rule_tally *tally = &report->tally->rules[i];
  cell_text(grid, policy_name(report, i));
  laju_grid_cell(grid);
  add_limit(&grid->text, laju_ruleset_at(report->rules, i));
  cell_count(grid, tally->checks);
  cell_count(grid, tally->admitted);
  cell_count(grid, tally->refused);
  laju_grid_cell(grid);
  laju_text_add_share(&grid->text, tally->refused, tally->checks);
  cell_count(grid, tally->keys_refused);
  cell_time(grid, tally->first_refused_us);
}

static void add_rules(const laju_report *report, size_t width, laju_buffer *to) {
  static const char *const titles[] = {"RULE",    "LIMIT", "CHECKS",       "ADMITTED",
                                       "REFUSED", "SHARE", "KEYS REFUSED", "FIRST REFUSED"};
  laju_grid grid = {.columns = 8, .right = 0x7c, .flexible = 1};
  size_t unused = 0;
  for (size_t i = 0; i < 8; i++) title(&grid, titles[i]);
  for (size_t i = 0; i < laju_ruleset_count(report->rules); i++) {
    if (report->tally->rules[i].checks == 0) {
      unused++;
    } else {
      add_rule(report, i, &grid);
    }
  }
  laju_buffer_add_text(to, "\n");
  laju_grid_print(&grid, width, to);
  laju_grid_deinit(&grid);
  if (unused > 0) laju_buffer_add_format(to, "%zu rule%s decided nothing\n", unused, unused == 1 ? "" : "s");
  for (size_t i = 0; i < laju_ruleset_count(report->rules); i++) {
    uint64_t missing = report->tally->rules[i].missing;
    if (missing == 0) continue;
    laju_text_add_count(to, missing);
    laju_buffer_add_format(to, " refused by %s because a part of the key is missing\n", policy_name(report, i));
  }
}

/* ---- who ---- */

static void add_refused(const laju_report *report, size_t width, laju_buffer *to) {
  const laju_refused *refused = &report->tally->refused_keys;
  if (refused->count == 0 || report->top == 0) return;
  laju_grid grid = {.columns = 4, .right = 0x4, .flexible = 1};
  title(&grid, "REFUSED MOST");
  title(&grid, "KEY");
  title(&grid, "REFUSED");
  title(&grid, "FIRST");
  for (size_t i = 0; i < refused->count && i < report->top; i++) {
    const laju_refused_entry *entry = &refused->entries[i];
    size_t kept = entry->key_len < LAJU_REFUSED_KEY_MAX ? entry->key_len : LAJU_REFUSED_KEY_MAX;
    cell_text(&grid, policy_name(report, entry->rule));
    laju_grid_cell(&grid);
    laju_text_add_plain(&grid.text, (laju_slice){entry->key, kept}, KEY_SHOWN);
    cell_count(&grid, entry->count);
    cell_time(&grid, entry->first_us);
  }
  laju_buffer_add_text(to, "\n");
  laju_grid_print(&grid, width, to);
  laju_grid_deinit(&grid);
  if (refused->missed == 0) return;
  laju_buffer_add_text(to, "more keys were refused than are kept: each count may be too low by up to ");
  laju_text_add_count(to, refused->missed);
  laju_buffer_add_text(to, "\n");
}

static void add_worst(const laju_report *report, laju_buffer *to) {
  const laju_timeline *timeline = &report->tally->timeline;
  if (report->tally->requests == 0) return;
  laju_buffer_add_text(to, "\nworst second: ");
  laju_text_add_time(to, timeline->worst_s * 1000000);
  laju_buffer_add_text(to, ", admitted ");
  laju_text_add_count(to, timeline->worst.admitted);
  laju_buffer_add_text(to, ", refused ");
  laju_text_add_count(to, timeline->worst.refused);
  laju_buffer_add_text(to, "\n");
}

/* ---- suggestions ---- */

static void add_suggested(const laju_report *report, size_t i, laju_grid *grid) {
  const laju_suggested *suggested = &report->suggested[i];
  bool bucket = laju_algorithm_is_bucket(laju_ruleset_at(report->rules, i)->rule.algorithm);
  for (size_t period = 0; period < LAJU_SUGGEST_PERIODS; period++) {
    const laju_suggestion *s = &suggested->periods[period];
    char per[24];
    laju_duration_format(per, sizeof per, laju_suggest_periods_us[period]);
    cell_text(grid, policy_name(report, i));
    cell_text(grid, per);
    if (s->limit > 0) {
      cell_count(grid, s->limit);
    } else {
      cell_text(grid, "none is enough");
    }
    if (bucket && s->limit > 0) {
      cell_count(grid, s->burst);
    } else {
      cell_text(grid, "-");
    }
    cell_count(grid, suggested->keys);
    cell_count(grid, suggested->refused);
  }
}

static void add_suggestions(const laju_report *report, size_t width, laju_buffer *to) {
  static const char *const titles[] = {"SUGGESTED", "PER", "LIMIT", "BURST", "KEYS", "MAY BE REFUSED"};
  if (report->suggested == NULL) return;
  laju_grid grid = {.columns = 6, .right = 0x3c, .flexible = 0};
  for (size_t i = 0; i < 6; i++) title(&grid, titles[i]);
  for (size_t i = 0; i < laju_ruleset_count(report->rules); i++) {
    if (report->suggested[i].keys > 0) add_suggested(report, i, &grid);
  }
  laju_buffer_add_format(to, "\nthe least limits under which %s of the keys meet no refusal:\n", report->share);
  laju_grid_print(&grid, width, to);
  laju_grid_deinit(&grid);
  if (report->left_out == 0) return;
  laju_text_add_count(to, report->left_out);
  laju_buffer_add_text(to, " checks are not in this: there were more, or more keys, than can be remembered\n");
}

/* ---- what could not be read ---- */

static void add_unreadable(const laju_report *report, laju_buffer *to) {
  if (report->unreadable == 0) return;
  laju_buffer_add_text(to, "\n");
  laju_text_add_count(to, report->unreadable);
  laju_buffer_add_text(
      to, report->unreadable == 1 ? " line was not replayed:\n" : " lines were not replayed; the first:\n");
  for (size_t i = 0; i < report->unreadable && i < LAJU_UNREADABLE_SHOWN; i++) {
    const laju_unreadable *line = &report->shown[i];
    size_t kept = line->len < LAJU_UNREADABLE_TEXT ? line->len : LAJU_UNREADABLE_TEXT;
    laju_buffer_add_format(to, "%s:%llu: %s: ", line->file, (unsigned long long)line->line, line->why);
    laju_text_add_plain(to, (laju_slice){line->text, kept}, LINE_SHOWN);
    laju_buffer_add_text(to, "\n");
  }
}

void laju_report_print(const laju_report *report, size_t width, laju_buffer *to) {
  add_summary(report, to);
  add_remarks(report, to);
  add_rules(report, width, to);
  add_refused(report, width, to);
  add_worst(report, to);
  add_suggestions(report, width, to);
  add_unreadable(report, to);
}
