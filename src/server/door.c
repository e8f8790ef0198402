#include "server/door.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* A peer that vanished is found within KEEPALIVE_IDLE_S + 5 probes, even where connections may be idle for ever. */
#define KEEPALIVE_IDLE_S 300
#define KEEPALIVE_PROBE_S 30
#define KEEPALIVE_PROBES 5

static int tell(char why[LAJU_TEXT_SIZE], const laju_endpoint *at, const char *what) {
  char text[LAJU_ENDPOINT_TEXT_SIZE];
  laju_endpoint_format(at, text);
  snprintf(why, LAJU_TEXT_SIZE, "cannot listen on %s: %s", text, what);
  return LAJU_ERR_SYSTEM;
}

static int tell_errno(char why[LAJU_TEXT_SIZE], const laju_endpoint *at) {
  return tell(why, at, strerror(errno));
}

static void set_option(int fd, int level, int option, int value) {
  setsockopt(fd, level, option, &value, sizeof value);
}

static bool is_any6(const laju_endpoint *at) {
  return at->address.ss_family == AF_INET6 &&
         IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)&at->address)->sin6_addr);
}

/* A bound socket. Accepted connections inherit the TCP options, which saves setting them on each. */
static int bind_tcp(const laju_endpoint *at, bool both_families, bool shared) {
  int fd = socket(at->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  if (shared) set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1);
  if (at->address.ss_family == AF_INET6) set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, !(both_families && is_any6(at)));
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_PROBE_S);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES);
  if (bind(fd, (const struct sockaddr *)&at->address, at->len) == 0) return fd;
  int err = errno;
  close(fd);
  errno = err;
  return -1;
}

/* The first socket listens before it may share its port: so the kernel refuses all but one of those who start at the same
 * moment, and everybody who comes later. Port 0 becomes a real one with it. */
static int open_first(laju_door *door, bool any) {
  laju_endpoint *at = &door->bound;
  int fd = bind_tcp(at, any, false);
  if (fd < 0 && any && errno == EAFNOSUPPORT) {
    laju_endpoint_to_ipv4(at);
    fd = bind_tcp(at, any, false);
  }
  door->sockets[0] = fd;
  if (fd < 0 || listen(fd, LAJU_BACKLOG) < 0) return -1;
  set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1);
  return getsockname(fd, (struct sockaddr *)&at->address, &at->len);
}

static int open_tcp(laju_door *door, bool any, char why[LAJU_TEXT_SIZE]) {
  laju_endpoint *at = &door->bound;
  if (open_first(door, any) < 0) return tell_errno(why, at);
  for (size_t worker = 1; worker < door->worker_count; worker++) {
    int fd = bind_tcp(at, any, true);
    door->sockets[worker] = fd;
    if (fd < 0 || listen(fd, LAJU_BACKLOG) < 0) return tell_errno(why, at);
  }
  return 0;
}

static bool somebody_answers(const laju_endpoint *at) {
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return true;
  bool answers = connect(fd, (const struct sockaddr *)&at->address, at->len) == 0 || errno != ECONNREFUSED;
  close(fd);
  return answers;
}

/* Makes way where a socket's file was left behind. */
static int clear_path(const laju_endpoint *at, char why[LAJU_TEXT_SIZE]) {
  const char *path = ((const struct sockaddr_un *)&at->address)->sun_path;
  struct stat file;
  if (lstat(path, &file) < 0) return errno == ENOENT ? 0 : tell_errno(why, at);
  if (!S_ISSOCK(file.st_mode)) return tell(why, at, "there is a file that is not a socket");
  if (somebody_answers(at)) return tell(why, at, "another process listens there");
  return unlink(path) == 0 || errno == ENOENT ? 0 : tell_errno(why, at);
}

/* The other workers' descriptors of the first one's socket. */
static int copy_socket(laju_door *door) {
  for (size_t worker = 1; worker < door->worker_count; worker++) {
    door->sockets[worker] = fcntl(door->sockets[0], F_DUPFD_CLOEXEC, 0);
    if (door->sockets[worker] < 0) return -1;
  }
  return 0;
}

static int open_unix(laju_door *door, char why[LAJU_TEXT_SIZE]) {
  const laju_endpoint *at = &door->bound;
  int err = clear_path(at, why);
  if (err < 0) return err;
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return tell_errno(why, at);
  door->sockets[0] = fd;
  if (bind(fd, (const struct sockaddr *)&at->address, at->len) < 0) return tell_errno(why, at);
  struct stat file;
  if (lstat(((const struct sockaddr_un *)&at->address)->sun_path, &file) == 0) {
    door->file_device = file.st_dev;
    door->file_inode = file.st_ino;
  }
  return listen(fd, LAJU_BACKLOG) < 0 || copy_socket(door) < 0 ? tell_errno(why, at) : 0;
}

