#include "redis/sentinels.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "redis/ports.h"

#define TRIES 1000 /* of 10 ms */

static void give_up(const char *why) {
  fprintf(stderr, "sentinel: %s\n", why);
  exit(1);
}

static void configure(const sentinel_process *s, uint16_t primary_port, int quorum, const char *more) {
  char path[sizeof s->folder + 16];
  snprintf(path, sizeof path, "%s/conf", s->folder);
  FILE *file = fopen(path, "w");
  if (file == NULL) give_up("no file");
  fprintf(file,
          "port %u\nbind 127.0.0.1\ndir %s\n"
          "sentinel monitor primary 127.0.0.1 %u %d\n"
          "sentinel down-after-milliseconds primary 500\n"
          "sentinel failover-timeout primary 2000\n%s\n",
          s->port, s->folder, primary_port, quorum, more);
  fclose(file);
}

static void become_sentinel(const sentinel_process *s) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (chdir(s->folder) < 0 || freopen("log", "w", stdout) == NULL) _exit(1);
  execlp("redis-server", "redis-server", "conf", "--sentinel", (char *)NULL);
  _exit(1);
}

static void connect_to(sentinel_process *s) {
  for (int i = 0; i < TRIES; i++) {
    s->link = redisConnect("127.0.0.1", s->port);
    if (s->link != NULL && s->link->err == 0) return;
    if (s->link != NULL) redisFree(s->link);
    usleep(10000);
  }
  give_up("it does not answer");
}

void sentinel_start(sentinel_process *s, uint16_t primary_port, int quorum, const char *more) {
  *s = (sentinel_process){.port = port_take(), .folder = "/tmp/laju-sentinel-XXXXXX"};
  if (mkdtemp(s->folder) == NULL) give_up("no folder");
  configure(s, primary_port, quorum, more);
  s->pid = fork();
  if (s->pid < 0) give_up("no process");
  if (s->pid == 0) become_sentinel(s);
  connect_to(s);
}

void sentinel_stop(sentinel_process *s) {
  static const char *const files[] = {"conf", "log"};
  redisFree(s->link);
  kill(s->pid, SIGTERM);
  waitpid(s->pid, NULL, 0);
  for (size_t i = 0; i < 2; i++) {
    char path[sizeof s->folder + 16];
    snprintf(path, sizeof path, "%s/%s", s->folder, files[i]);
    unlink(path);
  }
  rmdir(s->folder);
}

redisReply *sentinel_command(sentinel_process *s, const char *words) {
  redisReply *reply = redisCommand(s->link, words);
  if (reply == NULL) give_up(s->link->errstr);
  return reply;
}

void sentinel_field(sentinel_process *s, const char *field, char out[64]) {
  redisReply *fields = sentinel_command(s, "SENTINEL MASTER primary");
  out[0] = '\0';
  for (size_t i = 0; fields->type == REDIS_REPLY_ARRAY && i + 1 < fields->elements; i += 2) {
    if (strcmp(fields->element[i]->str, field) == 0) snprintf(out, 64, "%s", fields->element[i + 1]->str);
  }
  freeReplyObject(fields);
}
