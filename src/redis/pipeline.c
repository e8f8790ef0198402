#include "redis/pipeline.h"

#include <string.h>

#define OUT_KEPT (256 << 10)

void laju_pipeline_deinit(laju_pipeline *p) {
  laju_buffer_deinit(&p->out);
}

void laju_pipeline_forget(laju_pipeline *p) {
  p->out.len = (size_t)(p->added - p->base);
  p->out.failed = false;
}

bool laju_pipeline_add(laju_pipeline *p, laju_link_command *command) {
  if (p->out.failed) {
    laju_pipeline_forget(p);
    return false;
  }
  uint64_t start = p->added;
  p->added = p->base + p->out.len;
  if (command == NULL) return true;
  command->start = start;
  command->end = p->added;
  command->awaited = command->replies;
  command->next = NULL;
  if (p->last != NULL) {
    p->last->next = command;
  } else {
    p->first = command;
  }
  p->last = command;
  p->count++;
  return true;
}

void laju_pipeline_commit(laju_pipeline *p, size_t len) {
  uint64_t place = p->base + p->sent + len;
  if (p->committed < place) p->committed = place;
}

void laju_pipeline_sent(laju_pipeline *p, size_t len) {
  laju_pipeline_commit(p, len);
  p->sent += len;
  if (p->sent < p->out.len) return;
  p->base += p->out.len;
  p->sent = 0;
  laju_buffer_clear(&p->out);
}

laju_link_command *laju_pipeline_take(laju_pipeline *p) {
  laju_link_command *command = p->first;
  if (--command->awaited > 0) return NULL;
  p->first = command->next;
  if (p->first == NULL) p->last = NULL;
  p->count--;
  return command;
}

static void finish(laju_link_command *command, uint64_t committed) {
  while (command != NULL) {
    laju_link_command *next = command->next;
    command->done(command, command->start < committed ? LAJU_LINK_LOST : LAJU_LINK_UNSENT, NULL);
    command = next;
  }
}

/* Moves a command's bytes up, over those that were taken out before it. */
static void move_up(laju_pipeline *p, laju_link_command *command, uint64_t gap) {
  char *start = p->out.data + (command->start - p->base);
  memmove(start - gap, start, command->end - command->start);
  command->start -= gap;
  command->end -= gap;
}

void laju_pipeline_drop_late(laju_pipeline *p, int64_t now_us) {
  laju_link_command **at = &p->first, *dropped = NULL, **last_dropped = &dropped;
  uint64_t gap = 0;
  p->last = NULL;
  while (*at != NULL) {
    laju_link_command *command = *at;
    bool must_leave = command->start < p->committed;
    if (must_leave || command->deadline_us >= now_us) {
      if (!must_leave) move_up(p, command, gap);
      p->last = command;
      at = &command->next;
      continue;
    }
    gap += command->end - command->start;
    p->count--;
    *at = command->next;
    *last_dropped = command;
    last_dropped = &command->next;
    command->next = NULL;
  }
  p->out.len -= gap;
  p->added -= gap;
  finish(dropped, 0);
}

void laju_pipeline_cut(laju_pipeline *p) {
  laju_link_command *first = p->first;
  uint64_t committed = p->committed;
  laju_buffer out = p->out;
  if (out.cap > OUT_KEPT) laju_buffer_deinit(&out);
  laju_buffer_clear(&out);
  *p = (laju_pipeline){.out = out};
  finish(first, committed);
}
