/* Inside `redis`: a queue of pieces of requests, which wait to be sent to one server.
 *
 * A piece is a run of a request's asks, or a command. It names its request by slot and generation (redis/slots.h), so one whose
 * request has been answered meanwhile is just skipped. A ring that grows; it never holds more than the store lets in.
 */
#ifndef LAJU_REDIS_PIECES_H
#define LAJU_REDIS_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct laju_piece {
  uint64_t slot;
  uint16_t from, count; /* of the request's asks */
  bool asking;
} laju_piece;

typedef struct laju_pieces {
  laju_piece *ring;
  uint32_t first, count, size; /* `size` is a power of two, or 0 */
} laju_pieces;                 /* all zeros is empty */

void laju_pieces_deinit(laju_pieces *pieces);

/* False: no memory. */
bool laju_pieces_push(laju_pieces *pieces, const laju_piece *piece);

/* The first, or NULL; it may be changed in place. Good until the next push. */
laju_piece *laju_pieces_first(laju_pieces *pieces);
void laju_pieces_pop(laju_pieces *pieces);

#endif
