/* The topology of one primary that sentinels name.
 *
 * One server, at the primary that was last verified: whatever a sentinel says, the place is moved only after who is there has
 * said by ROLE that it is a primary (on a connection for that, so that a healthy primary is not left for a wrong one). While the
 * primary is up, only a newer failover than its own is a reason to look; while it is not, none that is older, unless for
 * FORGET_MS no sentinel knew of its own. So a sentinel that is behind does not win.
 *
 * All sentinels are listened to, for one may be cut off from the others: what any of them says on LAJU_SENTINEL_CHANNEL is looked
 * into at once. One is asked, another one each time: all of them soon after the start and after a connection to the primary is
 * lost or was READONLY, then every POLL_MS.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis/sentinel_reply.h"
#include "redis/servers.h"
#include "redis/slot_map.h"

#define POLL_MS 5000
#define HURRY_MS 50 /* before the next one is asked, while all are to be */
#define DOWN_MS 500 /* the same, while the primary is down and all have been */
#define FORGET_MS 10000
#define COMMANDS_MAX 4
#define EPOCH_UNKNOWN (-1)

#define SUBSCRIBE "*2\r\n$9\r\nSUBSCRIBE\r\n$14\r\n" LAJU_SENTINEL_CHANNEL "\r\n"
#define PING "*1\r\n$4\r\nPING\r\n"
#define ROLE "*1\r\n$4\r\nROLE\r\n"

typedef struct sentinel sentinel;

/* A subscription, to one of the sentinels each. */
typedef struct listener {
  sentinel *of;
  laju_link *link;
  bool heard; /* since it was last made to say something */
} listener;

struct sentinel {
  laju_servers *servers;
  laju_server *server;
  int64_t epoch;     /* the failover that made it the primary, or EPOCH_UNKNOWN */
  uint64_t known_ms; /* when a sentinel last knew of that one, or a newer */
  int uses;          /* by the timer and by links; gone with the last */
  bool closing;
  bool locked; /* they want the password, too */

  listener listeners[LAJU_STORE_PLACES_MAX]; /* as the URL's places */
  uint64_t pinged_ms;                        /* when they were last made to say something */

  laju_link *asker;
  size_t turn;      /* which sentinel it goes to */
  size_t hurry;     /* how many are to be asked without a pause */
  bool moves_on;    /* the next one is to be asked */
  bool asking;      /* questions are under way */
  uv_timer_t timer; /* the next ones */
  laju_link_command epoch_question, place_question;
  int64_t told_epoch;

  laju_link *probe; /* to a place that may be the primary's, or NULL */
  laju_link_command role_question;
  laju_store_place candidate;
  int64_t candidate_epoch;
};

static void let_go(void *context) {
  sentinel *s = context;
  if (--s->uses > 0) return;
  laju_servers *servers = s->servers;
  free(s);
  laju_servers_release(servers);
}

/* ---- connections ---- */

static laju_link *connect_to(sentinel *s, const laju_store_place *place, bool password, bool subscriber,
                             const laju_link_events *events, void *owner) {
  const laju_store_url *url = &s->servers->options.url;
  laju_link_options options = {
      .place = *place,
      .user = password ? url->user : NULL,
      .password = password ? url->password : NULL,
      .tls = url->tls,
      .subscriber = subscriber,
      .commands_max = COMMANDS_MAX,
  };
  laju_link *link;
  if (laju_link_new(&link, &s->servers->shared, &options, events, owner) < 0) return NULL;
  s->uses++;
  return link;
}

static void close_link(sentinel *s, laju_link **link) {
  laju_link *closes = *link;
  *link = NULL;
  if (closes != NULL) laju_link_close(closes, let_go, s);
}

/* A word that is a whole command. False: it could not be sent. */
static bool say(laju_link *link, const char *words, laju_link_command *command) {
  laju_buffer_add_text(laju_link_out(link), words);
  if (!laju_link_add(link, command)) return false;
  laju_link_flush(link);
  return true;
}

static int64_t deadline_us(const sentinel *s) {
  return (int64_t)(uv_hrtime() / 1000) + s->servers->options.connect_timeout_us;
}

