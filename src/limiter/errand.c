#include "limiter/errand.h"

#include <stdlib.h>
#include <string.h>

#include "limiter/claim.h"
#include "limiter/fallback.h"
#include "redis/store.h"
#include "redis/transaction.h"

#define ROOM_MIN 16 /* asks */
#define LEG_ASKS_MIN \
  (LAJU_SCRIPT_CHECKS_MAX - LAJU_CHECKS_MAX + 1) /* a leg that is sent because it is full has as many */

/* What an ask is for. */
typedef struct spot {
  laju_claim *claim;
  size_t check;
} spot;

/* Asks that are submitted together: all, but for resets between them. */
typedef struct leg {
  laju_store_request request; /* first: it is what the store hands back */
  laju_errand *errand;
  const spot *spots;
} leg;

typedef struct reset {
  laju_store_command command; /* first, too */
  laju_errand *errand;
  laju_claim *claim;
  char name[LAJU_KEYS_NAME_MAX];
} reset;

struct laju_errand {
  laju_way *way;
  int64_t begun_us;
  void (*done)(void *context);
  void *context;
  size_t under_way; /* legs and resets without an answer */

  size_t ask_room, ask_count, sent_count; /* of `ask_count` asks the first `sent_count` are in legs */
  laju_script_ask *asks;                  /* the block that the four below are parts of */
  laju_script_answer *answers;
  spot *spots;
  laju_store_outcome *outcomes;
  char *names;
  size_t names_len;

  size_t leg_room, leg_count, reset_room, reset_count;
  leg *legs;
  reset *resets;
};

/* ---- buffers ---- */

static void release_asks(laju_errand *errand) {
  free(errand->asks);
  errand->asks = NULL;
  errand->ask_room = 0;
}

static void release_trips(laju_errand *errand) {
  free(errand->legs);
  free(errand->resets);
  errand->legs = NULL;
  errand->resets = NULL;
  errand->leg_room = errand->reset_room = 0;
}

/* Nothing in them lasts from errand to errand, so there is nothing to move. */
static bool reserve_asks(laju_errand *errand, size_t count) {
  if (count <= errand->ask_room) return true;
  release_asks(errand);
  size_t room = ROOM_MIN;
  while (room < count) room *= 2;
  size_t each = sizeof *errand->asks + sizeof *errand->answers + sizeof *errand->spots + sizeof *errand->outcomes;
  errand->asks = malloc(room * (each + LAJU_KEYS_NAME_MAX));
  if (errand->asks == NULL) return false;
  errand->answers = (laju_script_answer *)(void *)(errand->asks + room);
  errand->spots = (spot *)(void *)(errand->answers + room);
  errand->outcomes = (laju_store_outcome *)(void *)(errand->spots + room);
  errand->names = (char *)(void *)(errand->outcomes + room);
  errand->ask_room = room;
  return true;
}

static bool reserve_trips(laju_errand *errand, size_t legs, size_t resets) {
  if (legs <= errand->leg_room && resets <= errand->reset_room) return true;
  release_trips(errand);
  errand->legs = malloc(legs * sizeof *errand->legs);
  errand->resets = malloc((resets + 1) * sizeof *errand->resets);
  if (errand->legs == NULL || errand->resets == NULL) {
    release_trips(errand);
    return false;
  }
  errand->leg_room = legs;
  errand->reset_room = resets + 1;
  return true;
}

/* Room for all that the claims may ask. False: no memory; then there is none. */
static bool reserve(laju_errand *errand, const laju_way *way, const laju_claim *claims, size_t count) {
  size_t asks = 0, resets = 0;
  for (size_t i = 0; i < count; i++) {
    const laju_claim *claim = &claims[i];
    resets += claim->kind == LAJU_CLAIM_RESET;
    for (size_t j = 0; j < claim->count; j++) asks += laju_way_is_exact(way, &claim->checks[j]);
  }
  if (reserve_asks(errand, asks) && reserve_trips(errand, 1 + resets + asks / LEG_ASKS_MIN, resets)) return true;
  release_asks(errand);
  release_trips(errand);
  return false;
}

