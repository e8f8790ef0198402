/* The topology of one primary that sentinels name.
 *
 * One server, at the primary that was last verified: whatever a sentinel says, the place is moved only after who is there has
 * said by ROLE that it is a primary (on a connection for that, so that a healthy primary is not left for a wrong one), and while
 * the primary is up, only for a failover that is not older than its own. So a sentinel that is behind does not win.
 *
 * Sentinels are asked when a connection to the primary is lost or was READONLY, when one says on LAJU_SENTINEL_CHANNEL that it has
 * moved, and every POLL_MS, another one each time. One that does not answer, or knows no primary, makes room for the next.
 */
#include <stdlib.h>
#include <string.h>

#include "redis/sentinel_reply.h"
#include "redis/servers.h"
#include "redis/slot_map.h"

#define POLL_MS 5000
#define AGAIN_MS 50 /* before the next sentinel is asked */
#define COMMANDS_MAX 4

#define SUBSCRIBE "*2\r\n$9\r\nSUBSCRIBE\r\n$14\r\n" LAJU_SENTINEL_CHANNEL "\r\n"
#define PING "*1\r\n$4\r\nPING\r\n"
#define ROLE "*1\r\n$4\r\nROLE\r\n"

/* A connection to one of the sentinels. */
typedef struct ear {
  laju_link *link;
  size_t turn;   /* which sentinel */
  bool moves_on; /* the next one is to be asked */
} ear;

typedef struct sentinel {
  laju_servers *servers;
  laju_server *server;
  ear asker, listener;
  uint64_t pinged_ms; /* when the listener was last made to say something */
  bool heard;         /* and it has */
  uv_timer_t timer;   /* the next question */
  bool closing;
  bool locked; /* they want the password, too */
  int uses;    /* by the timer and by links; gone with the last */

  laju_link_command epoch_question, place_question;
  bool asking; /* they are under way */
  uint64_t told_epoch;

  laju_link *probe; /* to a place that may be the primary's, or NULL */
  laju_link_command role_question;
  laju_store_place candidate;
  uint64_t candidate_epoch; /* 0: not told */
  uint64_t epoch;           /* of the primary that was last verified */
} sentinel;

static const laju_link_events probe_events;

static void let_go(void *context) {
  sentinel *s = context;
  if (--s->uses > 0) return;
  laju_servers *servers = s->servers;
  free(s);
  laju_servers_release(servers);
}

static void ask(uv_timer_t *timer);

static void ask_in(sentinel *s, uint64_t ms) {
  if (!s->closing) uv_timer_start(&s->timer, ask, ms, 0);
}

/* Within AGAIN_MS; what is due earlier stays due. */
static void ask_soon(sentinel *s) {
  if (uv_timer_get_due_in(&s->timer) > AGAIN_MS) ask_in(s, AGAIN_MS);
}