/* For whoever wants to know why there is no primary. */
static void explain(sentinel *s, const laju_store_place *place, const char *why) {
  snprintf(s->servers->why, sizeof s->servers->why, "%s:%u: %s", place->host, (unsigned)place->port, why);
}

/* ---- when to ask ---- */

static void ask(uv_timer_t *timer);

static void ask_in(sentinel *s, uint64_t ms) {
  if (!s->closing) uv_timer_start(&s->timer, ask, ms, 0);
}

/* Within HURRY_MS; what is due earlier stays due. */
static void ask_soon(sentinel *s) {
  if (uv_timer_get_due_in(&s->timer) > HURRY_MS) ask_in(s, HURRY_MS);
}

static void ask_all_soon(sentinel *s) {
  s->hurry = s->servers->options.url.place_count;
  ask_soon(s);
}

/* The next question is for another sentinel, which may know more. */
static void ask_next(sentinel *s) {
  s->moves_on = true;
  if (s->hurry > 0) s->hurry--;
  if (s->hurry > 0) {
    ask_in(s, HURRY_MS);
  } else {
    ask_in(s, laju_server_is_up(s->server) ? POLL_MS : DOWN_MS);
  }
}

/* ---- is it a primary? ---- */

static void on_role(laju_link_command *question, laju_link_fate fate, const redisReply *reply) {
  sentinel *s = (sentinel *)((char *)question - offsetof(sentinel, role_question));
  if (s->probe == NULL) return; /* it is being closed */
  bool primary = fate == LAJU_LINK_REPLIED && laju_sentinel_role_is_primary(reply);
  close_link(s, &s->probe);
  if (primary) {
    s->epoch = s->candidate_epoch;
    laju_server_move(s->server, &s->candidate);
  } else {
    explain(s, &s->candidate, "is no primary, though a sentinel says so");
  }
  ask_next(s);
}

static void on_probe_ready(void *owner, laju_link *link) {
  sentinel *s = owner;
  if (s->role_question.done != NULL) return; /* asked before: it just takes more now */
  s->role_question = (laju_link_command){.done = on_role, .deadline_us = deadline_us(s), .replies = 1};
  if (say(link, ROLE, &s->role_question)) return;
  close_link(s, &s->probe);
  ask_next(s);
}

static void on_probe_lost(void *owner, laju_link *link, bool greeted) {
  sentinel *s = owner;
  (void)greeted;
  if (link != s->probe) return;
  explain(s, &s->candidate, laju_link_why(link));
  close_link(s, &s->probe);
  ask_next(s);
}

static void probe(sentinel *s, const laju_store_place *place, int64_t epoch) {
  static const laju_link_events events = {.on_ready = on_probe_ready, .on_lost = on_probe_lost};
  if (s->probe != NULL && laju_slot_place_equal(place, &s->candidate)) return;
  close_link(s, &s->probe);
  s->candidate = *place;
  s->candidate_epoch = epoch;
  s->role_question.done = NULL;
  s->probe = connect_to(s, place, true, false, &events, s);
  if (s->probe == NULL) ask_next(s);
}

/* ---- what sentinels say ---- */

static bool is_here(const sentinel *s, const laju_store_place *place) {
  return laju_slot_place_equal(place, &s->server->place);
}

/* A sentinel has told a place: is it worth a look? */
static bool is_news(sentinel *s, const laju_store_place *place, int64_t epoch) {
  uint64_t now_ms = uv_now(s->servers->shared.loop);
  if (epoch >= s->epoch) s->known_ms = now_ms;
  if (!laju_server_is_up(s->server)) return epoch >= s->epoch || now_ms - s->known_ms > FORGET_MS;
  if (!is_here(s, place)) return epoch > s->epoch;
  if (epoch > s->epoch) s->epoch = epoch;
  return false;
}

static void consider(sentinel *s, const laju_store_place *place, int64_t epoch) {
  if (is_news(s, place, epoch)) {
    probe(s, place, epoch);
  } else {
    ask_next(s);
  }
}

