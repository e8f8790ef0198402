#include "server/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/count.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define SECOND_US 1e6

/* ---- the format ---- */

static void head(laju_buffer *out, const char *name, const char *type, const char *help) {
  laju_buffer_add_format(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void whole(laju_buffer *out, const char *name, const char *type, const char *help, uint64_t value) {
  head(out, name, type, help);
  laju_buffer_add_format(out, "%s %" PRIu64 "\n", name, value);
}

static void seconds(laju_buffer *out, const char *name, const char *type, const char *help, double value) {
  head(out, name, type, help);
  laju_buffer_add_format(out, "%s %.6f\n", name, value);
}

/* One of a metric's lines, under its one label. */
typedef struct labelled {
  const char *value;
  uint64_t count;
} labelled;

static void by_label(laju_buffer *out, const char *name, const char *help, const char *label, const labelled *lines,
                     size_t count) {
  head(out, name, "counter", help);
  for (size_t i = 0; i < count; i++) {
    laju_buffer_add_format(out, "%s{%s=\"%s\"} %" PRIu64 "\n", name, label, lines[i].value, lines[i].count);
  }
}

static void histogram(laju_buffer *out, const char *name, const char *help, const laju_histogram *values) {
  static const int64_t bounds_us[] = {10,    25,    50,    100,    250,    500,    1000,    2500,   5000,
                                      10000, 25000, 50000, 100000, 250000, 500000, 1000000, 2500000};
  uint64_t at_most[COUNT(bounds_us)];
  uint64_t all = laju_histogram_cumulate(values, bounds_us, COUNT(bounds_us), at_most);
  head(out, name, "histogram", help);
  for (size_t i = 0; i < COUNT(bounds_us); i++) {
    laju_buffer_add_format(out, "%s_bucket{le=\"%g\"} %" PRIu64 "\n", name, (double)bounds_us[i] / SECOND_US,
                           at_most[i]);
  }
  laju_buffer_add_format(out, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n%s_sum %.6f\n%s_count %" PRIu64 "\n", name, all,
                         name, (double)laju_histogram_sum_us(values) / SECOND_US, name, all);
}

/* ---- decisions ---- */

static void write_requests(const laju_readings *r, laju_buffer *out) {
  static const char *const doors[LAJU_DOOR_NAMES] = {[LAJU_DOOR_HTTP] = "http", [LAJU_DOOR_RESP] = "resp"};
  static const char *const verdicts[LAJU_REQUEST_VERDICTS] = {
      [LAJU_REQUEST_ALLOWED] = "allowed", [LAJU_REQUEST_DENIED] = "denied", [LAJU_REQUEST_ERROR] = "error"};
  head(out, "laju_requests_total", "counter", "Requests for decisions that were answered.");
  for (size_t door = 0; door < LAJU_DOOR_NAMES; door++) {
    for (size_t verdict = 0; verdict < LAJU_REQUEST_VERDICTS; verdict++) {
      laju_buffer_add_format(out, "laju_requests_total{door=\"%s\",decision=\"%s\"} %" PRIu64 "\n", doors[door],
                             verdicts[verdict], r->requests[door][verdict]);
    }
  }
}

/* A rule that nobody was decided by yet shows its zeros, so that a rate over it begins at its beginning; what is rare, only where
 * it is not zero. */
static void write_rule(const laju_readings *r, uint32_t number, laju_buffer *out) {
  static const char *const verdicts[LAJU_VERDICTS] = {[LAJU_VERDICT_ALLOWED] = "allowed",
                                                      [LAJU_VERDICT_DENIED] = "denied",
                                                      [LAJU_VERDICT_SHADOW_DENIED] = "shadow_denied",
                                                      [LAJU_VERDICT_ERROR] = "error"};
  const char *name = number == 0 ? "(other)" : laju_rule_names_at(r->names, number);
  for (size_t verdict = 0; verdict < LAJU_VERDICTS; verdict++) {
    uint64_t count = laju_readings_checks(r, number, (laju_verdict)verdict);
    bool rare = verdict == LAJU_VERDICT_SHADOW_DENIED || verdict == LAJU_VERDICT_ERROR;
    if (count == 0 && rare) continue;
    laju_buffer_add_format(out, "laju_checks_total{rule=\"%s\",decision=\"%s\"} %" PRIu64 "\n", name, verdicts[verdict],
                           count);
  }
}

static void write_checks(const laju_readings *r, laju_buffer *out) {
  head(out, "laju_checks_total", "counter",
       "Checks that were decided, by rule; (other): limits that came with the check, and CL.THROTTLE.");
  uint32_t count = laju_rule_names_count(r->names);
  for (uint32_t number = 0; number < count; number++) write_rule(r, number, out);
  histogram(out, "laju_request_duration_seconds", "From reading a request to writing its answer.", &r->latency);
}

/* ---- the server ---- */

static void write_connections(const laju_readings *r, laju_buffer *out) {
  const laju_counters *c = &r->counters;
  const labelled closed[] = {
      {"idle", laju_count_read(&c->idle)},       {"slow", laju_count_read(&c->slow)},
      {"stuck", laju_count_read(&c->stuck)},     {"oversized", laju_count_read(&c->oversized)},
      {"starved", laju_count_read(&c->starved)}, {"tls", laju_count_read(&c->broken)},
      {"cut", laju_count_read(&c->cut)},
  };
  whole(out, "laju_connections", "gauge", "Connections that are open.", r->connections);
  whole(out, "laju_connections_accepted_total", "counter", "Connections that were let in.",
        laju_count_read(&c->accepted));
  whole(out, "laju_connections_refused_total", "counter", "Connections beyond the limit.",
        laju_count_read(&c->refused));
  by_label(out, "laju_connections_closed_total", "Connections that laju ended.", "reason", closed, COUNT(closed));
  whole(out, "laju_accept_errors_total", "counter",
        "Times that the system gave no descriptor or memory for a connection.", laju_count_read(&c->accept_errors));
  whole(out, "laju_answers_not_held_total", "counter", "Answers that were not held back for as long as their delay.",
        laju_count_read(&c->unheld));
  whole(out, "laju_untrusted_forwards_total", "counter", "Requests whose forwarding headers were not believed.",
        r->untrusted_forwards);
}

static void write_table(const laju_readings *r, laju_buffer *out) {
  const laju_table_stats *t = &r->table;
  const labelled keys[] = {{"fresh", t->evicted_fresh}, {"used", t->evicted_used}};
  const labelled logs[] = {{"fresh", t->logs_evicted_fresh}, {"used", t->logs_evicted_used}};
  whole(out, "laju_table_slots", "gauge", "Keys that the table has room for.", t->slots);
  whole(out, "laju_table_keys", "gauge", "Keys that stand in the table.", t->keys);
  by_label(out, "laju_table_evictions_total", "Keys that made room for others; used: and forgot something.", "state",
           keys, COUNT(keys));
  whole(out, "laju_table_logs_bytes", "gauge", "Memory for sliding logs.", t->logs_bytes);
  whole(out, "laju_table_logs_used_bytes", "gauge", "The part of it that is in use.", t->logs_used_bytes);
  by_label(out, "laju_table_log_evictions_total", "Logs that made room for others; used: and forgot something.",
           "state", logs, COUNT(logs));
}

/* ---- the store ---- */

static void write_fallbacks(const laju_readings *r, laju_buffer *out) {
  const laju_way_counters *w = &r->way;
  const labelled fallbacks[] = {{"allowed", laju_count_read(&w->fallbacks_allowed)},
                                {"denied", laju_count_read(&w->fallbacks_denied)}};
  by_label(out, "laju_fallbacks_total", "Checks that on_store_error decided, since the store did not.", "decision",
           fallbacks, COUNT(fallbacks));
  whole(out, "laju_remembered_denials_total", "counter", "Checks refused from memory, without asking the store.",
        laju_count_read(&w->remembered));
  whole(out, "laju_given_back_total", "counter", "Checks of the table that were taken back because the store refused.",
        laju_count_read(&w->given_back));
}

static void write_store(const laju_readings *r, laju_buffer *out) {
  const laju_store_counters *s = &r->store;
  const labelled failures[] = {{"timeout", laju_count_read(&s->timeouts)},
                               {"overflow", laju_count_read(&s->overflows)},
                               {"breaker", laju_count_read(&s->short_cuts)},
                               {"refused", laju_count_read(&s->refusals)},
                               {"other", laju_count_read(&s->failures)}};
  const labelled connects[] = {{"done", laju_count_read(&s->connects)},
                               {"failed", laju_count_read(&s->connect_failures)}};
  whole(out, "laju_nodes", "gauge", "Nodes that share the store.", r->nodes);
  whole(out, "laju_store_servers", "gauge", "Servers that workers know, each counted once a worker.",
        laju_count_read(&s->servers));
  whole(out, "laju_store_servers_up", "gauge", "Those of them that are connected and whose breaker is closed.",
        laju_count_read(&s->servers_up));
  whole(out, "laju_store_inflight_checks", "gauge", "Checks that wait for the store.", laju_count_read(&s->inflight));
  whole(out, "laju_store_checks_total", "counter", "Checks that were sent to the store.", laju_count_read(&s->checks));
  whole(out, "laju_store_commands_total", "counter", "Commands that carried them.", laju_count_read(&s->commands));
  by_label(out, "laju_store_failures_total", "Checks that the store did not decide.", "reason", failures,
           COUNT(failures));
  whole(out, "laju_store_late_replies_total", "counter", "Replies that came after their deadline and were dropped.",
        laju_count_read(&s->late));
  whole(out, "laju_store_script_loads_total", "counter", "Times that the script had to be loaded again.",
        laju_count_read(&s->script_loads));
  whole(out, "laju_store_redirects_total", "counter", "Times that a cluster sent a command elsewhere.",
        laju_count_read(&s->redirects));
  by_label(out, "laju_store_connects_total", "Tries to connect to a server.", "result", connects, COUNT(connects));
  whole(out, "laju_store_breaker_opened_total", "counter", "Times that a breaker opened.",
        laju_count_read(&s->breaker_opened));
  whole(out, "laju_store_sent_bytes_total", "counter", "Bytes to the store.", laju_count_read(&s->bytes_out));
  whole(out, "laju_store_received_bytes_total", "counter", "Bytes from the store.", laju_count_read(&s->bytes_in));
  histogram(out, "laju_store_duration_seconds", "From asking the store to its answer.", &s->latency);
  write_fallbacks(r, out);
}

/* ---- the process ---- */

static uint64_t resident_bytes(void) {
  uint64_t size, pages = 0;
  FILE *file = fopen("/proc/self/statm", "re");
  if (file == NULL) return 0;
  if (fscanf(file, "%" SCNu64 " %" SCNu64, &size, &pages) != 2) pages = 0;
  fclose(file);
  return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static double cpu_seconds(void) {
  struct rusage used;
  if (getrusage(RUSAGE_SELF, &used) != 0) return 0;
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / SECOND_US;
}

static void write_process(const laju_readings *r, laju_buffer *out) {
  const labelled reloads[] = {{"done", r->reloads}, {"refused", r->reloads_refused}};
  head(out, "laju_build_info", "gauge", "The version that runs.");
  laju_buffer_add_text(out, "laju_build_info{version=\"" LAJU_VERSION "\"} 1\n");
  whole(out, "laju_workers", "gauge", "Threads that answer.", r->workers);
  whole(out, "laju_rules", "gauge", "Rules in force.", r->rules);
  whole(out, "laju_overrides", "gauge", "Limits of single keys that operators have set.", r->overrides);
  whole(out, "laju_admin_wrong_tokens_total", "counter", "Tokens at the admin door that were not the right one.",
        r->wrong_tokens);
  whole(out, "laju_log_decisions_dropped_total", "counter",
        "Lines of decisions that were dropped, since the log is not read as fast as they come.", r->decisions_dropped);
  by_label(out, "laju_reloads_total", "Times that the configuration was read again.", "result", reloads,
           COUNT(reloads));
  seconds(out, "process_start_time_seconds", "gauge", "When it started, since the epoch.",
          (double)r->started_us / SECOND_US);
  seconds(out, "process_cpu_seconds_total", "counter", "What it has used of the processors.", cpu_seconds());
  whole(out, "process_resident_memory_bytes", "gauge", "Memory that it holds.", resident_bytes());
}

void laju_metrics_write(const laju_readings *readings, laju_buffer *out) {
  write_requests(readings, out);
  write_checks(readings, out);
  write_connections(readings, out);
  write_table(readings, out);
  if (readings->has_store) write_store(readings, out);
  write_process(readings, out);
}
