/* laju replay: an access log through the rules of a configuration. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "config/config.h"
#include "config/value.h"
#include "replay/access_log.h"
#include "replay/log_file.h"
#include "replay/report.h"

#define TOP_DEFAULT 10
#define TOP_MAX 1000
#define DRAW_EVERY_LINES 8192 /* lines between two looks at the clock */
#define EARLY "it is more than an hour before those before it; logs are read in the order given"
#define LONG "the line is longer than 65536 bytes"

enum { CONFIG, RULE, MEMORY, FORMAT, FIELDS, HOST, SUGGEST, TOP, JSON, SVG, OPTIONS };

static const laju_option options[OPTIONS] = {
    [CONFIG] = {"config", "FILE", "read settings and rules from a YAML file", 'c'},
    [RULE] = {"rule", "TEXT", "add a rule: NAME=LIMIT/PERIOD [ALGORITHM] [burst N] [cost N]", 'r'},
    [MEMORY] = {"memory", "SIZE", "the most that keys may take, 1MiB to 1TiB (256MiB)", 0},
    [FORMAT] = {"format", "NAME", "combined, json or csv (told by the first lines)", 'f'},
    [FIELDS] = {"fields", "LIST", "which fields are what: time=ts,client=src,header:x-api-key=key", 0},
    [HOST] = {"host", "NAME", "the host of requests whose line does not have one", 0},
    [SUGGEST] = {"suggest", "SHARE", "suggest limits that this share of the keys never meets: p99.9", 's'},
    [TOP] = {"top", "N", "how many of those refused most are told, 0 to 1000 (10)", 'n'},
    [JSON] = {"json", NULL, "print what was found as JSON", 'j'},
    [SVG] = {"svg", "FILE", "draw admitted and refused over time into this file", 0},
};

typedef struct arguments {
  laju_config config;
  const char *config_path, *host, *share_text, *svg_path;
  laju_access_format format;
  laju_access_names names;
  uint32_t share; /* of a million */
  uint64_t top;
  bool json;
} arguments;

/* A run on its way. */
typedef struct run_state {
  const arguments *from;
  laju_replay *replay;
  laju_access_reader reader;
  laju_access access;
  laju_report report;
  laju_progress progress;
  uint64_t read, size; /* bytes of the files before this one; of all, 0 where one does not tell */
  bool broken;         /* a file could not be read, or not to its end */
} run_state;

/* ---- the command line ---- */

static int read_format(arguments *to, const char *value, char why[LAJU_WHY_SIZE]) {
  static const char *const words[] = {"combined", "json", "csv"};
  size_t found;
  if (laju_value_word(value, strlen(value), words, 3, &found, why) < 0) return -1;
  to->format = (laju_access_format)(LAJU_FORMAT_COMBINED + found);
  return 0;
}

static int read_share(arguments *to, const char *value, char why[LAJU_WHY_SIZE]) {
  to->share_text = value;
  if (laju_share_parse(value, &to->share) == 0) return 0;
  return laju_complain(why, value, strlen(value), "is no share", NULL, "p50 to p100, with up to four decimals: p99.9");
}

/* Reads an option's value over what is there: 0, or -1 with `why`. */
static int read_option(void *context, int option, const char *value, char why[LAJU_WHY_SIZE]) {
  arguments *to = context;
  switch (option) {
    case RULE: return laju_config_add_rule(&to->config, value, why);
    case MEMORY: return laju_config_set(&to->config, "memory", value, why);
    case FORMAT: return read_format(to, value, why);
    case FIELDS: return laju_access_names_parse(&to->names, value, why);
    case SUGGEST: return read_share(to, value, why);
    case TOP: return laju_value_count(value, strlen(value), TOP_MAX, "0 to 1000", &to->top, why);
    case HOST: to->host = value; return 0;
    case SVG: to->svg_path = value; return 0;
    case JSON: to->json = true; return 0;
    default: return 0;
  }
}

/* 0, or the exit code. */
static int configure(const laju_command *command, int argc, char **argv, arguments *to) {
  char why[LAJU_WHY_SIZE];
  if (to->config_path != NULL && laju_config_load(&to->config, to->config_path, why) < 0) {
    fprintf(stderr, "%s\n", why);
    return LAJU_EXIT_NO;
  }
  if (laju_options_read(command, argc, argv, read_option, to) != LAJU_OPTION_END) return LAJU_EXIT_ERROR;
  if (laju_config_verify(&to->config, why) < 0) return laju_command_fail(command, "%s", why);
  if (laju_config_add_default_rule(&to->config) < 0) return laju_command_fail(command, "memory ran out");
  if (optind == argc) return laju_command_fail(command, "a log is needed, or - for stdin; see laju replay --help");
  return 0;
}