static void on_epoch(laju_link_command *question, laju_link_fate fate, const redisReply *reply) {
  sentinel *s = (sentinel *)((char *)question - offsetof(sentinel, epoch_question));
  s->told_epoch = fate == LAJU_LINK_REPLIED ? laju_sentinel_read_epoch(reply) : EPOCH_UNKNOWN;
}

static void on_place(laju_link_command *question, laju_link_fate fate, const redisReply *reply) {
  sentinel *s = (sentinel *)((char *)question - offsetof(sentinel, place_question));
  s->asking = false;
  if (s->closing) return;
  laju_store_place place;
  if (fate == LAJU_LINK_REPLIED && laju_sentinel_read_primary(reply, &place)) {
    consider(s, &place, s->told_epoch);
    return;
  }
  if (fate == LAJU_LINK_REPLIED) explain(s, &s->servers->options.url.places[s->turn], "knows no primary of that name");
  ask_next(s);
}

/* ---- asking ---- */

static bool add_question(sentinel *s, laju_link_command *question, const char *what,
                         void (*done)(laju_link_command *, laju_link_fate, const redisReply *)) {
  const char *name = s->servers->options.url.name;
  *question = (laju_link_command){.done = done, .deadline_us = deadline_us(s), .replies = 1};
  laju_buffer_add_format(laju_link_out(s->asker), "*3\r\n$8\r\nSENTINEL\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n", strlen(what),
                         what, strlen(name), name);
  return laju_link_add(s->asker, question);
}

static void ask_now(sentinel *s) {
  if (s->asking || !laju_link_is_ready(s->asker)) return;
  if (!add_question(s, &s->epoch_question, "MASTER", on_epoch)) return;
  s->asking = add_question(s, &s->place_question, "get-master-addr-by-name", on_place);
  laju_link_flush(s->asker);
}

/* No error tells that a connection on which nothing is due is dead. */
static void ping_listeners(sentinel *s) {
  uint64_t now_ms = uv_now(s->servers->shared.loop);
  if (now_ms - s->pinged_ms < POLL_MS) return;
  s->pinged_ms = now_ms;
  for (size_t i = 0; i < s->servers->options.url.place_count; i++) {
    listener *one = &s->listeners[i];
    if (!laju_link_is_connected(one->link)) continue;
    if (!one->heard) {
      laju_link_drop(one->link, "no answer for seconds");
    } else {
      one->heard = false;
      say(one->link, PING, NULL);
    }
  }
}

static void ask(uv_timer_t *timer) {
  sentinel *s = timer->data;
  const laju_store_url *url = &s->servers->options.url;
  ask_in(s, POLL_MS);
  ping_listeners(s);
  if (!s->moves_on || (url->place_count == 1 && laju_link_is_connected(s->asker))) {
    ask_now(s);
    return;
  }
  s->moves_on = false;
  s->turn = (s->turn + 1) % url->place_count;
  laju_link_move(s->asker, &url->places[s->turn]);
}

static void on_asker_ready(void *owner, laju_link *link) {
  sentinel *s = owner;
  (void)link;
  s->moves_on = false;
  ask_now(s);
}

static bool open_links(sentinel *s);

/* Sentinels have passwords more seldom than what they watch, and refuse one where they have none: so it is said to those alone
 * that ask for it. True where all connections are new ones. */
static bool unlocks(sentinel *s, const laju_link *link) {
  if (s->locked || strstr(laju_link_why(link), "NOAUTH") == NULL) return false;
  s->locked = true;
  return open_links(s);
}

static void on_asker_lost(void *owner, laju_link *link, bool greeted) {
  sentinel *s = owner;
  (void)greeted;
  if (!laju_server_is_up(s->server)) explain(s, &s->servers->options.url.places[s->turn], laju_link_why(link));
  if (unlocks(s, link)) return;
  s->moves_on = true;
  ask_soon(s);
}

/* ---- listening ---- */

static void on_listener_ready(void *owner, laju_link *link) {
  listener *one = owner;
  one->heard = true;
  say(link, SUBSCRIBE, NULL);
}

