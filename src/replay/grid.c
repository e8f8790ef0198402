#include "replay/grid.h"

#include <string.h>

#include "base/slice.h"
#include "replay/text.h"

#define GAP 2
#define DOTS 3 /* "...", where a text is cut */

void laju_grid_cell(laju_grid *grid) {
  if (grid->cells++ > 0) laju_buffer_add(&grid->ends, &grid->text.len, sizeof grid->text.len);
}

void laju_grid_deinit(laju_grid *grid) {
  laju_buffer_deinit(&grid->text);
  laju_buffer_deinit(&grid->ends);
}

static size_t end_of(const laju_grid *grid, size_t cell) {
  size_t end;
  if (cell + 1 >= grid->cells) return grid->text.len;
  memcpy(&end, grid->ends.data + cell * sizeof end, sizeof end);
  return end;
}

static laju_slice cell_at(const laju_grid *grid, size_t cell) {
  size_t begin = cell > 0 ? end_of(grid, cell - 1) : 0;
  return (laju_slice){grid->text.data + begin, end_of(grid, cell) - begin};
}

static void measure(const laju_grid *grid, size_t width, size_t widths[LAJU_GRID_COLUMNS_MAX]) {
  size_t all = 0;
  for (size_t i = 0; i < grid->cells; i++) {
    laju_slice cell = cell_at(grid, i);
    size_t own = laju_text_width(cell.at, cell.len), *column = &widths[i % grid->columns];
    if (own > *column) *column = own;
  }
  for (size_t i = 0; i < grid->columns; i++) all += widths[i] + (i > 0 ? GAP : 0);
  size_t *flexible = &widths[grid->flexible];
  if (width == 0 || all <= width || *flexible <= LAJU_GRID_FLEXIBLE_MIN) return;
  size_t over = all - width, spare = *flexible - LAJU_GRID_FLEXIBLE_MIN;
  *flexible -= over < spare ? over : spare;
}

static void add_spaces(laju_buffer *to, size_t count) {
  for (; count > 0; count--) laju_buffer_add_text(to, " ");
}

/* The cell in `width` columns. Nothing is put behind the last of a row. */
static void add_cell(const laju_grid *grid, size_t column, laju_slice cell, size_t width, laju_buffer *to) {
  size_t own = laju_text_width(cell.at, cell.len);
  bool right = (grid->right >> column & 1) != 0, last = column + 1 == grid->columns;
  if (right && own < width) add_spaces(to, width - own);
  if (own > width) {
    size_t len = 0;
    for (size_t shown = 0; len < cell.len; len++) {
      if (((unsigned char)cell.at[len] & 0xc0) != 0x80 && shown++ == width - DOTS) break;
    }
    cell.len = len;
  }
  laju_buffer_add(to, cell.at, cell.len);
  if (own > width) laju_buffer_add_text(to, "...");
  if (!right && !last && own < width) add_spaces(to, width - own);
  laju_buffer_add_text(to, last ? "\n" : "  ");
}

void laju_grid_print(laju_grid *grid, size_t width, laju_buffer *to) {
  size_t widths[LAJU_GRID_COLUMNS_MAX] = {0};
  to->failed = to->failed || grid->text.failed || grid->ends.failed;
  if (to->failed) return;
  measure(grid, width, widths);
  for (size_t i = 0; i < grid->cells; i++) {
    size_t column = i % grid->columns;
    add_cell(grid, column, cell_at(grid, i), widths[column], to);
  }
}
