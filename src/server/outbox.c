#include "server/outbox.h"

#include <string.h>

void laju_outbox_deinit(laju_outbox *outbox) {
  laju_buffer_deinit(&outbox->bytes);
}

bool laju_outbox_put(laju_outbox *outbox, struct laju_connection *connection, const char *bytes, size_t len) {
  if (outbox->count == LAJU_OUTBOX_MAX || len > LAJU_OUTBOX_BYTES - outbox->bytes.len) return false;
  char *to = laju_buffer_reserve(&outbox->bytes, len);
  if (to == NULL) {
    outbox->bytes.failed = false; /* what is in it is whole */
    return false;
  }
  memcpy(to, bytes, len);
  outbox->bytes.len += len;
  outbox->entries[outbox->count++] = (laju_outbox_entry){.connection = connection, .len = len};
  return true;
}

struct laju_connection *laju_outbox_take(laju_outbox *outbox, char **bytes, size_t *len) {
  while (outbox->taken < outbox->count) {
    laju_outbox_entry entry = outbox->entries[outbox->taken++];
    *bytes = outbox->bytes.data + outbox->taken_len;
    *len = entry.len;
    outbox->taken_len += entry.len;
    if (entry.connection != NULL) return entry.connection;
  }
  outbox->count = outbox->taken = outbox->taken_len = 0;
  laju_buffer_clear(&outbox->bytes);
  return NULL;
}

void laju_outbox_drop(laju_outbox *outbox, const struct laju_connection *connection) {
  for (size_t i = outbox->taken; i < outbox->count; i++) {
    if (outbox->entries[i].connection == connection) outbox->entries[i].connection = NULL;
  }
}
