#include "redis/pieces.h"

#include <stdlib.h>

#define FIRST_SIZE 16
#define SIZE_MAX_PIECES (UINT32_C(1) << 30)

void laju_pieces_deinit(laju_pieces *pieces) {
  free(pieces->ring);
  *pieces = (laju_pieces){0};
}

static laju_piece *at(const laju_pieces *pieces, uint32_t place) {
  return &pieces->ring[(pieces->first + place) & (pieces->size - 1)];
}

static bool grow(laju_pieces *pieces) {
  uint32_t size = pieces->size > 0 ? 2 * pieces->size : FIRST_SIZE;
  if (size > SIZE_MAX_PIECES) return false;
  laju_piece *ring = malloc(size * sizeof *ring);
  if (ring == NULL) return false;
  for (uint32_t i = 0; i < pieces->count; i++) ring[i] = *at(pieces, i);
  free(pieces->ring);
  *pieces = (laju_pieces){.ring = ring, .count = pieces->count, .size = size};
  return true;
}

bool laju_pieces_push(laju_pieces *pieces, const laju_piece *piece) {
  if (pieces->count == pieces->size && !grow(pieces)) return false;
  *at(pieces, pieces->count++) = *piece;
  return true;
}

laju_piece *laju_pieces_first(laju_pieces *pieces) {
  return pieces->count > 0 ? at(pieces, 0) : NULL;
}

laju_piece *laju_pieces_last(laju_pieces *pieces) {
  return pieces->count > 0 ? at(pieces, pieces->count - 1) : NULL;
}

void laju_pieces_pop(laju_pieces *pieces) {
  pieces->first = (pieces->first + 1) & (pieces->size - 1);
  pieces->count--;
}
