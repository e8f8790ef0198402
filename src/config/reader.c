#include "config/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config/synonym.h"
#include "config/value.h"

#define NAME_SHOWN_MAX 256 /* of a file's name; the end is kept */
#define NO_INDIRECTION "anchors (&) and aliases (*) are not taken; put a value that begins so in quotes"

int laju_reader_init(laju_reader *reader, const char *name, const char *text, size_t len, char *why) {
  *reader = (laju_reader){.name = name, .text = text, .len = len, .why = why};
  if (!yaml_parser_initialize(&reader->parser)) return laju_reader_fail(reader, (yaml_mark_t){0}, "memory ran out");
  yaml_parser_set_encoding(&reader->parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&reader->parser, (const unsigned char *)text, len);
  return 0;
}

void laju_reader_deinit(laju_reader *reader) {
  yaml_event_delete(&reader->event);
  yaml_parser_delete(&reader->parser);
}

/* ---- complaints ---------------------------------------------------------------------------------------------------- */

int laju_reader_fail(laju_reader *reader, yaml_mark_t at, const char *format, ...) {
  size_t name_len = strlen(reader->name), cut = name_len > NAME_SHOWN_MAX ? name_len - NAME_SHOWN_MAX : 0;
  int start = snprintf(reader->why, LAJU_WHY_SIZE, "%s%s:%zu:%zu: ", cut > 0 ? "..." : "", reader->name + cut,
                       at.line + 1, at.column + 1);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reader->why + start, LAJU_WHY_SIZE - (size_t)start, format, arguments);
  va_end(arguments);
  return -1;
}

/* A reader's fault (an encoding) is known by its offset in bytes alone. */
static yaml_mark_t mark_of_offset(const laju_reader *reader, size_t offset) {
  yaml_mark_t mark = {0};
  for (size_t i = 0; i < offset && i < reader->len; i++) {
    bool ends_line = reader->text[i] == '\n', continues = ((unsigned char)reader->text[i] & 0xc0) == 0x80;
    mark.line += ends_line;
    mark.column = ends_line ? 0 : mark.column + !continues;
  }
  return mark;
}

static int fail_syntax(laju_reader *reader) {
  const yaml_parser_t *parser = &reader->parser;
  if (parser->error == YAML_MEMORY_ERROR) return laju_reader_fail(reader, parser->mark, "memory ran out");
  if (parser->error == YAML_READER_ERROR) {
    return laju_reader_fail(reader, mark_of_offset(reader, parser->problem_offset), "not UTF-8 text: %s",
                            parser->problem);
  }
  const char *context = parser->context != NULL ? parser->context : "";
  if (strstr(context, "an alias") != NULL || strstr(context, "an anchor") != NULL) {
    return laju_reader_fail(reader, parser->context_mark, NO_INDIRECTION); /* *:8080 is a natural thing to write */
  }
  if (parser->error == YAML_SCANNER_ERROR && *parser->buffer.pointer == '\t') {
    return laju_reader_fail(reader, parser->problem_mark, "not YAML: a tab; allowed: lines indented by spaces");
  }
  return laju_reader_fail(reader, parser->problem_mark, "not YAML: %s%s%s", context, context[0] != '\0' ? ": " : "",
                          parser->problem);
}

/* ---- events -------------------------------------------------------------------------------------------------------- */

/* Anchors, aliases and tags make one text mean another, or a short file a long one: none of them is taken. */
static int refuse_indirection(laju_reader *reader) {
  const yaml_event_t *event = &reader->event;
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
    return laju_reader_fail(reader, event->start_mark, NO_INDIRECTION);
  }
  if (tag != NULL) {
    return laju_reader_fail(reader, event->start_mark, "tags (!) are not taken; write the value without");
  }
  return 0;
}

int laju_reader_next(laju_reader *reader) {
  yaml_event_delete(&reader->event);
  if (!yaml_parser_parse(&reader->parser, &reader->event)) return fail_syntax(reader);
  return refuse_indirection(reader);
}

/* ---- values -------------------------------------------------------------------------------------------------------- */

bool laju_reader_at_null(const laju_reader *reader) {
  const yaml_event_t *event = &reader->event;
  if (event->type != YAML_SCALAR_EVENT || event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE) return false;
  const char *text = (const char *)event->data.scalar.value;
  return text[0] == '\0' || strcmp(text, "~") == 0 || strcasecmp(text, "null") == 0;
}

int laju_reader_expect_value(laju_reader *reader, const char *path, bool plain) {
  const yaml_event_t *event = &reader->event;
  if (event->type == YAML_MAPPING_START_EVENT) {
    return laju_reader_fail(reader, event->start_mark, "%s: is a mapping; allowed: one value", path);
  }
  if (event->type == YAML_SEQUENCE_START_EVENT) {
    return laju_reader_fail(reader, event->start_mark, "%s: is a list; allowed: one value", path);
  }
  if (plain && event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE) {
    char shown[LAJU_SHOWN_SIZE];
    laju_text_show(shown, (const char *)event->data.scalar.value, event->data.scalar.length);
    return laju_reader_fail(reader, event->start_mark, "%s: \"%s\" is text; write it without quotes", path, shown);
  }
  return 0;
}

