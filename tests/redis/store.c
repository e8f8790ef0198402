#include "redis/store.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SKIP 77
#define START_TRIES 1000 /* of 10 ms */

static const store *running; /* stopped by a test that ends early, too */

static void give_up(const char *why) {
  fprintf(stderr, "store: %s\n", why);
  exit(1);
}

static void become_server(const char *folder, const char *socket) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (chdir(folder) < 0 || freopen("log", "w", stdout) == NULL) _exit(1);
  execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no",
         "--maxmemory-policy", "noeviction", (char *)NULL);
  _exit(SKIP);
}

static void connect_to(store *s, const char *socket) {
  for (int i = 0; i < START_TRIES; i++) {
    if (access(socket, F_OK) == 0) {
      s->link = redisConnectUnix(socket);
      if (s->link != NULL && s->link->err == 0) return;
      if (s->link != NULL) redisFree(s->link);
    }
    int status;
    if (waitpid(s->pid, &status, WNOHANG) == s->pid) {
      s->pid = 0;
      if (WIFEXITED(status) && WEXITSTATUS(status) == SKIP) {
        printf("SKIP: no redis-server\n");
        exit(SKIP);
      }
      give_up("redis-server ended at once");
    }
    usleep(10000);
  }
  give_up("redis-server does not answer");
}

static void load_script(store *s) {
  if (laju_script_init(&s->script) < 0) give_up("no SHA-1");
  laju_script_load(&s->buffer);
  if (redisAppendFormattedCommand(s->link, s->buffer.data, s->buffer.len) != REDIS_OK) give_up("no memory");
  redisReply *reply = store_next_reply(s);
  if (reply->type != REDIS_REPLY_STRING || strcmp(reply->str, s->script.sha1) != 0) {
    give_up(reply->str != NULL ? reply->str : "SCRIPT LOAD answers something else");
  }
  freeReplyObject(reply);
}

static void stop_server(void) {
  if (running == NULL) return;
  if (running->pid > 0) {
    kill(running->pid, SIGTERM);
    waitpid(running->pid, NULL, 0);
  }
  static const char *const files[] = {"redis", "log"};
  for (size_t i = 0; i < 2; i++) {
    char path[sizeof running->folder + 16];
    snprintf(path, sizeof path, "%s/%s", running->folder, files[i]);
    unlink(path);
  }
  rmdir(running->folder);
  running = NULL;
}

void store_start(store *s) {
  *s = (store){0};
  snprintf(s->folder, sizeof s->folder, "/tmp/laju-redis-XXXXXX");
  if (mkdtemp(s->folder) == NULL) give_up("no folder");
  char socket[sizeof s->folder + 16];
  snprintf(socket, sizeof socket, "%s/redis", s->folder);
  s->pid = fork();
  if (s->pid < 0) give_up("no process");
  if (s->pid == 0) become_server(s->folder, socket);
  running = s;
  atexit(stop_server);
  connect_to(s, socket);
  load_script(s);
}

void store_stop(store *s) {
  redisFree(s->link);
  laju_buffer_deinit(&s->buffer);
  stop_server();
}

static redisReply *command(store *s, const char *format, va_list arguments) {
  redisReply *reply = redisvCommand(s->link, format, arguments);
  if (reply == NULL) give_up(s->link->errstr);
  return reply;
}

redisReply *store_command(store *s, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  redisReply *reply = command(s, format, arguments);
  va_end(arguments);
  return reply;
}

int64_t store_integer(store *s, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  redisReply *reply = command(s, format, arguments);
  va_end(arguments);
  if (reply->type != REDIS_REPLY_INTEGER) give_up("not an integer");
  int64_t value = reply->integer;
  freeReplyObject(reply);
  return value;
}

void store_send(store *s, const laju_script_ask *asks, size_t count, const laju_script_pin *pin) {
  laju_buffer_clear(&s->buffer);
  laju_script_call(&s->script, asks, count, pin, &s->buffer);
  if (s->buffer.failed || redisAppendFormattedCommand(s->link, s->buffer.data, s->buffer.len) != REDIS_OK) {
    give_up("no memory");
  }
}

redisReply *store_next_reply(store *s) {
  void *reply;
  if (redisGetReply(s->link, &reply) != REDIS_OK) give_up(s->link->errstr);
  return reply;
}

int64_t store_ask(store *s, const laju_script_ask *asks, size_t count, const laju_script_pin *pin,
                  laju_script_answer *answers) {
  static redisReply *last;
  if (last != NULL) freeReplyObject(last);
  store_send(s, asks, count, pin);
  last = store_next_reply(s);
  int64_t now_us;
  if (laju_script_read(last, asks, count, answers, &now_us) < 0) {
    give_up(last->type == REDIS_REPLY_ERROR ? last->str : "a reply that is none of the script's");
  }
  return now_us;
}