/* ---- reading ---- */

static void note_unreadable(run_state *run, const char *file, uint64_t line, const char *why, const char *text,
                            size_t len) {
  if (run->report.unreadable++ >= LAJU_UNREADABLE_SHOWN) return;
  laju_unreadable *shown = &run->report.shown[run->report.unreadable - 1];
  *shown = (laju_unreadable){.file = file, .line = line, .why = why, .len = len};
  memcpy(shown->text, text, len < LAJU_UNREADABLE_TEXT ? len : LAJU_UNREADABLE_TEXT);
}

/* A line's first bytes are kept, as reading it changes them. */
static void replay_line(run_state *run, const char *file, uint64_t number, char *line, size_t len) {
  char kept[LAJU_UNREADABLE_TEXT];
  bool room = run->report.unreadable < LAJU_UNREADABLE_SHOWN;
  if (room) memcpy(kept, line, len < sizeof kept ? len : sizeof kept);
  int found = laju_access_read(&run->reader, line, len, &run->access);
  if (found == 0) return;
  if (found < 0) {
    note_unreadable(run, file, number, run->reader.why, kept, len);
  } else if (!laju_replay_add(run->replay, &run->access)) {
    note_unreadable(run, file, number, EARLY, kept, len);
  }
}

static void replay_lines(run_state *run, const char *path, laju_log_file *file) {
  char *line;
  size_t len;
  laju_log_step step;
  uint64_t number = 0;
  laju_access_reader_init(&run->reader, run->from->format, &run->from->names);
  while ((step = laju_log_file_next(file, &line, &len)) == LAJU_LOG_LINE || step == LAJU_LOG_LONG) {
    number++;
    if (step == LAJU_LOG_LINE) {
      replay_line(run, path, number, line, len);
    } else {
      note_unreadable(run, path, number, LONG, line, len);
    }
    if (number % DRAW_EVERY_LINES != 0) continue;
    laju_progress_draw(&run->progress, run->read + laju_log_file_read(file), run->size, run->report.lines + number);
  }
  run->report.lines += number;
  run->read += laju_log_file_size(file);
  if (step == LAJU_LOG_END) return;
  run->broken = true;
  fprintf(stderr, "laju replay: %s: %s; what came before it is replayed\n", path, laju_log_file_error(file));
}

/* The size of all files, so that progress can be told. */
static uint64_t size_of(const char *const *paths, size_t count) {
  uint64_t all = 0;
  for (size_t i = 0; i < count; i++) {
    struct stat about;
    if (stat(paths[i], &about) < 0 || !S_ISREG(about.st_mode)) return 0;
    all += (uint64_t)about.st_size;
  }
  return all;
}

static void replay_files(run_state *run, const char *const *paths, size_t count) {
  char why[LAJU_TEXT_SIZE];
  run->size = run->progress.shown ? size_of(paths, count) : 0;
  for (size_t i = 0; i < count; i++) {
    laju_log_file *file;
    if (laju_log_file_open(&file, paths[i], why) < 0) {
      run->broken = true;
      fprintf(stderr, "laju replay: %s\n", why);
      continue;
    }
    replay_lines(run, paths[i], file);
    laju_log_file_close(file);
  }
  laju_replay_finish(run->replay);
}

/* ---- what comes out ---- */

/* 0, or the exit code. */
static int draw(const laju_command *command, const run_state *run) {
  laju_buffer picture = {0};
  laju_report_draw(&run->report, &picture);
  FILE *file = picture.failed ? NULL : fopen(run->from->svg_path, "we");
  bool written = file != NULL && fwrite(picture.data, 1, picture.len, file) == picture.len;
  if (file != NULL && fclose(file) != 0) written = false;
  laju_buffer_deinit(&picture);
  if (written) return 0;
  laju_command_fail(command, "--svg: %s: %s", run->from->svg_path, strerror(errno));
  return LAJU_EXIT_NO;
}

static int print(const laju_command *command, const run_state *run) {
  laju_buffer text = {0};
  if (run->from->json) {
    laju_report_print_json(&run->report, &text);
  } else {
    laju_report_print(&run->report, laju_terminal_width(STDOUT_FILENO), &text);
  }
  bool failed = text.failed;
  if (!failed) fwrite(text.data, 1, text.len, stdout);
  laju_buffer_deinit(&text);
  return failed ? laju_command_fail(command, "memory ran out") : 0;
}

