#include "load/request.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "config/value.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define KEY_PREFIX "key:"
#define KEY_LEN (sizeof KEY_PREFIX - 1 + LAJU_LOAD_KEY_DIGITS)

/* What a piece of a command becomes. */
typedef struct piece {
  const char *text; /* NULL: a key */
  size_t len;
  size_t written; /* bytes of the command that it took */
} piece;

static bool begins(const char *text, size_t len, const char *with) {
  return len >= strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

/* One placeholder, or the text up to the next brace. */
static piece next_piece(const laju_load_wish *wish, const char *text, size_t len) {
  if (begins(text, len, "{key}")) return (piece){NULL, KEY_LEN, 5};
  if (begins(text, len, "{rule}")) return (piece){wish->rule, strlen(wish->rule), 6};
  if (begins(text, len, "{cost}")) {
    const char *cost = wish->cost != NULL ? wish->cost : "1";
    return (piece){cost, strlen(cost), 6};
  }
  const char *brace = len > 1 ? memchr(text + 1, '{', len - 1) : NULL;
  size_t plain = brace != NULL ? (size_t)(brace - text) : len;
  return (piece){text, plain, plain};
}

static size_t filled_length(const laju_load_wish *wish, const char *text, size_t len) {
  size_t sum = 0;
  for (size_t at = 0; at < len;) {
    piece one = next_piece(wish, text + at, len - at);
    sum += one.len;
    at += one.written;
  }
  return sum;
}

/* Adds the text with its placeholders filled in, and notes where keys are. One place more than there may be is counted, so that
 * the caller sees it. */
static void fill(laju_load_request *to, const laju_load_wish *wish, const char *text, size_t len) {
  for (size_t at = 0; at < len;) {
    piece one = next_piece(wish, text + at, len - at);
    at += one.written;
    if (one.text != NULL) {
      laju_buffer_add(&to->bytes, one.text, one.len);
      continue;
    }
    laju_buffer_add_text(&to->bytes, KEY_PREFIX);
    if (to->place_count < COUNT(to->places)) to->places[to->place_count] = to->bytes.len;
    to->place_count++;
    laju_buffer_add_format(&to->bytes, "%0*d", LAJU_LOAD_KEY_DIGITS, 0);
  }
}

/* ---- RESP ---------------------------------------------------------------------------------------------------------- */

typedef struct known {
  const char *word;
  const char *rest; /* what a single word stands for beside itself; NULL: only itself */
  const char *cost; /* and where there is a cost */
  laju_load_meaning meaning;
} known;

static const known commands[] = {
    {"LAJU.CHECK", " {rule} {key}", " {cost}", LAJU_LOAD_ONE_ALLOWS},
    {"LAJU.PEEK", " {rule} {key}", "", LAJU_LOAD_ONE_ALLOWS},
    {"LAJU.ALL", NULL, NULL, LAJU_LOAD_ONE_ALLOWS},
    {"CL.THROTTLE", " {key} 15 30 60", " {cost}", LAJU_LOAD_ONE_DENIES},
    {"THROTTLE", NULL, NULL, LAJU_LOAD_ONE_ALLOWS}, /* throttlecrab's */
};

static size_t word_length(const char *text) {
  return strcspn(text, " ");
}

static const known *find_command(const char *text) {
  size_t len = word_length(text);
  for (size_t i = 0; i < COUNT(commands); i++) {
    if (strlen(commands[i].word) == len && strncasecmp(commands[i].word, text, len) == 0) return &commands[i];
  }
  return NULL;
}

static size_t count_words(const char *text) {
  size_t count = 0;
  for (const char *at = text + strspn(text, " "); *at != '\0'; at += strspn(at, " ")) {
    at += word_length(at);
    count++;
  }
  return count;
}

static int make_resp(laju_load_request *to, const laju_load_wish *wish, const char *text, char why[LAJU_TEXT_SIZE]) {
  size_t count = count_words(text);
  if (count < 1 || count > LAJU_LOAD_WORDS_MAX) {
    return laju_complain(why, text, strlen(text), "is no command", NULL, "1 to 128 words with spaces between them");
  }
  laju_buffer_add_format(&to->bytes, "*%zu\r\n", count);
  for (const char *at = text + strspn(text, " "); *at != '\0'; at += strspn(at, " ")) {
    size_t len = word_length(at);
    laju_buffer_add_format(&to->bytes, "$%zu\r\n", filled_length(wish, at, len));
    fill(to, wish, at, len);
    laju_buffer_add_text(&to->bytes, "\r\n");
    at += len;
  }
  return 0;
}

static void choose_resp(laju_load_request *to, const laju_load_wish *wish) {
  const char *text = wish->command != NULL ? wish->command : commands[0].word;
  const known *command = find_command(text);
  laju_buffer_add_text(&to->command, text);
  if (command == NULL) return;
  to->meaning = command->meaning;
  if (command->rest == NULL || count_words(text) != 1) return;
  laju_buffer_add_text(&to->command, command->rest);
  if (wish->cost != NULL) laju_buffer_add_text(&to->command, command->cost);
}

/* ---- HTTP ---------------------------------------------------------------------------------------------------------- */

static void choose_http(laju_load_request *to, const laju_load_wish *wish) {
  if (wish->command != NULL) {
    laju_buffer_add_text(&to->command, wish->command);
    return;
  }
  laju_buffer_add_text(&to->command, "POST /v1/check {\"rule\":\"{rule}\",\"key\":\"{key}\"");
  laju_buffer_add_text(&to->command, wish->cost != NULL ? ",\"cost\":{cost}}" : "}");
}

static bool is_method(const char *text, size_t len) {
  static const char *const methods[] = {"GET", "POST", "PUT", "DELETE"};
  for (size_t i = 0; i < COUNT(methods); i++) {
    if (strlen(methods[i]) == len && memcmp(methods[i], text, len) == 0) return true;
  }
  return false;
}

static bool has_header(const laju_load_wish *wish, const char *name) {
  for (size_t i = 0; i < wish->header_count; i++) {
    if (strncasecmp(wish->headers[i], name, strlen(name)) == 0) return true;
  }
  return false;
}

static void add_headers(laju_load_request *to, const laju_load_door *door, const laju_load_wish *wish) {
  char host[LAJU_LOAD_DOOR_SIZE];
  laju_load_door_show_address(door, host);
  if (!has_header(wish, "Host:")) {
    laju_buffer_add_format(&to->bytes, "Host: %s\r\n", door->address.kind == LAJU_ADDRESS_UNIX ? "localhost" : host);
  }
  for (size_t i = 0; i < wish->header_count; i++) {
    fill(to, wish, wish->headers[i], strlen(wish->headers[i]));
    laju_buffer_add_text(&to->bytes, "\r\n");
  }
}

static int make_http(laju_load_request *to, const laju_load_door *door, const laju_load_wish *wish, const char *text,
                     char why[LAJU_TEXT_SIZE]) {
  static const char allowed[] = "METHOD PATH [BODY]; METHOD is GET, POST, PUT or DELETE";
  size_t method = word_length(text);
  if (!is_method(text, method)) return laju_complain(why, text, strlen(text), "has no method", NULL, allowed);
  const char *path = text + method + strspn(text + method, " ");
  if (path[0] != '/') return laju_complain(why, text, strlen(text), "has no path", NULL, allowed);
  size_t path_len = word_length(path);
  const char *body = path + path_len + strspn(path + path_len, " ");
  laju_buffer_add(&to->bytes, text, method);
  laju_buffer_add_text(&to->bytes, " ");
  fill(to, wish, path, path_len);
  laju_buffer_add_text(&to->bytes, " HTTP/1.1\r\n");
  add_headers(to, door, wish);
  if (body[0] != '\0') {
    if (!has_header(wish, "Content-Type:")) {
      laju_buffer_add_text(&to->bytes, "Content-Type: application/json\r\n");
    }
    laju_buffer_add_format(&to->bytes, "Content-Length: %zu\r\n", filled_length(wish, body, strlen(body)));
  }
  laju_buffer_add_text(&to->bytes, "\r\n");
  fill(to, wish, body, strlen(body));
  return 0;
}

/* ---- both ---------------------------------------------------------------------------------------------------------- */

/* One in a command or a header would change what is sent. */
static bool has_control(const char *text) {
  while ((unsigned char)*text >= ' ' && *text != 0x7f) text++;
  return *text != '\0';
}

static int make(laju_load_request *to, const laju_load_door *door, const laju_load_wish *wish,
                char why[LAJU_TEXT_SIZE]) {
  bool http = door->protocol == LAJU_LOAD_HTTP;
  if (http) {
    choose_http(to, wish);
  } else {
    choose_resp(to, wish);
  }
  laju_buffer_add(&to->command, "", 1);
  if (to->command.failed) return laju_complain(why, NULL, 0, "memory ran out", NULL, "more of it");
  const char *text = to->command.data;
  if (has_control(text)) return laju_complain(why, text, strlen(text), "holds a control character", NULL, "none");
  if ((http ? make_http(to, door, wish, text, why) : make_resp(to, wish, text, why)) < 0) return -1;
  if (to->place_count > LAJU_LOAD_KEYS_PLACES_MAX) {
    return laju_complain(why, text, strlen(text), "has too many keys", NULL, "{key} up to 64 times");
  }
  if (to->bytes.failed || to->bytes.len > LAJU_LOAD_REQUEST_MAX) {
    return laju_complain(why, text, strlen(text), "is too long", NULL, "requests of up to 64 KiB");
  }
  return 0;
}

int laju_load_request_init(laju_load_request *out, const laju_load_door *door, const laju_load_wish *wish,
                           char why[LAJU_TEXT_SIZE]) {
  laju_load_request made = {.meaning = LAJU_LOAD_ANY};
  if (make(&made, door, wish, why) < 0) {
    laju_load_request_deinit(&made);
    return -1;
  }
  *out = made;
  return 0;
}

void laju_load_request_deinit(laju_load_request *request) {
  laju_buffer_deinit(&request->bytes);
  laju_buffer_deinit(&request->command);
}

void laju_load_key_write(char *to, uint64_t number, unsigned digits) {
  for (unsigned i = LAJU_LOAD_KEY_DIGITS; i > LAJU_LOAD_KEY_DIGITS - digits; i--) {
    to[i - 1] = (char)('0' + number % 10);
    number /= 10;
  }
}
