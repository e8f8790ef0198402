/* Access logs from strangers: lines in any format into requests, and these through rules.
 *
 * The input's first byte is the format (0: told by the lines), the rest is the log. Whatever the lines are: what is read of one
 * lies within it or is a name that is known, its time is one that the law takes, it is no larger than laju's door takes, and
 * every request is counted once, as admitted or as refused. */
#include <stdlib.h>

#include "replay/access_log.h"
#include "replay/replay.h"

static const char yaml[] =
    "memory: 1MiB\n"
    "trusted_proxies: [10.0.0.0/8, 'unix:']\n"
    "rules:\n"
    "- {name: all, limit: 2, per: 1s}\n"
    "- {name: keys, match: {path: /a*}, key: [header:x-key, cookie:c, query:q], limit: 1, per: 1m, missing: shared}\n"
    "- {name: agents, match: {host: '*.example'}, key: header:user-agent, missing: deny, secret: true, limit: 1, per: 1h}\n";

/* A replay takes longer to make than an input to read, so it serves many, each some hours after the one before. */
#define INPUTS 4096
#define STEP_US (4 * LAJU_REPLAY_LATE_MAX_US)

static laju_access_reader reader;
static laju_access access;
static laju_replay *replay;
static uint64_t added;
static unsigned inputs;

static void must(bool ok) {
  if (!ok) abort();
}

static bool lies_in(laju_slice slice, const void *from, size_t len) {
  uintptr_t at = (uintptr_t)slice.at, begin = (uintptr_t)from;
  return at >= begin && at + slice.len <= begin + len;
}

static void check_request(const char *line, size_t len) {
  size_t size = access.method.len + access.target.len + access.host.len;
  must(access.time_us >= 0 && access.time_us <= LAJU_TIME_MAX_US);
  must(access.method.len == 0 || lies_in(access.method, line, len));
  must(access.target.len == 0 || lies_in(access.target, line, len));
  must(access.host.len == 0 || lies_in(access.host, line, len));
  must(access.header_count <= LAJU_ACCESS_HEADERS_MAX);
  for (size_t i = 0; i < access.header_count; i++) {
    must(access.headers[i].value.len > 0 && lies_in(access.headers[i].value, line, len));
    size += access.headers[i].name.len + access.headers[i].value.len;
  }
  must(size <= LAJU_ACCESS_REQUEST_MAX);
}

/* Each line in memory of its own, so that a byte too far is seen. */
static void read_line(const char *bytes, size_t len) {
  char *line = malloc(len + 1);
  must(line != NULL);
  memcpy(line, bytes, len);
  line = realloc(line, len > 0 ? len : 1);
  must(line != NULL);
  reader.why = NULL;
  int found = laju_access_read(&reader, line, len, &access);
  must(found >= -1 && found <= 1 && (found >= 0 || reader.why != NULL));
  if (found == 1) {
    check_request(line, len);
    access.time_us = inputs * STEP_US + access.time_us % (2 * LAJU_REPLAY_LATE_MAX_US);
    added += laju_replay_add(replay, &access);
  }
  free(line);
}

static void begin(void) {
  laju_config config;
  char why[LAJU_WHY_SIZE];
  laju_config_init(&config);
  must(laju_config_parse(&config, "fuzz", yaml, sizeof yaml - 1, why) == 0);
  must(laju_replay_new(&replay, &config, "www.example", false) == 0);
  laju_config_deinit(&config);
  added = inputs = 0;
}

static void finish(void) {
  laju_replay_finish(replay);
  const laju_replay_tally *tally = laju_replay_tally_of(replay);
  must(tally->requests == added && tally->admitted + tally->refused == added);
  laju_replay_free(replay);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1) return 0;
  if (inputs == 0) begin();
  laju_access_reader_init(&reader, (laju_access_format)(data[0] % 4), NULL);
  laju_slice rest = {(const char *)data + 1, size - 1};
  while (rest.at != NULL) {
    laju_slice line = laju_slice_cut(rest, '\n', &rest);
    read_line(line.at, line.len);
  }
  if (++inputs == INPUTS) {
    finish();
    inputs = 0;
  }
  return 0;
}
