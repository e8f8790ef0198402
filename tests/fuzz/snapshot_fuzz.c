/* Any bytes, made to look whole (right header, right checksums), are either refused or give a table that works.
 *
 * Input that begins with "hex:" is read as hexadecimal digits, everything else between them ignored: so seeds are text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table/snapshot.h"
#include "table/snapshot_format.h"
#include "table/store.h"

#define INPUT_MAX (1u << 16)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned char file[INPUT_MAX + sizeof(laju_snapshot_header)];
static size_t file_len;

static int digit(unsigned char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

static size_t read_hex(const uint8_t *data, size_t size, unsigned char *out) {
  size_t len = 0;
  int high = -1;
  for (size_t i = 0; i < size; i++) {
    int value = digit(data[i]);
    if (value < 0) continue;
    if (high >= 0) out[len++] = (unsigned char)(high << 4 | value);
    high = high >= 0 ? -1 : value;
  }
  return len;
}

/* Without this the fuzzer would have to guess SipHash. */
static void fix_checksums(void) {
  laju_snapshot_header header;
  if (file_len < sizeof header) return;
  memcpy(&header, file, sizeof header);
  header.checksum = laju_snapshot_header_checksum(&header);
  memcpy(file, &header, sizeof header);
  size_t at = sizeof header;
  for (uint64_t number = 0; file_len - at >= 16; number++) {
    laju_snapshot_chunk chunk;
    memcpy(&chunk, file + at, 8);
    if (chunk.length > file_len - at - 16) return;
    uint64_t checksum = laju_snapshot_chunk_checksum(header.hash_key, number, chunk, file + at + 8);
    memcpy(file + at + 8 + chunk.length, &checksum, 8);
    at += chunk.length + 16;
  }
}

static void demand(bool truth) {
  if (!truth) abort();
}

static laju_table *new_table(uint64_t memory_bytes) {
  static const uint64_t hash_key[2] = {1, 2};
  laju_table *table;
  demand(laju_table_new(&table, &(laju_table_options){.memory_bytes = memory_bytes, .hash_key = hash_key}) == 0);
  return table;
}

/* Decides under each algorithm until old keys had to make room, then sweeps it bare: nothing may be lost track of. */
static void use(laju_table *table, int64_t now_us) {
  for (unsigned i = 0; i < 200; i++) {
    laju_rule rule;
    char key[16];
    int len = snprintf(key, sizeof key, "%u", i);
    demand(laju_rule_init(&rule, "api", 3, (laju_algorithm)(i % LAJU_ALGORITHMS), 500, 60000000, 0) == 0);
    laju_check check = {.rule = &rule, .key = key, .key_len = (uint32_t)len, .cost = 400};
    laju_decision decision;
    laju_table_decide_all(table, &check, 1, now_us, &decision);
    demand(decision.remaining <= decision.limit);
  }
  for (uint64_t bucket = 0; bucket < table->bucket_count; bucket++) {
    for (unsigned slot = 0; slot < LAJU_BUCKET_SLOTS; slot++) {
      if (laju_bucket_shape(&table->buckets[bucket], slot) != 0) laju_store_drop(table, bucket, slot);
    }
  }
  laju_table_stats stats;
  laju_table_stats_read(table, &stats);
  demand(stats.keys == 0 && stats.logs_used_bytes == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > INPUT_MAX) return 0;
  if (size >= 4 && memcmp(data, "hex:", 4) == 0) {
    file_len = read_hex(data + 4, size - 4, file);
  } else {
    memcpy(file, data, size);
    file_len = size;
  }
  fix_checksums();

  laju_table *table = new_table(LAJU_TABLE_MEMORY_MIN);
  int64_t taken_us = -1;
  char why[LAJU_TEXT_SIZE] = "";
  laju_buffer rider = {0};
  int error = laju_snapshot_decode(table, file, file_len, &taken_us, &rider, why);
  demand(rider.len <= file_len);
  laju_buffer_deinit(&rider);
  if (error == 0) {
    demand(taken_us >= 0 && taken_us <= LAJU_TIME_MAX_US && why[0] == '\0');
    laju_table_sweep(table, 0, 8, taken_us);
    use(table, taken_us);
  } else {
    laju_table_stats stats;
    laju_table_stats_read(table, &stats);
    demand(stats.keys == 0 && why[0] != '\0');
  }
  laju_table_free(table);
  return 0;
}