/* Where there was nothing to replay: why. */
static int complain_nothing(const laju_command *command, const run_state *run) {
  const laju_unreadable *first = &run->report.shown[0];
  if (run->report.unreadable > 0) {
    laju_command_fail(command, "none of %llu lines can be read; %s:%llu: %s", (unsigned long long)run->report.lines,
                      first->file, (unsigned long long)first->line, first->why);
  } else if (!run->broken) {
    laju_command_fail(command, "there is no request in what was read");
  }
  return LAJU_EXIT_NO;
}

/* Fills in the suggestions. 0, or -1: no memory. */
static int suggest(run_state *run) {
  const laju_history *history = laju_replay_history(run->replay);
  if (history == NULL) return 0;
  laju_suggested *suggested = calloc(laju_ruleset_count(run->report.rules) + 1, sizeof *suggested);
  run->report.suggested = suggested;
  run->report.share = run->from->share_text;
  run->report.left_out = history->left_out;
  laju_progress_say(&run->progress, "looking for limits ...");
  return suggested != NULL ? laju_suggest(history, run->report.rules, run->from->share, suggested) : LAJU_ERR_MEMORY;
}

static int report(const laju_command *command, run_state *run) {
  int error = suggest(run);
  run->report.elapsed_us = laju_progress_end(&run->progress);
  if (error < 0) return laju_command_fail(command, "memory ran out");
  if (run->report.tally->requests == 0) return complain_nothing(command, run);
  int code = print(command, run);
  if (code == 0 && run->from->svg_path != NULL) code = draw(command, run);
  return code == 0 && run->broken ? LAJU_EXIT_NO : code;
}

static int replay(const laju_command *command, arguments *from, const char *const *paths, size_t count) {
  run_state *run = calloc(1, sizeof *run);
  if (run == NULL) return laju_command_fail(command, "memory ran out");
  run->from = from;
  if (laju_replay_new(&run->replay, &from->config, from->host, from->share_text != NULL) < 0) {
    free(run);
    return laju_command_fail(command, "memory ran out");
  }
  run->report = (laju_report){.rules = laju_replay_rules(run->replay),
                              .tally = laju_replay_tally_of(run->replay),
                              .files = paths,
                              .file_count = count,
                              .top = from->top};
  laju_progress_begin(&run->progress);
  replay_files(run, paths, count);
  int code = report(command, run);
  free((laju_suggested *)(uintptr_t)run->report.suggested);
  laju_replay_free(run->replay);
  free(run);
  return code;
}

static int run(const laju_command *command, int argc, char **argv) {
  arguments from = {.top = TOP_DEFAULT};
  int found = laju_option_find_file(command, argc, argv, CONFIG, &from.config_path);
  if (found != LAJU_OPTION_END) return laju_option_exit(found);
  laju_config_init(&from.config);
  int code = configure(command, argc, argv, &from);
  if (code == 0) code = replay(command, &from, (const char *const *)argv + optind, (size_t)(argc - optind));
  laju_config_deinit(&from.config);
  return code;
}

const laju_command laju_command_replay = {
    .name = "replay",
    .operands = "LOG...",
    .summary = "run an access log through the rules: who would have been refused?",
    .about =
        "Reads access logs, in the order given, and decides each request as forward-auth would have done\n"
        "at the time that its line has: what was admitted and refused by each rule, who was refused most\n"
        "and when first, and the worst second. - is stdin; gzip is told by its first bytes.\n"
        "\n"
        "A log is in nginx' or Apache's combined format, has a JSON object a line, or is CSV with a line\n"
        "of names. LIST is WHAT=NAME,... where WHAT is time, client, method, target, host, request,\n"
        "headers or header:NAME. What a log does not have of a request is missing, as a rule's missing\n"
        "has it. Lines that cannot be read are counted, and the first ones shown.\n"
        "\n"
        "Suggestions are, for each rule and each of 1s, 1m and 1h, the least limit under which no more\n"
        "than the rest of the share's keys meet a refusal; for a bucket with burst as limit, and then\n"
        "the least burst.\n"
        "\n"
        "Exits 0 when all was read, 1 where the configuration is bad, a log cannot be read to its end or\n"
        "no line of it can, 2 where the command line is wrong.\n",
    .examples =
        "  laju replay --config laju.yaml /var/log/nginx/access.log\n"
        "  laju replay --rule 'api=100/1m' --suggest p99.9 access.log.2.gz access.log.1 access.log\n"
        "  zcat *.gz | laju replay -c laju.yaml --json --svg day.svg -\n"
        "  laju replay -c laju.yaml --fields time=ts,client=src,header:x-api-key=key requests.json\n",
    .options = options,
    .option_count = OPTIONS,
    .run = run,
};
