#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/siphash_many.h"

#define MANY 23

static void many_hashes_are_those_of_one_by_one(void **unused) {
  (void)unused;
  unsigned char data[MANY][128];
  uint64_t prefixes[MANY][2];
  laju_siphash_input inputs[MANY];
  laju_hash hashes[MANY];
  uint64_t random = 5;
  for (int round = 0; round < 4000; round++) {
    size_t longest = (size_t)round % 100 + 1, count = (size_t)round % (MANY + 1);
    for (size_t i = 0; i < count; i++) {
      for (size_t j = 0; j < sizeof data[i]; j++)
        data[i][j] = (unsigned char)(random = random * 6364136223846793005u + 1);
      prefixes[i][0] = random;
      prefixes[i][1] = ~random;
      /* All of one length, all of nearly one, of any length. */
      size_t len = round % 3 == 0 ? longest : round % 3 == 1 ? longest + i % 9 : (random >> 40) % longest;
      inputs[i] = (laju_siphash_input){.prefix = prefixes[i], .data = data[i], .len = len};
    }
    laju_siphash_many(11, random, inputs, count, hashes);
    for (size_t i = 0; i < count; i++) {
      laju_hash one = laju_siphash_prefixed(11, random, prefixes[i], data[i], inputs[i].len);
      assert_int_equal(hashes[i].lo, one.lo);
      assert_int_equal(hashes[i].hi, one.hi);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(many_hashes_are_those_of_one_by_one)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