laju_errand *laju_errand_new(void) {
  return calloc(1, sizeof(laju_errand));
}

void laju_errand_free(laju_errand *errand) {
  if (errand == NULL) return;
  release_asks(errand);
  release_trips(errand);
  free(errand);
}

/* ---- what the store answered, or did not ---- */

/* The checks of a run, by their on_store_error. */
static bool fall_back(laju_errand *errand, const spot *spots, size_t count, int64_t now_us) {
  laju_check checks[LAJU_CHECKS_MAX] = {{0}};
  laju_decision decisions[LAJU_CHECKS_MAX];
  for (size_t i = 0; i < count; i++) checks[i] = spots[i].claim->checks[spots[i].check];
  bool allowed = laju_fallback_decide(errand->way, checks, count, now_us, decisions);
  for (size_t i = 0; i < count; i++) spots[i].claim->decisions[spots[i].check] = decisions[i];
  return allowed;
}

/* Does an earlier ask of the run charge the same key? Then the state that this one was refused on is not the store's. */
static bool is_repeat(const laju_script_ask *asks, size_t i) {
  for (size_t j = 0; j < i; j++) {
    if (asks[j].name_len == asks[i].name_len && memcmp(asks[j].name, asks[i].name, asks[i].name_len) == 0) return true;
  }
  return false;
}

static void remember(laju_errand *errand, const spot *at, const laju_script_answer *answer, int64_t now_us) {
  laju_denials *denials = laju_way_denials(errand->way);
  if (denials == NULL) return;
  laju_denial denial = {
      .check = &at->claim->checks[at->check],
      .group = laju_claim_group(at->claim, at->check),
      .decision = answer->decision,
      .found = answer->found,
      .store_us = answer->now_us,
      .sent_us = errand->begun_us,
  };
  laju_denials_remember(denials, &denial, now_us);
}

static bool take_answers(laju_errand *errand, const leg *from, size_t first, size_t count, int64_t now_us) {
  const laju_script_answer *answers = from->request.answers + first;
  const spot *spots = from->spots + first;
  bool allowed = true;
  for (size_t i = 0; i < count; i++) {
    spots[i].claim->decisions[spots[i].check] = answers[i].decision;
    if (answers[i].decision.allowed) continue;
    allowed = false;
    if (!is_repeat(from->request.asks + first, i)) remember(errand, &spots[i], &answers[i], now_us);
  }
  return allowed;
}

static bool refuse_split(const spot *spots, size_t count) {
  spots->claim->split = true;
  for (size_t i = 0; i < count; i++) {
    spots[i].claim->decisions[spots[i].check] = laju_claim_unasked(&spots[i].claim->checks[spots[i].check]);
  }
  return false;
}

/* The enforced checks of an ALL claim are its answer; all others stand for themselves. */
static void end_run(laju_errand *errand, const spot *at, bool allowed) {
  laju_claim *claim = at->claim;
  if (claim->kind != LAJU_CLAIM_ALL || claim->checks[at->check].rule->shadow) return;
  laju_claim_end(errand->way, claim, allowed, errand->begun_us);
}

static void settle_run(laju_errand *errand, const leg *from, size_t first, size_t count, int64_t now_us) {
  const spot *spots = from->spots + first;
  laju_store_outcome outcome = from->request.outcomes[first];
  bool allowed;
  if (outcome == LAJU_STORE_ANSWERED && from->request.answers[first].error == NULL) {
    allowed = take_answers(errand, from, first, count, now_us);
  } else if (outcome == LAJU_STORE_SPLIT) {
    allowed = refuse_split(spots, count);
  } else {
    allowed = fall_back(errand, spots, count, now_us);
  }
  end_run(errand, spots, allowed);
}