int laju_reader_value(laju_reader *reader, const char *path, bool plain, laju_reader_take take, void *to) {
  char complaint[LAJU_TEXT_SIZE];
  if (laju_reader_expect_value(reader, path, plain) < 0) return -1;
  const char *text = (const char *)reader->event.data.scalar.value;
  size_t len = laju_reader_at_null(reader) ? 0 : reader->event.data.scalar.length;
  if (take(to, text, len, complaint) == 0) return 0;
  return laju_reader_fail(reader, reader->event.start_mark, "%s: %s", path, complaint);
}

int laju_reader_values(laju_reader *reader, const char *path, laju_reader_take take, void *to) {
  if (reader->event.type != YAML_SEQUENCE_START_EVENT) {
    return laju_reader_value(reader, path, false, take, to) < 0 ? -1 : 1;
  }
  for (int i = 0;; i++) {
    char item[LAJU_READER_PATH_SIZE + 16];
    snprintf(item, sizeof item, "%s[%d]", path, i);
    if (laju_reader_next(reader) < 0) return -1;
    if (reader->event.type == YAML_SEQUENCE_END_EVENT) return i;
    if (laju_reader_value(reader, item, false, take, to) < 0) return -1;
  }
}

/* ---- mappings ------------------------------------------------------------------------------------------------------ */

/* A complaint of the mapping itself: "listen." is told as "listen:". */
static int fail_whole(laju_reader *reader, const laju_mapping *mapping, const char *what, const char *allowed) {
  size_t prefix_len = strlen(mapping->prefix);
  return laju_reader_fail(reader, reader->event.start_mark, "%.*s%s %s%s", (int)(prefix_len > 0 ? prefix_len - 1 : 0),
                          mapping->prefix, prefix_len > 0 ? ":" : "the file", what, allowed);
}

int laju_mapping_begin(laju_reader *reader, laju_mapping *mapping) {
  mapping->at = reader->event.start_mark;
  if (reader->event.type == YAML_MAPPING_START_EVENT) return 0;
  char words[LAJU_TEXT_SIZE];
  if (mapping->example != NULL) return fail_whole(reader, mapping, "is not a mapping; allowed: ", mapping->example);
  laju_words_join(words, sizeof words, mapping->words, mapping->count);
  return fail_whole(reader, mapping, "is not a mapping; allowed: the keys ", words);
}

static int fail_unknown(laju_reader *reader, const laju_mapping *mapping) {
  char allowed[LAJU_TEXT_SIZE], shown[LAJU_SHOWN_SIZE], guess[96] = "";
  const char *word = (const char *)reader->event.data.scalar.value;
  size_t len = reader->event.data.scalar.length;
  const char *hint = laju_guess(word, len, mapping->words, mapping->count);
  if (hint != NULL) snprintf(guess, sizeof guess, " did you mean \"%s\"?", hint);
  laju_words_join(allowed, sizeof allowed, mapping->words, mapping->count);
  laju_text_show(shown, word, len);
  return laju_reader_fail(reader, reader->event.start_mark, "%s%s: unknown key;%s allowed: %s", mapping->prefix, shown,
                          guess, allowed);
}

static size_t find_word(const laju_mapping *mapping, const char *word, size_t len) {
  size_t i = 0;
  while (i < mapping->count && (strlen(mapping->words[i]) != len || memcmp(mapping->words[i], word, len) != 0)) i++;
  return i;
}

int laju_mapping_next(laju_reader *reader, laju_mapping *mapping) {
  const yaml_event_t *event = &reader->event;
  if (laju_reader_next(reader) < 0) return -1;
  if (event->type == YAML_MAPPING_END_EVENT) return LAJU_MAPPING_END;
  if (event->type != YAML_SCALAR_EVENT) return fail_whole(reader, mapping, "has a key that is no word", "");
  size_t found = find_word(mapping, (const char *)event->data.scalar.value, event->data.scalar.length);
  if (found == mapping->count) return fail_unknown(reader, mapping);
  if (laju_mapping_has(mapping, found)) {
    return laju_reader_fail(reader, event->start_mark, "%s%s: is given twice; the first is in line %zu",
                            mapping->prefix, mapping->words[found], mapping->keys[found].line + 1);
  }
  mapping->given |= UINT32_C(1) << found;
  mapping->keys[found] = event->start_mark;
  if (laju_reader_next(reader) < 0) return -1;
  mapping->values[found] = event->start_mark;
  return (int)found;
}
