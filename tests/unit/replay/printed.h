/* What a function has put into a buffer, for tests of texts. */
#ifndef LAJU_TESTS_PRINTED_H
#define LAJU_TESTS_PRINTED_H

#include "base/buffer.h"

static laju_buffer printed;

/* The buffer must hold exactly this; it is then emptied. */
static inline void printed_is(const char *text) {
  laju_buffer_add(&printed, "", 1);
  assert_string_equal(printed.data, text);
  laju_buffer_deinit(&printed);
}

#endif
