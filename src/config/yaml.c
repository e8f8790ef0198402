/* The file's reader: libyaml's events against the tables of settings and rule fields. The shape is fixed and three levels
 * deep, and anything else is refused where it stands, so that no input can make the reader nest or repeat. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>

#include "base/nearest.h"
#include "config/config.h"
#include "config/rule_draft.h"
#include "config/policy_list.h"
#include "config/setting.h"
#include "config/value.h"

#define NAME_SHOWN_MAX 256 /* of a file's name; the end is kept */
#define NO_INDIRECTION "anchors (&) and aliases (*) are not taken; put a value that begins so in quotes"
#define PATH_SIZE 128 /* of a key in full: "rules[9999].algorithm" */

typedef struct reader {
  yaml_parser_t parser;
  yaml_event_t event; /* the current one; owned */
  laju_config *config;
  laju_policy_list rules;
  const char *name, *text;
  size_t len;
  char *why;
  yaml_mark_t seen[LAJU_SETTINGS]; /* where each setting's key stands */
  bool is_seen[LAJU_SETTINGS];
} reader;

/* ---- complaints ---------------------------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static int fail(reader *r, yaml_mark_t at, const char *format, ...) {
  size_t name_len = strlen(r->name), cut = name_len > NAME_SHOWN_MAX ? name_len - NAME_SHOWN_MAX : 0;
  int start = snprintf(r->why, LAJU_WHY_SIZE, "%s%s:%zu:%zu: ", cut > 0 ? "..." : "", r->name + cut, at.line + 1,
                       at.column + 1);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(r->why + start, LAJU_WHY_SIZE - (size_t)start, format, arguments);
  va_end(arguments);
  return -1;
}

/* Joins words with ", " for a message. */
static void join(char *to, size_t size, const char *const *words, size_t count) {
  size_t at = 0;
  to[0] = '\0';
  for (size_t i = 0; i < count && at < size; i++) {
    at += (size_t)snprintf(to + at, size - at, "%s%s", i > 0 ? ", " : "", words[i]);
  }
}

static int fail_unknown(reader *r, const char *path, const char *const *words, size_t count) {
  char allowed[LAJU_TEXT_SIZE], shown[LAJU_SHOWN_SIZE], guess[96] = "";
  const char *word = (const char *)r->event.data.scalar.value;
  size_t len = r->event.data.scalar.length;
  const char *hint = laju_nearest(word, len, words, count);
  if (hint != NULL) snprintf(guess, sizeof guess, " did you mean \"%s\"?", hint);
  join(allowed, sizeof allowed, words, count);
  laju_text_show(shown, word, len);
  return fail(r, r->event.start_mark, "%s%s: unknown key;%s allowed: %s", path, shown, guess, allowed);
}

/* A reader's fault (an encoding) is known by its offset in bytes alone. */
static yaml_mark_t mark_of_offset(const reader *r, size_t offset) {
  yaml_mark_t mark = {0};
  for (size_t i = 0; i < offset && i < r->len; i++) {
    bool ends_line = r->text[i] == '\n', continues = ((unsigned char)r->text[i] & 0xc0) == 0x80;
    mark.line += ends_line;
    mark.column = ends_line ? 0 : mark.column + !continues;
  }
  return mark;
}

static int fail_syntax(reader *r) {
  const yaml_parser_t *parser = &r->parser;
  if (parser->error == YAML_MEMORY_ERROR) return fail(r, parser->mark, "memory ran out");
  if (parser->error == YAML_READER_ERROR) {
    return fail(r, mark_of_offset(r, parser->problem_offset), "not UTF-8 text: %s", parser->problem);
  }
  const char *context = parser->context != NULL ? parser->context : "";
  if (strstr(context, "an alias") != NULL || strstr(context, "an anchor") != NULL) {
    return fail(r, parser->context_mark, NO_INDIRECTION); /* *:8080 is a natural thing to write */
  }
  return fail(r, parser->problem_mark, "not YAML: %s%s%s", context, context[0] != '\0' ? ": " : "", parser->problem);
}

/* ---- events -------------------------------------------------------------------------------------------------------- */

