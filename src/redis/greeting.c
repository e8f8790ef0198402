#include "redis/greeting.h"

#include <stdio.h>
#include <string.h>

#include "redis/resp_out.h"
#include "redis/script.h"

enum { AUTH, SELECT, SET_NAME, SCRIPT_LOAD, PING };

static const char *const names[] = {"AUTH", "SELECT", "CLIENT SETNAME", "SCRIPT LOAD", "PING"};

static void add_step(laju_greeting *greeting, unsigned char step) {
  greeting->steps[greeting->count++] = step;
}

void laju_greeting_begin(laju_greeting *greeting, const laju_link_options *options, laju_buffer *to) {
  *greeting = (laju_greeting){0};
  if (options->password != NULL && *options->password != '\0') {
    bool has_user = options->user != NULL && *options->user != '\0';
    laju_buffer_add_text(to, has_user ? "*3\r\n$4\r\nAUTH\r\n" : "*2\r\n$4\r\nAUTH\r\n");
    if (has_user) laju_resp_out_bulk(to, options->user, strlen(options->user));
    laju_resp_out_bulk(to, options->password, strlen(options->password));
    add_step(greeting, AUTH);
  }
  if (options->database > 0) {
    laju_buffer_add_text(to, "*2\r\n$6\r\nSELECT\r\n");
    laju_resp_out_int(to, options->database);
    add_step(greeting, SELECT);
  }
  laju_buffer_add_text(to, "*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n$4\r\nlaju\r\n");
  add_step(greeting, SET_NAME);
  if (options->script) {
    laju_script_load(to);
    add_step(greeting, SCRIPT_LOAD);
  } else {
    laju_buffer_add_text(to, "*1\r\n$4\r\nPING\r\n");
    add_step(greeting, PING);
  }
}

static bool is_hindrance(unsigned char step, const redisReply *reply) {
  if (reply->type != REDIS_REPLY_ERROR || step == SET_NAME) return false;
  return step != PING || strncmp(reply->str, "NOPERM", 6) != 0;
}

laju_greeting_result laju_greeting_take(laju_greeting *greeting, const redisReply *reply,
                                        char why[LAJU_LINK_WHY_SIZE]) {
  unsigned char step = greeting->steps[greeting->at++];
  if (is_hindrance(step, reply)) {
    snprintf(why, LAJU_LINK_WHY_SIZE, "%s: %s", names[step], reply->str);
    return LAJU_GREETING_REFUSED;
  }
  return greeting->at < greeting->count ? LAJU_GREETING_GOES_ON : LAJU_GREETING_DONE;
}
