/* Replies of a server under load. However they are cut, as many are counted, with the same verdicts and the same first error,
 * and no byte outside is touched. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "load/reply.h"

typedef struct outcome {
  laju_load_tally tally;
  int64_t count;
  bool unfit;
} outcome;

/* Fed in pieces of `step` bytes, each in a block of exactly its size. */
static void converse(const uint8_t *bytes, size_t len, size_t step, uint8_t how, outcome *out) {
  static laju_load_reader reader;
  laju_load_protocol protocol = how & 1 ? LAJU_LOAD_HTTP : LAJU_LOAD_RESP;
  *out = (outcome){.count = 0};
  laju_load_reader_init(&reader, protocol, (laju_load_meaning)((how >> 1) % 3), &out->tally);
  for (size_t at = 0; at < len && !out->unfit; at += step) {
    size_t piece = len - at < step ? len - at : step;
    char *block = malloc(piece);
    if (block == NULL) abort();
    memcpy(block, bytes + at, piece);
    int64_t count = laju_load_reader_feed(&reader, block, piece);
    free(block);
    out->unfit = count < 0;
    if (count > 0) out->count += count;
    if (count > (int64_t)piece) abort();
  }
  if (!out->unfit) out->count += (int64_t)laju_load_reader_finish(&reader);
}

static uint64_t sum(const outcome *of) {
  return atomic_load(&of->tally.allowed) + atomic_load(&of->tally.denied) + atomic_load(&of->tally.errors);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static outcome whole, cut;
  if (size < 3) return 0;
  converse(data + 2, size - 2, size - 2, data[0], &whole);
  converse(data + 2, size - 2, 1u + data[1], data[0], &cut);
  if (whole.unfit != cut.unfit || sum(&whole) != sum(&cut)) abort();
  if (atomic_load(&whole.tally.denied) != atomic_load(&cut.tally.denied)) abort();
  if (strcmp(whole.tally.error, cut.tally.error) != 0) abort();
  if (!whole.unfit && (uint64_t)whole.count != sum(&whole)) abort();
  for (const char *at = whole.tally.error; *at != '\0'; at++) {
    if (*at < ' ' || *at > '~') abort();
  }
  return 0;
}