/* Anchors, aliases and tags make one text mean another, or a short file a long one: none of them is taken. */
static int refuse_indirection(reader *r) {
  const yaml_event_t *event = &r->event;
  const yaml_char_t *anchor = NULL, *tag = NULL;
  if (event->type == YAML_SCALAR_EVENT) {
    anchor = event->data.scalar.anchor;
    tag = event->data.scalar.tag;
  } else if (event->type == YAML_MAPPING_START_EVENT) {
    anchor = event->data.mapping_start.anchor;
    tag = event->data.mapping_start.tag;
  } else if (event->type == YAML_SEQUENCE_START_EVENT) {
    anchor = event->data.sequence_start.anchor;
    tag = event->data.sequence_start.tag;
  }
  if (event->type == YAML_ALIAS_EVENT || anchor != NULL) {
    return fail(r, event->start_mark, NO_INDIRECTION);
  }
  if (tag != NULL) return fail(r, event->start_mark, "tags (!) are not taken; write the value without");
  return 0;
}

static int next(reader *r) {
  yaml_event_delete(&r->event);
  if (!yaml_parser_parse(&r->parser, &r->event)) return fail_syntax(r);
  return refuse_indirection(r);
}

static bool is_null(const yaml_event_t *event) {
  const char *text = (const char *)event->data.scalar.value;
  if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE) return false;
  return text[0] == '\0' || strcmp(text, "~") == 0 || strcasecmp(text, "null") == 0;
}

/* The current event must be one value: a scalar, and for `plain` ones not in quotes. */
static int expect_scalar(reader *r, const char *path, bool plain) {
  const yaml_event_t *event = &r->event;
  if (event->type == YAML_MAPPING_START_EVENT)
    return fail(r, event->start_mark, "%s: is a mapping; allowed: one value", path);
  if (event->type == YAML_SEQUENCE_START_EVENT)
    return fail(r, event->start_mark, "%s: is a list; allowed: one value", path);
  if (plain && event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE) {
    char shown[LAJU_SHOWN_SIZE];
    laju_text_show(shown, (const char *)event->data.scalar.value, event->data.scalar.length);
    return fail(r, event->start_mark, "%s: \"%s\" is text; write it without quotes", path, shown);
  }
  return 0;
}

/* Steps into a mapping's next key: 1 with the key as the current event, 0 at its end, or -1. */
static int next_key(reader *r, const char *path) {
  if (next(r) < 0) return -1;
  if (r->event.type == YAML_MAPPING_END_EVENT) return 0;
  if (r->event.type != YAML_SCALAR_EVENT) return fail(r, r->event.start_mark, "%s a key must be a word", path);
  return 1;
}

/* ---- rules --------------------------------------------------------------------------------------------------------- */

typedef struct rule_marks {
  yaml_mark_t rule;
  yaml_mark_t keys[LAJU_RULE_FIELDS], values[LAJU_RULE_FIELDS];
} rule_marks;

static int find_field(const yaml_event_t *event) {
  for (int i = 0; i < LAJU_RULE_FIELDS; i++) {
    if (strlen(laju_rule_field_names[i]) != event->data.scalar.length) continue;
    if (memcmp(laju_rule_field_names[i], event->data.scalar.value, event->data.scalar.length) == 0) return i;
  }
  return -1;
}

/* One field: its key is the current event. */
static int read_field(reader *r, size_t i, laju_rule_draft *draft, rule_marks *marks) {
  char path[PATH_SIZE], complaint[LAJU_TEXT_SIZE];
  int found = find_field(&r->event);
  if (found < 0) {
    snprintf(path, sizeof path, "rules[%zu].", i);
    return fail_unknown(r, path, laju_rule_field_names, LAJU_RULE_FIELDS);
  }
  laju_rule_field field = (laju_rule_field)found;
  snprintf(path, sizeof path, "rules[%zu].%s", i, laju_rule_field_names[field]);
  if (laju_rule_draft_has(draft, field)) {
    return fail(r, r->event.start_mark, "%s: is given twice; the first is in line %zu", path,
                marks->keys[field].line + 1);
  }
  marks->keys[field] = r->event.start_mark;
  if (next(r) < 0) return -1;
  marks->values[field] = r->event.start_mark;
  bool plain = field == LAJU_FIELD_LIMIT || field == LAJU_FIELD_BURST || field == LAJU_FIELD_COST;
  if (expect_scalar(r, path, plain) < 0) return -1;
  const char *text = (const char *)r->event.data.scalar.value;
  if (laju_rule_draft_set(draft, field, text, r->event.data.scalar.length, complaint) < 0) {
    return fail(r, r->event.start_mark, "%s: %s", path, complaint);
  }
  return 0;
}

