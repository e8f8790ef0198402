/* Measures the table on keys that stand in it: table_bench KEYS FILE, the keys of FILE (bench/table/stream.c) in their order.
 *
 * Prints lines `table KEYS WAY THREADS NS`, the time of a decision on one core; `bare KEYS THREADS NS`, that of an
 * independent random read-modify-write over as much memory; `space KEYS BYTES LOAD EVICTED`. A decision's time takes in
 * reading the key's text, its hash, and filling in the check; the texts lie in the order of use, so that fetching them costs
 * the table no more than it costs a server that has just parsed them. Time is an argument, and moves on a microsecond a
 * call. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "table/table.h"

#define KEY_LEN 12 /* user:1234567 */
#define BATCH 16
#define START_US INT64_C(1700000000000000)
#define PART ((size_t)8192) /* decisions that are timed together */
#define PARTS 800
#define THREADS_MAX 2

typedef struct bench {
  laju_table *table;
  laju_rule rule;
  const char *texts;
  size_t count;      /* texts */
  uint64_t *words;   /* for the bare cost */
  size_t word_count; /* a power of two */
} bench;

typedef struct job {
  const bench *b;
  void (*work)(const bench *b, size_t from, size_t count, int64_t *now_us);
  unsigned number, threads;
  pthread_barrier_t *start;
  double ns; /* a decision */
} job;

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static laju_check check_at(const bench *b, size_t i) {
  return (laju_check){.rule = &b->rule, .key = b->texts + i * KEY_LEN, .key_len = KEY_LEN, .cost = 1};
}

static void one_at_a_time(const bench *b, size_t from, size_t count, int64_t *now_us) {
  for (size_t i = from; i < from + count; i++) {
    laju_check check = check_at(b, i);
    laju_decision decision;
    laju_table_decide_all(b->table, &check, 1, (*now_us)++, &decision);
  }
}

static void in_batches(const bench *b, size_t from, size_t count, int64_t *now_us) {
  for (size_t i = from; i < from + count; i += BATCH) {
    laju_check checks[BATCH];
    laju_decision decisions[BATCH];
    for (size_t j = 0; j < BATCH; j++) checks[j] = check_at(b, i + j);
    laju_table_decide_each(b->table, checks, BATCH, (*now_us)++, decisions);
  }
}

static void bare(const bench *b, size_t from, size_t count, int64_t *now_us) {
  uint64_t x = from * 2 + 1;
  for (size_t i = 0; i < count; i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    b->words[x & (b->word_count - 1)] += (uint64_t)*now_us;
  }
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Goes round the texts; each thread begins elsewhere. Of the parts' times the lower quartile is told, in processor time of
 * the thread, so that what else the machine does counts for little. */
static void *run_job(void *argument) {
  job *j = argument;
  size_t at = j->b->count / j->threads * j->number / PART * PART;
  double parts[PARTS];
  int64_t now_us = START_US;
  pthread_barrier_wait(j->start);
  for (size_t i = 0; i < PARTS; i++) {
    double began = now_ns();
    j->work(j->b, at, PART, &now_us);
    parts[i] = (now_ns() - began) / PART;
    at = at + 2 * PART <= j->b->count ? at + PART : 0;
  }
  qsort(parts, PARTS, sizeof *parts, compare);
  j->ns = parts[PARTS / 4];
  return NULL;
}

static double measure(const bench *b, void (*work)(const bench *, size_t, size_t, int64_t *), unsigned threads) {
  pthread_t ids[THREADS_MAX];
  job jobs[THREADS_MAX];
  pthread_barrier_t start;
  pthread_barrier_init(&start, NULL, threads);
  for (unsigned i = 0; i < threads; i++) {
    jobs[i] = (job){.b = b, .work = work, .number = i, .threads = threads, .start = &start};
    pthread_create(&ids[i], NULL, run_job, &jobs[i]);
  }
  double sum = 0;
  for (unsigned i = 0; i < threads; i++) {
    pthread_join(ids[i], NULL);
    sum += jobs[i].ns;
  }
  pthread_barrier_destroy(&start);
  return sum / threads;
}

/* The file's lines, without their ends, one after another. */
static char *read_texts(const char *path, size_t *count) {
  FILE *file = fopen(path, "r");
  if (file == NULL) return NULL;
  size_t room = 1 << 20, used = 0;
  char *texts = malloc(room * KEY_LEN), line[64];
  while (texts != NULL && fgets(line, sizeof line, file) != NULL) {
    if (used == room) texts = realloc(texts, (room *= 2) * KEY_LEN);
    if (texts != NULL) memcpy(texts + used++ * KEY_LEN, line, KEY_LEN);
  }
  fclose(file);
  *count = used;
  return texts;
}

/* A table that these keys fill to 80 % (the smallest, where they are few), with as little for logs as can be. */
static laju_table *new_table(uint64_t keys) {
  laju_table_options options = {.memory_bytes = keys * 32 + (1u << 20), .logs_bytes = 1};
  laju_table *table;
  return laju_table_new(&table, &options) == 0 ? table : NULL;
}

static void fill(bench *b, unsigned keys) {
  for (unsigned k = 0; k < keys; k++) {
    char text[KEY_LEN + 1];
    snprintf(text, sizeof text, "user:%07u", k % 10000000);
    laju_check check = {.rule = &b->rule, .key = text, .key_len = KEY_LEN, .cost = 1};
    laju_decision decision;
    laju_table_decide_all(b->table, &check, 1, START_US, &decision);
  }
}

int main(int argc, char **argv) {
  if (argc != 3) return fprintf(stderr, "usage: table_bench KEYS FILE\n"), 2;
  unsigned keys = (unsigned)strtoul(argv[1], NULL, 10);
  bench b = {.table = new_table(keys)};
  b.texts = read_texts(argv[2], &b.count);
  if (b.table == NULL || b.texts == NULL || b.count < 32768) return fprintf(stderr, "no table, or no keys\n"), 1;
  laju_rule_init(&b.rule, "api", 3, LAJU_TOKEN_BUCKET, 1000, 1000000, 0);
  fill(&b, keys);

  laju_table_stats stats;
  laju_table_stats_read(b.table, &stats);
  double bytes = (double)stats.slots / 5 * 128;
  printf("space %u %.1f %.2f %llu\n", keys, bytes / (double)stats.keys, (double)stats.keys / (double)stats.slots,
         (unsigned long long)(stats.evicted_fresh + stats.evicted_used));
  for (b.word_count = 1; (double)b.word_count * 16 <= bytes;) b.word_count *= 2;
  b.words = calloc(b.word_count, sizeof *b.words);
  if (b.words == NULL) return 1;
  memset(b.words, 1, b.word_count * sizeof *b.words);
  for (unsigned threads = 1; threads <= THREADS_MAX; threads++) {
    printf("table %u one %u %.1f\n", keys, threads, measure(&b, one_at_a_time, threads));
    printf("table %u batch %u %.1f\n", keys, threads, measure(&b, in_batches, threads));
    printf("bare %u - %u %.1f\n", keys, threads, measure(&b, bare, threads));
  }
  return 0;
}
