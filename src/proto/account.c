#include "proto/account.h"

int laju_account_init(laju_account *account, const uint64_t hash_key[2]) {
  laju_ledger *ledger = laju_ledger_new();
  laju_top *top = laju_top_new(hash_key);
  if (ledger == NULL || top == NULL) {
    laju_ledger_free(ledger);
    laju_top_free(top);
    return LAJU_ERR_MEMORY;
  }
  account->ledger = ledger;
  account->top = top;
  return 0;
}

void laju_account_deinit(laju_account *account) {
  laju_ledger_free(account->ledger);
  laju_top_free(account->top);
}

/* What became of one check. One that was never asked, since the request was refused before, is nobody's verdict. */
static void count_check(laju_account *account, const laju_check *check, const laju_decision *decision, int64_t now_us) {
  if (decision->basis == LAJU_UNASKED) return;
  if (decision->allowed) {
    laju_ledger_count(account->ledger, check->rule->number, LAJU_VERDICT_ALLOWED);
  } else if (check->rule->shadow) {
    laju_ledger_count(account->ledger, check->rule->number, LAJU_VERDICT_SHADOW_DENIED);
  } else {
    laju_ledger_count(account->ledger, check->rule->number, LAJU_VERDICT_DENIED);
    laju_top_count(account->top, check, now_us);
  }
}

static bool all_allowed(const laju_batch *batch, const laju_ask *ask) {
  for (uint32_t i = ask->first; i < ask->first + ask->count; i++) {
    if (!batch->decisions[i].allowed && !batch->checks[i].rule->shadow) return false;
  }
  return true;
}

static laju_request_verdict count_undecided(laju_account *account, const laju_batch *batch, const laju_ask *ask) {
  for (uint32_t i = ask->first; i < ask->first + ask->count; i++) {
    laju_ledger_count(account->ledger, batch->checks[i].rule->number, LAJU_VERDICT_ERROR);
  }
  return LAJU_REQUEST_ERROR;
}

static laju_request_verdict count_decided(laju_account *account, const laju_batch *batch, const laju_ask *ask) {
  if (ask->split) return count_undecided(account, batch, ask);
  for (uint32_t i = ask->first; i < ask->first + ask->count; i++) {
    count_check(account, &batch->checks[i], &batch->decisions[i], batch->now_us);
  }
  bool allowed = ask->kind == LAJU_ASK_ALL ? ask->allowed : all_allowed(batch, ask);
  return allowed ? LAJU_REQUEST_ALLOWED : LAJU_REQUEST_DENIED;
}

void laju_account_batch(laju_account *account, laju_door_name door, const laju_batch *batch, int64_t took_us) {
  uint64_t counts[LAJU_REQUEST_VERDICTS] = {0}, answered = 0;
  for (size_t i = 0; i < batch->ask_count; i++) {
    const laju_ask *ask = &batch->asks[i];
    if (ask->kind == LAJU_ASK_ALL || ask->kind == LAJU_ASK_EACH) {
      counts[count_decided(account, batch, ask)]++;
    } else if (ask->counts) {
      counts[ask->failed ? LAJU_REQUEST_ERROR : LAJU_REQUEST_ALLOWED]++;
    } else {
      continue;
    }
    answered++;
  }
  for (size_t i = 0; i < LAJU_REQUEST_VERDICTS && answered > 0; i++) {
    laju_count_more(&account->requests[door][i], counts[i]);
  }
  if (answered > 0) laju_histogram_add_times(&account->latency, took_us, answered);
}