static void settle(laju_errand *errand, const leg *from, int64_t now_us) {
  const laju_store_request *request = &from->request;
  for (size_t i = 0, count; i < request->count; i += count) {
    count = 1;
    while (request->asks[i + count - 1].joined) count++;
    settle_run(errand, from, i, count, now_us);
  }
}

/* ---- under way ---- */

static void give_large_back(laju_errand *errand) {
  if (errand->ask_room > LAJU_ERRAND_KEEP) release_asks(errand);
  if (errand->leg_room > LAJU_ERRAND_KEEP) release_trips(errand);
}

static void arrive(laju_errand *errand) {
  if (--errand->under_way > 0) return;
  give_large_back(errand);
  errand->done(errand->context); /* which may use or free the errand */
}

static void on_leg(laju_store_request *request) {
  const leg *done = (const leg *)(void *)request;
  laju_errand *errand = done->errand;
  settle(errand, done, laju_limiter_now_us(errand->way->limiter));
  arrive(errand);
}

/* Submits what has been asked since the last leg. */
static void send_leg(laju_errand *errand) {
  size_t first = errand->sent_count, count = errand->ask_count - first;
  if (count == 0) return;
  leg *next = &errand->legs[errand->leg_count++];
  *next = (leg){.errand = errand, .spots = errand->spots + first};
  next->request.asks = errand->asks + first;
  next->request.answers = errand->answers + first;
  next->request.outcomes = errand->outcomes + first;
  next->request.count = count;
  next->request.done = on_leg;
  errand->sent_count = errand->ask_count;
  if (laju_store_submit(errand->way->store, &next->request)) {
    errand->under_way++;
  } else {
    settle(errand, next, errand->begun_us);
  }
}

/* ---- asking ---- */

/* The name of a claim's check in the store; 0 where libcrypto fails. */
static size_t name_check(laju_way *way, const laju_claim *claim, size_t i, char out[LAJU_KEYS_NAME_MAX]) {
  const laju_check *check = &claim->checks[i];
  laju_slice group = laju_claim_group(claim, i);
  laju_keys_subject subject = {
      .key = check->key,
      .key_len = check->key_len,
      .group = group.len > 0 ? group.at : NULL,
      .group_len = group.len,
      .secret = check->rule->secret,
  };
  int len = laju_keys_name(&way->keys, check->rule, &subject, out);
  return len > 0 ? (size_t)len : 0;
}

/* Appends asks for checks of a claim, joined to one request. False: one cannot be named, and none was appended. */
static bool add_asks(laju_errand *errand, const spot *spots, size_t count) {
  if (errand->asks == NULL) return false;
  if (errand->ask_count - errand->sent_count + count > LAJU_SCRIPT_CHECKS_MAX) send_leg(errand);
  size_t names_len = errand->names_len;
  for (size_t i = 0; i < count; i++) {
    const laju_check *check = &spots[i].claim->checks[spots[i].check];
    char *name = errand->names + names_len;
    size_t len = name_check(errand->way, spots[i].claim, spots[i].check, name);
    if (len == 0) return false;
    errand->asks[errand->ask_count + i] = (laju_script_ask){
        .rule = check->rule,
        .name = name,
        .name_len = (uint32_t)len,
        .cost = check->cost,
        .joined = i + 1 < count,
    };
    errand->spots[errand->ask_count + i] = spots[i];
    names_len += len;
  }
  errand->names_len = names_len;
  errand->ask_count += count;
  return true;
}

static void ask(laju_errand *errand, const spot *spots, size_t count) {
  if (count == 0 || add_asks(errand, spots, count)) return;
  end_run(errand, spots, fall_back(errand, spots, count, errand->begun_us));
}

