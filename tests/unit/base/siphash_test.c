/* SipHash-1-3 with 128 bits has no widely published vectors, but 2-4 has: so the tests carry a plain implementation whose
 * rounds are arguments, hold it to the published vectors at 2-4, and hold laju's to it at 1-3. */
#include "base/siphash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define KEY_LO UINT64_C(0x0706050403020100) /* the bytes 00 01 .. 0f */
#define KEY_HI UINT64_C(0x0f0e0d0c0b0a0908)

static uint64_t left(uint64_t x, unsigned bits) {
  return x << bits | x >> (64 - bits);
}

static void plain_rounds(uint64_t v[4], int rounds) {
  for (int i = 0; i < rounds; i++) {
    v[0] += v[1], v[2] += v[3];
    v[1] = left(v[1], 13) ^ v[0], v[3] = left(v[3], 16) ^ v[2];
    v[0] = left(v[0], 32);
    v[2] += v[1], v[0] += v[3];
    v[1] = left(v[1], 17) ^ v[2], v[3] = left(v[3], 21) ^ v[0];
    v[2] = left(v[2], 32);
  }
}

/* Byte by byte, as the paper tells it: the message, padded with zeros, its last byte its length. */
static void plain_siphash(int c, int d, const unsigned char *data, size_t len, unsigned char out[16]) {
  uint64_t v[4] = {UINT64_C(0x736f6d6570736575) ^ KEY_LO, UINT64_C(0x646f72616e646f6d) ^ KEY_HI ^ 0xee,
                   UINT64_C(0x6c7967656e657261) ^ KEY_LO, UINT64_C(0x7465646279746573) ^ KEY_HI};
  size_t padded = len / 8 * 8 + 8;
  uint64_t word = 0;
  for (size_t i = 0; i < padded; i++) {
    unsigned byte = i < len ? data[i] : i == padded - 1 ? (unsigned)len & 0xff : 0;
    word |= (uint64_t)byte << i % 8 * 8;
    if (i % 8 < 7) continue;
    v[3] ^= word;
    plain_rounds(v, c);
    v[0] ^= word;
    word = 0;
  }
  v[2] ^= 0xee;
  plain_rounds(v, d);
  uint64_t lo = v[0] ^ v[1] ^ v[2] ^ v[3];
  v[1] ^= 0xdd;
  plain_rounds(v, d);
  uint64_t hi = v[0] ^ v[1] ^ v[2] ^ v[3];
  for (unsigned i = 0; i < 8; i++) out[i] = (unsigned char)(lo >> 8 * i), out[8 + i] = (unsigned char)(hi >> 8 * i);
}

static void counting(unsigned char *data, size_t len) {
  for (size_t i = 0; i < len; i++) data[i] = (unsigned char)i;
}

static void expect_published(size_t len, const char *hex) {
  unsigned char data[64] = {0}, hash[16];
  char text[33];
  counting(data, len);
  plain_siphash(2, 4, data, len, hash);
  for (size_t i = 0; i < 16; i++) snprintf(text + 2 * i, 3, "%02x", hash[i]);
  assert_string_equal(text, hex);
}

static void the_plain_implementation_keeps_the_published_vectors(void **state) {
  (void)state;
  expect_published(0, "a3817f04ba25a8e66df67214c7550293");
  expect_published(1, "da87c1d86b99af44347659119b22fc45");
  expect_published(7, "a1f1ebbed8dbc153c0b84aa61ff08239");
  expect_published(8, "3b62a9ba6258f5610f83e264f31497b4");
  expect_published(15, "5493e99933b0a8117e08ec0f97cfc3d9");
  expect_published(16, "6ee2a4ca67b054bbfd3315bf85230577");
  expect_published(63, "5150d1772f50834a503e069a973fbd7c");
}

static void laju_s_is_the_same_with_one_and_three_rounds(void **state) {
  (void)state;
  unsigned char data[1025], hash[16];
  counting(data, sizeof data);
  for (size_t len = 0; len <= sizeof data; len++) {
    plain_siphash(1, 3, data, len, hash);
    laju_hash got = laju_siphash(KEY_LO, KEY_HI, data, len);
    assert_memory_equal(&got, hash, sizeof hash);
  }
}

static void a_prefix_is_as_if_joined(void **state) {
  (void)state;
  unsigned char joined[16 + 40];
  counting(joined, sizeof joined);
  uint64_t prefix[2];
  memcpy(prefix, joined, sizeof prefix);
  for (size_t len = 0; len <= 40; len++) {
    laju_hash whole = laju_siphash(KEY_LO, KEY_HI, joined, 16 + len);
    laju_hash parts = laju_siphash_prefixed(KEY_LO, KEY_HI, prefix, joined + 16, len);
    assert_memory_equal(&whole, &parts, sizeof whole);
  }
}

static void every_bit_of_key_and_data_matters(void **state) {
  (void)state;
  unsigned char data[19] = "nineteen bytes long";
  laju_hash first = laju_siphash(1, 2, data, sizeof data);
  for (size_t bit = 0; bit < 64; bit++) {
    laju_hash lo = laju_siphash(1 ^ UINT64_C(1) << bit, 2, data, sizeof data);
    laju_hash hi = laju_siphash(1, 2 ^ UINT64_C(1) << bit, data, sizeof data);
    assert_true(lo.lo != first.lo && lo.hi != first.hi);
    assert_true(hi.lo != first.lo && hi.hi != first.hi);
  }
  for (size_t bit = 0; bit < 8 * sizeof data; bit++) {
    data[bit / 8] ^= (unsigned char)(1 << bit % 8);
    laju_hash changed = laju_siphash(1, 2, data, sizeof data);
    assert_true(changed.lo != first.lo && changed.hi != first.hi);
    data[bit / 8] ^= (unsigned char)(1 << bit % 8);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_plain_implementation_keeps_the_published_vectors),
      cmocka_unit_test(laju_s_is_the_same_with_one_and_three_rounds),
      cmocka_unit_test(a_prefix_is_as_if_joined),
      cmocka_unit_test(every_bit_of_key_and_data_matters),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
