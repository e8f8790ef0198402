/* A table of texts, aligned in columns, that fits a width: one column gives way where the others leave it too little.
 *
 *     laju_grid grid = {.columns = 3, .right = 1 << 2, .flexible = 1};
 *     laju_grid_cell(&grid), then add the cell's text to grid.text; row by row, the titles first
 *     laju_grid_print(&grid, 80, &out); laju_grid_deinit(&grid);
 */
#ifndef LAJU_REPLAY_GRID_H
#define LAJU_REPLAY_GRID_H

#include "base/buffer.h"

#define LAJU_GRID_COLUMNS_MAX 8
#define LAJU_GRID_FLEXIBLE_MIN 12 /* columns of a terminal that it keeps in any case */

typedef struct laju_grid {
  size_t columns;
  unsigned right;   /* bit i: column i is flush right */
  size_t flexible;  /* the one that is cut */
  laju_buffer text; /* of all cells */
  laju_buffer ends; /* where each ends: a size_t each */
  size_t cells;
} laju_grid;

/* Begins the next cell; what is added to `text` from here on is its text. */
void laju_grid_cell(laju_grid *grid);

/* Lines of at most `width` columns (0: as many as it takes), where the flexible one can make that true. */
void laju_grid_print(laju_grid *grid, size_t width, laju_buffer *to);

void laju_grid_deinit(laju_grid *grid);

#endif