static void on_listener_lost(void *owner, laju_link *link, bool greeted) {
  const listener *one = owner;
  (void)greeted;
  unlocks(one->of, link);
}

/* What is told of a switch has no number: it is one more than what was known. */
static void on_push(void *owner, laju_link *link, const redisReply *message) {
  listener *one = owner;
  sentinel *s = one->of;
  laju_store_place place;
  (void)link;
  one->heard = true;
  if (!laju_sentinel_read_switch(message, s->servers->options.url.name, &place)) return;
  if (!is_here(s, &place)) consider(s, &place, s->epoch + 1);
}

static void close_links(sentinel *s) {
  close_link(s, &s->asker);
  for (size_t i = 0; i < LAJU_STORE_PLACES_MAX; i++) close_link(s, &s->listeners[i].link);
}

/* One to each sentinel, and behind them the asker's. */
typedef laju_link *all_links[LAJU_STORE_PLACES_MAX + 1];

static bool connect_all(sentinel *s, all_links links) {
  static const laju_link_events asks = {.on_ready = on_asker_ready, .on_lost = on_asker_lost};
  static const laju_link_events listens = {
      .on_ready = on_listener_ready, .on_lost = on_listener_lost, .on_push = on_push};
  const laju_store_url *url = &s->servers->options.url;
  for (size_t i = 0; i < url->place_count; i++) {
    s->listeners[i].of = s;
    links[i] = connect_to(s, &url->places[i], s->locked, true, &listens, &s->listeners[i]);
    if (links[i] == NULL) return false;
  }
  links[LAJU_STORE_PLACES_MAX] = connect_to(s, &url->places[s->turn], s->locked, false, &asks, s);
  return links[LAJU_STORE_PLACES_MAX] != NULL;
}

/* In place of those that there were. False: no memory, and nothing has changed. */
static bool open_links(sentinel *s) {
  all_links links = {NULL};
  if (!connect_all(s, links)) {
    for (size_t i = 0; i <= LAJU_STORE_PLACES_MAX; i++) close_link(s, &links[i]);
    return false;
  }
  close_links(s);
  for (size_t i = 0; i < LAJU_STORE_PLACES_MAX; i++) s->listeners[i].link = links[i];
  s->asker = links[LAJU_STORE_PLACES_MAX];
  return true;
}

/* ---- what the store asks ---- */

static void timer_closed(uv_handle_t *timer) {
  let_go(timer->data);
}

static void close_sentinel(laju_servers *servers) {
  sentinel *s = servers->state;
  s->closing = true;
  close_link(s, &s->probe);
  close_links(s);
  uv_close((uv_handle_t *)&s->timer, timer_closed);
}

static int open_sentinel(laju_servers *servers) {
  sentinel *s = calloc(1, sizeof *s);
  if (s == NULL) return LAJU_ERR_MEMORY;
  s->servers = servers;
  s->epoch = EPOCH_UNKNOWN;
  s->turn = (size_t)servers->shared.random % servers->options.url.place_count;
  s->uses = 1;
  uv_timer_init(servers->shared.loop, &s->timer);
  s->timer.data = s;
  servers->state = s;
  laju_servers_hold(servers);
  s->server = laju_server_add(servers, NULL);
  if (s->server == NULL || !open_links(s)) {
    close_sentinel(servers);
    return LAJU_ERR_MEMORY;
  }
  s->hurry = servers->options.url.place_count;
  ask_in(s, POLL_MS);
  return 0;
}

static void lost(laju_servers *servers, laju_server *server, bool greeted) {
  sentinel *s = servers->state;
  (void)server;
  if (greeted && !s->closing) ask_all_soon(s);
}

static laju_server *find(laju_servers *servers, const char *key, size_t key_len) {
  const sentinel *s = servers->state;
  (void)key;
  (void)key_len;
  return s->server;
}

const laju_topology laju_topology_sentinel = {
    .open = open_sentinel,
    .close = close_sentinel,
    .find = find,
    .lost = lost,
    .batches = true,
};