/* The rule is complete: what remains are faults between its fields, and with other rules. */
static int finish_rule(reader *r, size_t i, const laju_rule_draft *draft, const rule_marks *marks) {
  laju_rule rule;
  laju_rule_field field = LAJU_FIELD_NAME;
  char complaint[LAJU_TEXT_SIZE];
  int error = laju_rule_draft_finish(draft, &rule, &field, complaint);
  if (error == 0) {
    laju_policy policy;
    laju_policy_init(&policy, &rule);
    error = laju_policy_list_add(&r->rules, &policy, complaint);
  }
  if (error == 0) return 0;
  yaml_mark_t at = laju_rule_draft_has(draft, field) ? marks->values[field] : marks->rule;
  return fail(r, at, "rules[%zu].%s: %s", i, laju_rule_field_names[field], complaint);
}

static int read_rule(reader *r, size_t i) {
  rule_marks marks = {.rule = r->event.start_mark};
  laju_rule_draft draft;
  char path[PATH_SIZE];
  snprintf(path, sizeof path, "rules[%zu]:", i);
  if (r->event.type != YAML_MAPPING_START_EVENT) {
    return fail(r, marks.rule, "%s is not a mapping; allowed: {name: api, limit: 100, per: 1m}", path);
  }
  laju_rule_draft_init(&draft);
  int more;
  while ((more = next_key(r, path)) > 0) {
    if (read_field(r, i, &draft, &marks) < 0) return -1;
  }
  return more < 0 ? -1 : finish_rule(r, i, &draft, &marks);
}

static int read_rules(reader *r) {
  if (r->event.type != YAML_SEQUENCE_START_EVENT) {
    return fail(r, r->event.start_mark, "rules: is not a list; allowed: - {name: api, limit: 100, per: 1m}");
  }
  for (size_t i = 0;; i++) {
    if (next(r) < 0) return -1;
    if (r->event.type == YAML_SEQUENCE_END_EVENT) return 0;
    if (read_rule(r, i) < 0) return -1;
  }
}

/* ---- settings ------------------------------------------------------------------------------------------------------ */

static int read_value(reader *r, const laju_setting *setting) {
  char complaint[LAJU_TEXT_SIZE];
  if (expect_scalar(r, setting->key, setting->kind == LAJU_SETTING_PLAIN) < 0) return -1;
  bool door = strncmp(setting->key, "listen.", strlen("listen.")) == 0; /* empty turns it off */
  if (is_null(&r->event) && !door) {
    return fail(r, r->event.start_mark, "%s: is empty; leave it out for its default", setting->key);
  }
  const char *text = (const char *)r->event.data.scalar.value;
  if (setting->set(r->config, text, is_null(&r->event) ? 0 : r->event.data.scalar.length, complaint) < 0) {
    return fail(r, r->event.start_mark, "%s: %s", setting->key, complaint);
  }
  return 0;
}

static int read_settings(reader *r, const char *prefix);

/* One setting: its key is the current event. */
static int read_setting(reader *r, const char *prefix) {
  const yaml_event_t *event = &r->event;
  const laju_setting *setting =
      laju_setting_find(prefix, (const char *)event->data.scalar.value, event->data.scalar.length);
  if (setting == NULL) {
    const char *words[LAJU_SETTINGS];
    return fail_unknown(r, prefix, words, laju_setting_words(prefix, words));
  }
  size_t i = (size_t)(setting - laju_settings);
  if (r->is_seen[i]) {
    return fail(r, event->start_mark, "%s: is given twice; the first is in line %zu", setting->key,
                r->seen[i].line + 1);
  }
  r->is_seen[i] = true;
  r->seen[i] = event->start_mark;
  if (next(r) < 0) return -1;
  if (setting->kind == LAJU_SETTING_RULES) return read_rules(r);
  if (setting->kind != LAJU_SETTING_GROUP) return read_value(r, setting);
  char group[PATH_SIZE];
  snprintf(group, sizeof group, "%s.", setting->key);
  return read_settings(r, group);
}