static laju_link *connect_to(sentinel *s, const laju_store_place *place, const laju_link_events *events, bool password,
                             bool subscriber) {
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
  if (laju_link_new(&link, &s->servers->shared, &options, events, s) < 0) return NULL;
  s->uses++;
  return link;
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

/* ---- is it a primary? ---- */

static void end_probe(sentinel *s) {
  laju_link *probe = s->probe;
  s->probe = NULL;
  if (probe != NULL) laju_link_close(probe, let_go, s);
}

/* The next question is for another sentinel: it may know more. */
static void settle(sentinel *s, uint64_t epoch) {
  if (epoch > 0) s->epoch = epoch;
  s->asker.moves_on = s->servers->options.url.place_count > 1;
  ask_in(s, POLL_MS);
}

static void doubt(sentinel *s) {
  s->asker.moves_on = true;
  ask_soon(s);
}

static void on_role(laju_link_command *question, laju_link_fate fate, const redisReply *reply) {
  sentinel *s = (sentinel *)((char *)question - offsetof(sentinel, role_question));
  if (s->probe == NULL) return; /* it is being closed */
  bool primary = fate == LAJU_LINK_REPLIED && laju_sentinel_role_is_primary(reply);
  end_probe(s);
  if (primary) {
    laju_server_move(s->server, &s->candidate);
    settle(s, s->candidate_epoch);
  } else {
    doubt(s);
  }
}

static void on_probe_ready(void *owner, laju_link *link) {
  sentinel *s = owner;
  if (s->role_question.done != NULL) return; /* asked before: it just takes more now */
  s->role_question = (laju_link_command){.done = on_role, .deadline_us = deadline_us(s), .replies = 1};
  if (say(link, ROLE, &s->role_question)) return;
  end_probe(s);
  doubt(s);
}

static void on_probe_lost(void *owner, laju_link *link, bool greeted) {
  sentinel *s = owner;
  (void)greeted;
  if (link != s->probe) return;
  end_probe(s);
  doubt(s);
}

static void probe(sentinel *s, const laju_store_place *place, uint64_t epoch) {
  if (s->probe != NULL && laju_slot_place_equal(place, &s->candidate)) return;
  end_probe(s);
  s->candidate = *place;
  s->candidate_epoch = epoch;
  s->role_question.done = NULL;
  s->probe = connect_to(s, place, &probe_events, true, false);
  if (s->probe == NULL) ask_soon(s);
}

static const laju_link_events probe_events = {.on_ready = on_probe_ready, .on_lost = on_probe_lost};

/* ---- what sentinels say ---- */

static void on_epoch(laju_link_command *question, laju_link_fate fate, const redisReply *reply) {
  sentinel *s = (sentinel *)((char *)question - offsetof(sentinel, epoch_question));
  s->told_epoch = fate == LAJU_LINK_REPLIED ? laju_sentinel_read_epoch(reply) : 0;
}

/* A sentinel has told a place: is it worth a look? */
static void consider(sentinel *s, const laju_store_place *place, uint64_t epoch) {
  bool is_up = laju_server_is_up(s->server), is_behind = epoch > 0 && epoch < s->epoch;
  if (!is_up) {
    probe(s, place, epoch);
  } else if (is_behind) {
    doubt(s);
  } else if (laju_slot_place_equal(place, &s->server->place)) {
    settle(s, epoch);
  } else {
    probe(s, place, epoch);
  }
}

static void on_place(laju_link_command *question, laju_link_fate fate, const redisReply *reply) {
  sentinel *s = (sentinel *)((char *)question - offsetof(sentinel, place_question));
  s->asking = false;
  if (s->closing) return;
  laju_store_place place;
  if (fate == LAJU_LINK_REPLIED && laju_sentinel_read_primary(reply, &place)) {
    consider(s, &place, s->told_epoch);
  } else {
    doubt(s);
  }
}

static bool add_question(sentinel *s, laju_link_command *question, const char *what,
                         void (*done)(laju_link_command *, laju_link_fate, const redisReply *)) {
  const char *name = s->servers->options.url.name;
  *question = (laju_link_command){.done = done, .deadline_us = deadline_us(s), .replies = 1};
  laju_buffer_add_format(laju_link_out(s->asker.link), "*3\r\n$8\r\nSENTINEL\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n",
                         strlen(what), what, strlen(name), name);
  return laju_link_add(s->asker.link, question);
}

static void turn_to_next(sentinel *s, ear *one) {
  const laju_store_url *url = &s->servers->options.url;
  one->moves_on = false;
  one->turn = (one->turn + 1) % url->place_count;
  laju_link_move(one->link, &url->places[one->turn]);
}

static void ask_now(sentinel *s) {
  if (s->asking || !laju_link_is_ready(s->asker.link)) return;
  s->told_epoch = 0;
  if (!add_question(s, &s->epoch_question, "MASTER", on_epoch)) return;
  s->asking = add_question(s, &s->place_question, "get-master-addr-by-name", on_place);
  laju_link_flush(s->asker.link);
}

/* No error tells that a connection on which nothing is due is dead. */
static void try_listener(sentinel *s) {
  uint64_t now_ms = uv_now(s->servers->shared.loop);
  if (!s->listener.moves_on && now_ms - s->pinged_ms < POLL_MS) return;
  s->pinged_ms = now_ms;
  if (s->listener.moves_on || !s->heard) {
    turn_to_next(s, &s->listener);
  } else {
    s->heard = false;
    say(s->listener.link, PING, NULL);
  }
}

static void ask(uv_timer_t *timer) {
  sentinel *s = timer->data;
  ask_in(s, POLL_MS);
  try_listener(s);
  if (s->asker.moves_on) {
    turn_to_next(s, &s->asker);
  } else {
    ask_now(s);
  }
}

/* ---- connections to them ---- */

static void on_ear_ready(void *owner, laju_link *link) {
  sentinel *s = owner;
  if (link == s->listener.link) {
    s->listener.moves_on = false;
    s->heard = true;
    s->pinged_ms = uv_now(s->servers->shared.loop);
    say(link, SUBSCRIBE, NULL);
  } else {
    s->asker.moves_on = false;
  }
  ask_now(s); /* for what was said while nobody listened */
}

static void on_push(void *owner, laju_link *link, const redisReply *message) {
  sentinel *s = owner;
  laju_store_place place;
  (void)link;
  s->heard = true;
  if (laju_sentinel_read_switch(message, s->servers->options.url.name, &place)) consider(s, &place, 0);
}

static void on_ear_lost(void *owner, laju_link *link, bool greeted);

static const laju_link_events asker_events = {.on_ready = on_ear_ready, .on_lost = on_ear_lost};
static const laju_link_events listener_events = {.on_ready = on_ear_ready, .on_lost = on_ear_lost, .on_push = on_push};

static void close_ear(sentinel *s, laju_link *link) {
  if (link != NULL) laju_link_close(link, let_go, s);
}

/* In place of those that there were. False: no memory, and nothing has changed. */
static bool open_ears(sentinel *s, bool password) {
  const laju_store_place *places = s->servers->options.url.places;
  laju_link *asker = connect_to(s, &places[s->asker.turn], &asker_events, password, false);
  laju_link *listener = connect_to(s, &places[s->listener.turn], &listener_events, password, true);
  bool done = asker != NULL && listener != NULL;
  close_ear(s, done ? s->asker.link : asker);
  close_ear(s, done ? s->listener.link : listener);
  if (!done) return false;
  s->asker.link = asker;
  s->listener.link = listener;
  return true;
}

/* Sentinels have passwords more seldom than what they watch, and refuse one where they have none: so it is said to those alone
 * that ask for it. */
static void on_ear_lost(void *owner, laju_link *link, bool greeted) {
  sentinel *s = owner;
  (void)greeted;
  if (!s->locked && strstr(laju_link_why(link), "NOAUTH") != NULL) s->locked = open_ears(s, true);
  ear *one = link == s->listener.link ? &s->listener : &s->asker;
  one->moves_on = one->link == link;
  ask_soon(s);
}

/* ---- what the store asks ---- */

static void timer_closed(uv_handle_t *timer) {
  let_go(timer->data);
}

static void close_sentinel(laju_servers *servers) {
  sentinel *s = servers->state;
  s->closing = true;
  end_probe(s);
  close_ear(s, s->asker.link);
  close_ear(s, s->listener.link);
  uv_close((uv_handle_t *)&s->timer, timer_closed);
}

static int open_sentinel(laju_servers *servers) {
  sentinel *s = calloc(1, sizeof *s);
  if (s == NULL) return LAJU_ERR_MEMORY;
  s->servers = servers;
  s->asker.turn = s->listener.turn = (size_t)servers->shared.random % servers->options.url.place_count;
  s->uses = 1;
  uv_timer_init(servers->shared.loop, &s->timer);
  s->timer.data = s;
  servers->state = s;
  laju_servers_hold(servers);
  s->server = laju_server_add(servers, NULL);
  if (s->server == NULL || !open_ears(s, false)) {
    close_sentinel(servers);
    return LAJU_ERR_MEMORY;
  }
  ask_in(s, POLL_MS);
  return 0;
}

static void lost(laju_servers *servers, laju_server *server, bool greeted) {
  sentinel *s = servers->state;
  (void)server;
  (void)greeted;
  if (!s->closing) ask_soon(s);
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
