/* Decisions are compared member by member: between them lie bytes that mean nothing. */
#ifndef LAJU_TESTS_DECISIONS_H
#define LAJU_TESTS_DECISIONS_H

#include <laju/laju.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static inline void assert_same_decision(const laju_decision *a, const laju_decision *b) {
  assert_int_equal(a->retry_after_us, b->retry_after_us);
  assert_int_equal(a->more_after_us, b->more_after_us);
  assert_int_equal(a->reset_after_us, b->reset_after_us);
  assert_int_equal(a->delay_us, b->delay_us);
  assert_int_equal(a->limit, b->limit);
  assert_int_equal(a->remaining, b->remaining);
  assert_int_equal(a->allowed, b->allowed);
  assert_int_equal(a->basis, b->basis);
}

#endif
