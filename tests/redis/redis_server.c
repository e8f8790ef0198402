#include "redis/redis_server.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SKIP 77
#define START_TRIES 1000 /* of 10 ms */

static redis_server *running; /* stopped by a test that ends early, too */

static void give_up(const char *why) {
  fprintf(stderr, "redis_server: %s\n", why);
  exit(1);
}

static void become_server(const redis_server *s) {
  const char *argv[REDIS_ARGUMENTS_MAX + 16] = {
      "redis-server",       "--port",    "0", "--unixsocket", s->socket, "--save", "", "--appendonly", "no",
      "--maxmemory-policy", "noeviction"};
  size_t count = 11;
  for (size_t i = 0; s->arguments[i] != NULL; i++) argv[count++] = s->arguments[i];
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (chdir(s->folder) < 0 || freopen("log", "w", stdout) == NULL) _exit(1);
  execvp("redis-server", (char **)argv);
  _exit(SKIP);
}

static void connect_to(redis_server *s) {
  for (int i = 0; i < START_TRIES; i++) {
    if (access(s->socket, F_OK) == 0) {
      s->link = redisConnectUnix(s->socket);
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

static void load_script(redis_server *s) {
  if (laju_script_init(&s->script) < 0) give_up("no SHA-1");
  laju_buffer_clear(&s->buffer);
  laju_script_load(&s->buffer);
  if (redisAppendFormattedCommand(s->link, s->buffer.data, s->buffer.len) != REDIS_OK) give_up("no memory");
  redisReply *reply = redis_next_reply(s);
  if (reply->type != REDIS_REPLY_STRING || strcmp(reply->str, s->script.sha1) != 0) {
    give_up(reply->str != NULL ? reply->str : "SCRIPT LOAD answers something else");
  }
  freeReplyObject(reply);
}

static void end_process(redis_server *s, int signal) {
  if (s->pid > 0) {
    kill(s->pid, signal);
    kill(s->pid, SIGCONT);
    waitpid(s->pid, NULL, 0);
  }
  s->pid = 0;
}

static void clear_folder(const redis_server *s) {
  DIR *folder = opendir(s->folder);
  for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
    unlinkat(dirfd(folder), entry->d_name, 0);
  }
  if (folder != NULL) closedir(folder);
  rmdir(s->folder);
}

static void stop_all(void) {
  for (; running != NULL; running = running->next) {
    end_process(running, SIGKILL);
    clear_folder(running);
  }
}

static void launch(redis_server *s) {
  s->pid = fork();
  if (s->pid < 0) give_up("no process");
  if (s->pid == 0) become_server(s);
  connect_to(s);
  load_script(s);
}

void redis_start_with(redis_server *s, const char *const *arguments) {
  static bool cleans_up;
  if (!cleans_up) atexit(stop_all);
  cleans_up = true;
  *s = (redis_server){.folder = "/tmp/laju-redis-XXXXXX"};
  for (size_t i = 0; arguments[i] != NULL && i < REDIS_ARGUMENTS_MAX; i++) s->arguments[i] = arguments[i];
  if (mkdtemp(s->folder) == NULL) give_up("no folder");
  snprintf(s->socket, sizeof s->socket, "%s/redis", s->folder);
  s->next = running;
  running = s;
  launch(s);
}

void redis_start(redis_server *s) {
  redis_start_with(s, (const char *const[]){NULL});
}

void redis_kill(redis_server *s) {
  redisFree(s->link);
  s->link = NULL;
  end_process(s, SIGKILL);
  unlink(s->socket);
}

void redis_start_again(redis_server *s) {
  launch(s);
}

void redis_stop(redis_server *s) {
  if (s->link != NULL) redisFree(s->link);
  s->link = NULL;
  laju_buffer_deinit(&s->buffer);
  end_process(s, SIGTERM);
  clear_folder(s);
  for (redis_server **at = &running; *at != NULL; at = &(*at)->next) {
    if (*at != s) continue;
    *at = s->next;
    return;
  }
}

const char *redis_free_port(void) {
  static char text[8][8];
  static size_t next;
  char *port = text[next++ % 8];
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t len = sizeof address;
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, len) < 0 ||
      getsockname(fd, (struct sockaddr *)&address, &len) < 0) {
    give_up("no port");
  }
  close(fd);
  snprintf(port, sizeof text[0], "%u", (unsigned)ntohs(address.sin_port));
  return port;
}

static redisReply *command(redis_server *s, const char *format, va_list arguments) {
  redisReply *reply = redisvCommand(s->link, format, arguments);
  if (reply == NULL) give_up(s->link->errstr);
  return reply;
}

redisReply *redis_command(redis_server *s, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  redisReply *reply = command(s, format, arguments);
  va_end(arguments);
  return reply;
}

int64_t redis_integer(redis_server *s, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  redisReply *reply = command(s, format, arguments);
  va_end(arguments);
  if (reply->type != REDIS_REPLY_INTEGER) give_up("not an integer");
  int64_t value = reply->integer;
  freeReplyObject(reply);
  return value;
}

void redis_send(redis_server *s, const laju_script_ask *asks, size_t count, const laju_script_pin *pin) {
  laju_buffer_clear(&s->buffer);
  laju_script_call(&s->script, asks, count, pin, &s->buffer);
  if (s->buffer.failed || redisAppendFormattedCommand(s->link, s->buffer.data, s->buffer.len) != REDIS_OK) {
    give_up("no memory");
  }
}

redisReply *redis_next_reply(redis_server *s) {
  void *reply;
  if (redisGetReply(s->link, &reply) != REDIS_OK) give_up(s->link->errstr);
  return reply;
}

int64_t redis_ask(redis_server *s, const laju_script_ask *asks, size_t count, const laju_script_pin *pin,
                  laju_script_answer *answers) {
  static redisReply *last;
  if (last != NULL) freeReplyObject(last);
  redis_send(s, asks, count, pin);
  last = redis_next_reply(s);
  int64_t now_us;
  if (laju_script_read(last, asks, count, answers, &now_us) < 0) {
    give_up(last->type == REDIS_REPLY_ERROR ? last->str : "a reply that is none of the script's");
  }
  return now_us;
}