static void start_all(laju_errand *errand, laju_claim *claim) {
  laju_plan plan = laju_claim_plan(errand->way, claim, errand->begun_us);
  uint32_t asks = laju_claim_begin(errand->way, claim, &plan, errand->begun_us);
  spot enforced[LAJU_CHECKS_MAX];
  size_t count = 0;
  for (size_t i = 0; i < claim->count; i++) {
    spot at = {.claim = claim, .check = i};
    if ((asks >> i & 1) == 0) continue;
    if (claim->checks[i].rule->shadow) {
      ask(errand, &at, 1);
    } else {
      enforced[count++] = at;
    }
  }
  ask(errand, enforced, count);
}

static void start_each(laju_errand *errand, laju_claim *claim) {
  laju_claim_decide_embedded(errand->way, claim, errand->begun_us);
  for (size_t i = 0; i < claim->count; i++) {
    if (!laju_way_is_exact(errand->way, &claim->checks[i])) continue;
    if (laju_claim_knows(errand->way, claim, i, errand->begun_us)) {
      laju_claim_count_known(errand->way, claim, i);
    } else {
      ask(errand, &(spot){.claim = claim, .check = i}, 1);
    }
  }
}

/* ---- resets ---- */

static void on_reset(laju_store_command *command, const redisReply *reply) {
  const reset *done = (const reset *)(void *)command;
  laju_errand *errand = done->errand;
  laju_claim *claim = done->claim;
  claim->failed = reply == NULL || reply->type != REDIS_REPLY_INTEGER;
  if (!claim->failed) claim->known |= reply->integer > 0;
  laju_claim_forget_denials(errand->way, claim, laju_limiter_now_us(errand->way->limiter));
  arrive(errand);
}

static bool send_reset(laju_errand *errand, laju_claim *claim) {
  if (errand->resets == NULL) return false;
  reset *next = &errand->resets[errand->reset_count++];
  next->errand = errand;
  next->claim = claim;
  size_t name_len = name_check(errand->way, claim, 0, next->name);
  if (name_len == 0) return false;
  laju_buffer bytes = {0};
  laju_transaction_forget(claim->checks->rule, next->name, name_len, errand->begun_us, &bytes);
  next->command = (laju_store_command){
      .bytes = bytes.data, .len = bytes.len, .key = next->name, .key_len = name_len, .done = on_reset};
  bool sent = !bytes.failed && laju_store_send(errand->way->store, &next->command);
  next->command.bytes = NULL; /* it was copied */
  laju_buffer_deinit(&bytes);
  return sent;
}

static void start_reset(laju_errand *errand, laju_claim *claim) {
  laju_way *way = errand->way;
  const laju_check *check = claim->checks;
  claim->known = laju_limiter_forget(way->limiter, check->rule, check->key, check->key_len, errand->begun_us);
  if (!laju_way_is_exact(way, check)) return;
  send_leg(errand); /* what came before goes before */
  claim->failed = !send_reset(errand, claim);
  errand->under_way += !claim->failed;
}

/* ---- the errand ---- */

static void start_claim(laju_errand *errand, laju_claim *claim) {
  claim->split = false;
  claim->failed = false;
  switch (claim->kind) {
    case LAJU_CLAIM_ALL: start_all(errand, claim); return;
    case LAJU_CLAIM_EACH: start_each(errand, claim); return;
    default: start_reset(errand, claim); return;
  }
}

bool laju_errand_start(laju_errand *errand, laju_way *way, laju_claim *claims, size_t count, int64_t now_us,
                       void (*done)(void *context), void *context) {
  errand->way = way;
  errand->begun_us = now_us;
  errand->done = done;
  errand->context = context;
  errand->under_way = 0;
  errand->ask_count = errand->sent_count = errand->names_len = 0;
  errand->leg_count = errand->reset_count = 0;
  reserve(errand, way, claims, count); /* without room, the checks find none and fall back */
  for (size_t i = 0; i < count; i++) start_claim(errand, &claims[i]);
  send_leg(errand);
  if (errand->under_way > 0) return true;
  give_large_back(errand);
  return false;
}