/* A mapping of settings: the whole file ("") or a group ("listen."). Groups hold no groups. */
static int read_settings(reader *r, const char *prefix) {
  int path_len = prefix[0] != '\0' ? (int)strlen(prefix) - 1 : 0;
  if (r->event.type != YAML_MAPPING_START_EVENT) {
    const char *words[LAJU_SETTINGS];
    char allowed[LAJU_TEXT_SIZE];
    join(allowed, sizeof allowed, words, laju_setting_words(prefix, words));
    return fail(r, r->event.start_mark, "%.*s%sis not a mapping; allowed: the keys %s", path_len, prefix,
                path_len > 0 ? ": " : "the file ", allowed);
  }
  int more;
  while ((more = next_key(r, prefix)) > 0) {
    if (read_setting(r, prefix) < 0) return -1;
  }
  return more;
}

static int verify(reader *r) {
  const char *key;
  char complaint[LAJU_TEXT_SIZE];
  if (laju_setting_verify(r->config, &key, complaint) == 0) return 0;
  const laju_setting *blamed = laju_setting_find("", key, strlen(key));
  return fail(r, r->seen[blamed - laju_settings], "%s: %s", key, complaint);
}

/* ---- the file ------------------------------------------------------------------------------------------------------ */

/* One document, or none: a file of nothing but comments leaves all at its default. */
static int read_stream(reader *r) {
  if (next(r) < 0 || next(r) < 0) return -1; /* the stream begins; then its first document, or its end */
  if (r->event.type == YAML_STREAM_END_EVENT) return 0;
  if (next(r) < 0) return -1;
  bool empty = r->event.type == YAML_SCALAR_EVENT && is_null(&r->event);
  if (!empty && read_settings(r, "") < 0) return -1;
  if (next(r) < 0 || next(r) < 0) return -1; /* the document ends; so must the stream */
  if (r->event.type != YAML_STREAM_END_EVENT) {
    return fail(r, r->event.start_mark, "a second document begins; allowed: one a file");
  }
  return verify(r);
}

int laju_config_parse(laju_config *config, const char *name, const char *text, size_t len, char why[LAJU_WHY_SIZE]) {
  laju_config fresh;
  laju_config_init(&fresh);
  reader r = {.config = &fresh, .name = name, .text = text, .len = len, .why = why};
  if (len > LAJU_CONFIG_FILE_MAX) return fail(&r, (yaml_mark_t){0}, "the file is too large; allowed: up to 4MiB");
  if (!yaml_parser_initialize(&r.parser)) return fail(&r, (yaml_mark_t){0}, "memory ran out");
  yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
  int error = read_stream(&r);
  yaml_event_delete(&r.event);
  yaml_parser_delete(&r.parser);
  if (error == 0) {
    laju_config_deinit(config);
    fresh.rules = r.rules.policies;
    fresh.rule_count = r.rules.count;
    *config = fresh;
    r.rules.policies = NULL;
    r.rules.count = 0;
  }
  laju_policy_list_deinit(&r.rules);
  explicit_bzero(fresh.resp_password, sizeof fresh.resp_password);
  return error;
}

/* The whole of a file, of any kind (a pipe too), up to one byte more than is allowed. NULL with errno. */
static char *read_file(const char *path, size_t *out_len) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return NULL;
  size_t size = LAJU_CONFIG_FILE_MAX + 1, len = 0;
  char *text = malloc(size);
  ssize_t got = text != NULL ? 1 : -1;
  while (got > 0 && len < size) {
    got = read(fd, text + len, size - len);
    if (got < 0 && errno == EINTR)
      got = 1;
    else if (got > 0)
      len += (size_t)got;
  }
  int error = errno;
  close(fd);
  if (got >= 0) {
    *out_len = len;
    return text;
  }
  free(text);
  errno = error;
  return NULL;
}

int laju_config_load(laju_config *config, const char *path, char why[LAJU_WHY_SIZE]) {
  size_t len;
  char *text = read_file(path, &len);
  if (text == NULL) {
    snprintf(why, LAJU_WHY_SIZE, "%.512s: cannot be read: %s", path, strerror(errno));
    return -1;
  }
  int error = laju_config_parse(config, path, text, len, why);
  explicit_bzero(text, len);
  free(text);
  return error;
}
