/* Inside `redis`: a queue of pieces of requests, which wait to be sent to one server.
 *
 * A piece is one or several runs of a request's asks, or a command. It names its owner by slot and generation (redis/slots.h), so
 * one whose owner has been answered meanwhile is just skipped. A ring that grows; the store bounds what is in it.
 */
#ifndef LAJU_REDIS_PIECES_H
#define LAJU_REDIS_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct laju_piece {
  uint64_t slot;
  uint16_t from, count; /* of the request's asks; 0 of a command */
  uint16_t width;       /* integers that the reply to them holds, once they are sent */
  uint8_t hops;         /* how often it was sent elsewhere, or again behind SCRIPT LOAD */
  bool asking;          /* with ASKING before it */
} laju_piece;

typedef struct laju_pieces {
  laju_piece *ring;
  uint32_t first, count, size; /* `size` is a power of two, or 0 */
} laju_pieces;                 /* all zeros is empty */

void laju_pieces_deinit(laju_pieces *pieces);

/* False: no memory. */
bool laju_pieces_push(laju_pieces *pieces, const laju_piece *piece);

/* The first and the last, or NULL; they may be changed in place. Good until the next push. */
laju_piece *laju_pieces_first(laju_pieces *pieces);
laju_piece *laju_pieces_last(laju_pieces *pieces);

/* Not on an empty one. */
void laju_pieces_pop(laju_pieces *pieces);

#endif
