/* Yesterday's requests through the rules: what laju's forward-auth would have answered to each, at the time that the log has.
 *
 *     laju_replay_new, then for each line laju_replay_add, then laju_replay_finish; the tally says what came out
 *
 * A request is matched, its keys are made and its checks are decided by the same code as those of /auth, in a table of its
 * own. What a log does not have of a request (a header, a cookie) is missing, as `missing` of a rule has it.
 *
 * Time goes by the latest that was seen: a request whose line is earlier is decided at that, and counted as late. One that is
 * earlier by more than LAJU_REPLAY_LATE_MAX_US is not replayed: its log is in the wrong order.
 *
 * Memory: the table (`memory`), the refused (refused.h) and, where asked for, the history (history.h). Nothing is allocated a
 * request. One thread.
 */
#ifndef LAJU_REPLAY_REPLAY_H
#define LAJU_REPLAY_REPLAY_H

#include "config/config.h"
#include "limiter/ruleset.h"
#include "replay/access.h"
#include "replay/history.h"
#include "replay/refused.h"
#include "replay/timeline.h"
#include "table/table.h"

#define LAJU_REPLAY_LATE_MAX_US INT64_C(3600000000)

typedef struct laju_replay laju_replay;

/* What became of one rule's checks, each by its own decision. */
typedef struct laju_rule_tally {
  uint64_t checks, admitted, refused;
  uint64_t missing;      /* requests that were refused because a part of the key was missing; no checks */
  uint64_t keys_refused; /* how many keys were refused; at least so many, where the refused were too many to be kept */
  int64_t first_refused_us; /* -1: never */
} laju_rule_tally;

typedef struct laju_replay_tally {
  uint64_t requests, admitted, refused;
  uint64_t unmatched; /* admitted, because no rule was for them */
  uint64_t crowded;   /* more than 16 rules were for them: laju would have answered with an error */
  uint64_t late;
  int64_t late_max_us;
  int64_t from_us, to_us; /* -1: no request */
  laju_rule_tally *rules; /* of each rule */
  laju_timeline timeline;
  laju_refused refused_keys;
  laju_table_stats table;
} laju_replay_tally;

/* Takes the config's rules over, as a server would. `host` stands for a request's where the log has none; NULL: none. With
 * `history` what is needed for laju_suggest is kept. 0, or LAJU_ERR_MEMORY or _SYSTEM. */
int laju_replay_new(laju_replay **out, laju_config *config, const char *host, bool history);
void laju_replay_free(laju_replay *replay);

/* False: it was too early to be replayed. */
bool laju_replay_add(laju_replay *replay, const laju_access *access);

/* Decides what is still waiting and brings the tally up to date. Nothing is added after that. */
void laju_replay_finish(laju_replay *replay);

const laju_ruleset *laju_replay_rules(const laju_replay *replay);
const laju_history *laju_replay_history(const laju_replay *replay); /* NULL: none is kept */

/* What has been decided so far. */
const laju_replay_tally *laju_replay_tally_of(const laju_replay *replay);

#endif