static int make_places(laju_door *door, char why[LAJU_TEXT_SIZE]) {
  door->sockets = malloc(door->worker_count * sizeof *door->sockets);
  if (door->sockets == NULL) {
    snprintf(why, LAJU_TEXT_SIZE, "out of memory");
    return LAJU_ERR_MEMORY;
  }
  for (size_t i = 0; i < door->worker_count; i++) door->sockets[i] = -1;
  return 0;
}

static int open_sockets(laju_door *door, const laju_address *address, char why[LAJU_TEXT_SIZE]) {
  int err = make_places(door, why);
  if (err < 0) return err;
  return door->is_unix ? open_unix(door, why) : open_tcp(door, address->kind == LAJU_ADDRESS_ALL, why);
}

int laju_door_open(laju_door *out, const laju_codec *codec, const char *text, size_t worker_count,
                   char why[LAJU_TEXT_SIZE]) {
  laju_address address;
  if (laju_address_parse(text, strlen(text), &address, why) < 0) return LAJU_ERR_TEXT;
  laju_door door = {.codec = codec, .worker_count = worker_count, .local = laju_address_is_local(&address)};
  door.is_unix = door.shared = address.kind == LAJU_ADDRESS_UNIX;
  int err = laju_endpoint_init(&door.bound, &address);
  if (err < 0) {
    snprintf(why, LAJU_TEXT_SIZE, "%.100s is no address to listen on", text);
    return err;
  }
  err = open_sockets(&door, &address, why);
  if (err < 0) {
    laju_door_close(&door);
    return err;
  }
  *out = door;
  return 0;
}

/* What is bound and listens for streams: anything else was not meant for a door. */
static int examine(laju_door *door, int fd, char why[LAJU_TEXT_SIZE]) {
  int listens = 0, type = 0;
  socklen_t len = sizeof listens;
  bool good = getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) == 0 && listens != 0;
  len = sizeof type;
  good = good && getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_STREAM;
  door->bound.len = sizeof door->bound.address;
  good = good && getsockname(fd, (struct sockaddr *)&door->bound.address, &door->bound.len) == 0;
  if (!good) {
    snprintf(why, LAJU_TEXT_SIZE, "descriptor %d, which was handed over, is no listening stream socket", fd);
    return LAJU_ERR_SYSTEM;
  }
  laju_ip address;
  laju_endpoint_ip(&door->bound.address, &address);
  door->is_unix = door->bound.address.ss_family == AF_UNIX;
  door->local = door->is_unix || laju_ip_is_loopback(&address);
  return 0;
}

int laju_door_adopt(laju_door *out, const laju_codec *codec, int fd, size_t worker_count, char why[LAJU_TEXT_SIZE]) {
  laju_door door = {.codec = codec, .worker_count = worker_count, .shared = true};
  int err = examine(&door, fd, why);
  if (err == 0) err = make_places(&door, why);
  if (err < 0) {
    close(fd);
    return err;
  }
  door.sockets[0] = fd;
  if (copy_socket(&door) < 0) {
    err = tell_errno(why, &door.bound);
    laju_door_close(&door);
    return err;
  }
  *out = door;
  return 0;
}

/* Another process may have put its own socket at the path since. */
static void remove_file(const laju_door *door) {
  const char *path = ((const struct sockaddr_un *)&door->bound.address)->sun_path;
  struct stat file;
  if (door->file_inode == 0 || lstat(path, &file) < 0) return;
  if (file.st_dev == door->file_device && file.st_ino == door->file_inode) unlink(path);
}

void laju_door_close(laju_door *door) {
  if (door->sockets == NULL) return;
  for (size_t i = 0; i < door->worker_count; i++) {
    if (door->sockets[i] >= 0) close(door->sockets[i]);
  }
  free(door->sockets);
  if (door->is_unix) remove_file(door);
  *door = (laju_door){0};
}

int laju_door_take(laju_door *door, size_t worker) {
  int fd = door->sockets[worker];
  door->sockets[worker] = -1;
  return fd;
}

laju_peer laju_door_peer(const laju_door *door, int fd) {
  struct sockaddr_storage address = {0};
  socklen_t len = sizeof address;
  laju_peer peer = {.is_unix = door->is_unix};
  if (!door->is_unix && getpeername(fd, (struct sockaddr *)&address, &len) == 0) {
    laju_endpoint_ip(&address, &peer.address);
  }
  return peer;
}
