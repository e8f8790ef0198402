/* A configuration file: settings by their table, rules by their reader. The shape is fixed, and anything else is refused
 * where it stands, so that no input can make the reader nest or repeat. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "config/mode.h"
#include "config/read_full.h"
#include "config/setting.h"
#include "config/yaml_rules.h"

typedef struct file_reading {
  laju_reader reader;
  laju_config *config;
  laju_policy_list rules;
} file_reading;

/* ---- settings ------------------------------------------------------------------------------------------------------ */

typedef struct value_to {
  const laju_setting *setting;
  laju_config *config;
} value_to;

static int take_value(void *to, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  const value_to *value = to;
  return value->setting->set(value->config, text, len, why);
}

static int read_value(file_reading *file, const laju_setting *setting) {
  value_to to = {setting, file->config};
  bool door = strncmp(setting->key, "listen.", strlen("listen.")) == 0; /* empty turns it off */
  if (laju_reader_at_null(&file->reader) && !door) {
    return laju_reader_fail(&file->reader, file->reader.event.start_mark, "%s: is empty; leave it out for its default",
                            setting->key);
  }
  if (setting->kind == LAJU_SETTING_LIST) {
    setting->clear(file->config);
    return laju_reader_values(&file->reader, setting->key, take_value, &to) < 0 ? -1 : 0;
  }
  return laju_reader_value(&file->reader, setting->key, setting->kind == LAJU_SETTING_PLAIN, take_value, &to);
}

/* A group of settings. Groups hold no groups. */
static int read_group(file_reading *file, const laju_setting *group) {
  const char *words[LAJU_SETTINGS];
  char prefix[LAJU_READER_PATH_SIZE];
  snprintf(prefix, sizeof prefix, "%s.", group->key);
  laju_mapping mapping = {.prefix = prefix, .words = words, .count = laju_setting_words(prefix, words)};
  if (laju_mapping_begin(&file->reader, &mapping) < 0) return -1;
  int key;
  while ((key = laju_mapping_next(&file->reader, &mapping)) != LAJU_MAPPING_END) {
    if (key < 0) return -1;
    if (read_value(file, laju_setting_find(prefix, words[key], strlen(words[key]))) < 0) return -1;
  }
  return 0;
}

static int read_setting(file_reading *file, const laju_setting *setting) {
  if (setting->kind == LAJU_SETTING_RULES) return laju_rules_read(&file->reader, &file->rules);
  if (setting->kind == LAJU_SETTING_GROUP) return read_group(file, setting);
  return read_value(file, setting);
}

/* The store may stand behind the rules, so that their modes are known at the end. */
static int verify_modes(file_reading *file) {
  size_t blamed;
  char complaint[LAJU_TEXT_SIZE];
  const laju_config_store *store = &file->config->store;
  laju_modes_settle(store, file->rules.policies, file->rules.count);
  if (laju_modes_verify(store, file->rules.policies, file->rules.count, &blamed, complaint) == 0) return 0;
  const laju_policy *policy = &file->rules.policies[blamed];
  yaml_mark_t at = {.line = policy->line, .column = policy->column};
  return laju_reader_fail(&file->reader, at, LAJU_MODE_PLACE "%s", blamed, policy->rule.name, complaint);
}

static int verify(file_reading *file, const laju_mapping *mapping) {
  const char *blamed;
  char complaint[LAJU_TEXT_SIZE];
  if (laju_setting_verify(file->config, &blamed, complaint) == 0) return verify_modes(file);
  size_t i = 0;
  while (i < mapping->count && strcmp(mapping->words[i], blamed) != 0) i++;
  return laju_reader_fail(&file->reader, mapping->keys[i], "%s: %s", blamed, complaint);
}

static int read_settings(file_reading *file) {
  const char *words[LAJU_SETTINGS];
  laju_mapping mapping = {.prefix = "", .words = words, .count = laju_setting_words("", words)};
  if (laju_mapping_begin(&file->reader, &mapping) < 0) return -1;
  int key;
  while ((key = laju_mapping_next(&file->reader, &mapping)) != LAJU_MAPPING_END) {
    if (key < 0) return -1;
    if (read_setting(file, laju_setting_find("", words[key], strlen(words[key]))) < 0) return -1;
  }
  return verify(file, &mapping);
}

/* ---- the file ------------------------------------------------------------------------------------------------------ */

/* One document, or none: a file of nothing but comments leaves all at its default. */
static int read_stream(file_reading *file) {
  laju_reader *reader = &file->reader;
  /* the stream begins; then its first document, or its end */
  if (laju_reader_next(reader) < 0 || laju_reader_next(reader) < 0) return -1;
  if (reader->event.type == YAML_STREAM_END_EVENT) return 0;
  if (laju_reader_next(reader) < 0) return -1;
  if (!laju_reader_at_null(reader) && read_settings(file) < 0) return -1;
  /* the document ends; so must the stream */
  if (laju_reader_next(reader) < 0 || laju_reader_next(reader) < 0) return -1;
  if (reader->event.type == YAML_STREAM_END_EVENT) return 0;
  return laju_reader_fail(reader, reader->event.start_mark, "a second document begins; allowed: one a file");
}

/* With `config` at the defaults; the rules apart, until all is known to be good. */
static int read_text(file_reading *file, const char *name, const char *text, size_t len, char why[LAJU_WHY_SIZE]) {
  int error = laju_reader_init(&file->reader, name, text, len, why);
  if (error == 0 && len > LAJU_CONFIG_FILE_MAX) {
    error = laju_reader_fail(&file->reader, (yaml_mark_t){0}, "the file is too large; allowed: up to 4MiB");
  }
  if (error == 0) error = read_stream(file);
  laju_reader_deinit(&file->reader);
  return error;
}

int laju_config_parse(laju_config *config, const char *name, const char *text, size_t len, char why[LAJU_WHY_SIZE]) {
  laju_config fresh;
  laju_config_init(&fresh);
  file_reading file = {.config = &fresh};
  int error = read_text(&file, name, text, len, why);
  if (error == 0) {
    laju_config_deinit(config);
    fresh.rules = file.rules.policies;
    fresh.rule_count = file.rules.count;
    *config = fresh;
    file.rules.policies = NULL;
    file.rules.count = 0;
  }
  laju_policy_list_deinit(&file.rules);
  explicit_bzero(fresh.resp_password, sizeof fresh.resp_password);
  explicit_bzero(&fresh.store, sizeof fresh.store);
  return error;
}

/* The whole of a file, of any kind (a pipe too), up to one byte more than is allowed. NULL with errno. */
static char *read_file(const char *path, size_t *out_len) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return NULL;
  char *text = malloc(LAJU_CONFIG_FILE_MAX + 1);
  if (text == NULL) {
    close(fd);
    errno = ENOMEM;
    return NULL;
  }
  ssize_t len = laju_read_full(fd, text, LAJU_CONFIG_FILE_MAX + 1);
  if (len < 0) {
    int error = errno;
    free(text);
    errno = error;
    return NULL;
  }
  *out_len = (size_t)len;
  return text;
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
