#include "redis/replies.h"

#include <laju/laju.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE (16 << 10)
#define BUFFER_KEPT (256 << 10) /* of hiredis' input buffer, once it is empty */
#define MEMORY_KEPT (1 << 20)
#define ELEMENT_BYTES 3 /* the least that an element of an array takes on the wire: "+\r\n" */

struct laju_reply_block {
  laju_reply_block *next;
  size_t used, size;
  _Alignas(max_align_t) char bytes[];
};

/* ---- memory ---- */

static laju_reply_block *add_block(laju_replies *r, size_t least) {
  laju_reply_block *block = r->spare;
  if (block != NULL && block->size >= least) {
    r->spare = block->next;
  } else {
    size_t size = least > BLOCK_SIZE ? least : BLOCK_SIZE;
    if (size > LAJU_REPLIES_MEMORY_MAX - r->memory) return NULL;
    block = malloc(sizeof *block + size);
    if (block == NULL) return NULL;
    block->size = size;
    r->memory += size;
  }
  block->used = 0;
  block->next = r->blocks;
  r->blocks = block;
  return block;
}

static void *take(laju_replies *r, size_t size) {
  size = (size + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *);
  laju_reply_block *block = r->blocks;
  if (block == NULL || block->size - block->used < size) block = add_block(r, size);
  if (block == NULL) return NULL;
  void *at = block->bytes + block->used;
  block->used += size;
  return at;
}

static void free_blocks(laju_replies *r, laju_reply_block **list) {
  while (*list != NULL) {
    laju_reply_block *block = *list;
    *list = block->next;
    r->memory -= block->size;
    free(block);
  }
}

/* All that was taken is free again. After a large reply the memory goes back. */
static void reset(laju_replies *r) {
  if (r->memory > MEMORY_KEPT) {
    free_blocks(r, &r->blocks);
    free_blocks(r, &r->spare);
  }
  while (r->blocks != NULL) {
    laju_reply_block *block = r->blocks;
    r->blocks = block->next;
    block->next = r->spare;
    r->spare = block;
  }
}

/* ---- what hiredis calls ---- */

static redisReply *make(const redisReadTask *task) {
  redisReply *reply = take(task->privdata, sizeof *reply);
  if (reply == NULL) return NULL;
  *reply = (redisReply){.type = task->type};
  if (task->parent != NULL) {
    redisReply *array = task->parent->obj;
    array->element[task->idx] = reply;
  }
  return reply;
}

static void *make_string(const redisReadTask *task, char *bytes, size_t len) {
  char *copy = take(task->privdata, len + 1);
  redisReply *reply = copy != NULL ? make(task) : NULL;
  if (reply == NULL) return NULL;
  memcpy(copy, bytes, len);
  copy[len] = '\0';
  reply->str = copy;
  reply->len = len;
  return reply;
}

/* Its elements are announced, and come later or not at all: none are believed that a reply could not hold. */
static void *make_array(const redisReadTask *task, int elements) {
  if (elements < 0 || elements > LAJU_REPLIES_BYTES_MAX / ELEMENT_BYTES) return NULL;
  redisReply *reply = make(task);
  if (reply == NULL || elements == 0) return reply;
  reply->element = take(task->privdata, (size_t)elements * sizeof *reply->element);
  if (reply->element == NULL) return NULL;
  memset(reply->element, 0, (size_t)elements * sizeof *reply->element);
  reply->elements = (size_t)elements;
  return reply;
}

static void *make_integer(const redisReadTask *task, long long value) {
  redisReply *reply = make(task);
  if (reply != NULL) reply->integer = value;
  return reply;
}

static void *make_nil(const redisReadTask *task) {
  redisReply *reply = make(task);
  if (reply != NULL) reply->type = REDIS_REPLY_NIL; /* the task is that of a string, or of an array */
  return reply;
}

static void free_nothing(void *reply) {
  (void)reply; /* the blocks are freed as a whole */
}

/* ---- reading ---- */

int laju_replies_init(laju_replies *out) {
  static redisReplyObjectFunctions functions = {make_string, make_array, make_integer, make_nil, free_nothing};
  *out = (laju_replies){.reader = redisReaderCreateWithFunctions(&functions)};
  if (out->reader == NULL) return LAJU_ERR_MEMORY;
  out->reader->privdata = out;
  out->reader->maxbuf = BUFFER_KEPT;
  return 0;
}

void laju_replies_deinit(laju_replies *r) {
  if (r->reader != NULL) redisReaderFree(r->reader);
  r->reader = NULL;
  free_blocks(r, &r->blocks);
  free_blocks(r, &r->spare);
}

static void recycle(laju_replies *r) {
  if (r->given) reset(r);
  r->given = false;
}

bool laju_replies_feed(laju_replies *r, const char *bytes, size_t len) {
  recycle(r);
  r->bytes += len;
  return redisReaderFeed(r->reader, bytes, len) == REDIS_OK;
}

int laju_replies_next(laju_replies *r, const redisReply **out) {
  recycle(r);
  void *reply = NULL;
  if (r->bytes == 0) return 0;
  if (redisReaderGetReply(r->reader, &reply) != REDIS_OK) return -1;
  if (reply == NULL) return r->bytes <= LAJU_REPLIES_BYTES_MAX ? 0 : -1;
  r->bytes = r->reader->len - r->reader->pos;
  r->given = true;
  *out = reply;
  return 1;
}

const char *laju_replies_why(const laju_replies *r) {
  bool refused = r->reader->err == 0 || r->reader->err == REDIS_ERR_OOM; /* OOM: what take did not give */
  return refused ? "a reply that is larger than laju reads" : r->reader->errstr;
}
