#include "proto/digest.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void is(const char *text, const char *expected) {
  unsigned char digest[LAJU_DIGEST_SIZE];
  char hex[2 * LAJU_DIGEST_SIZE + 1];
  assert_true(laju_digest(digest, text, strlen(text)));
  for (size_t i = 0; i < sizeof digest; i++) snprintf(hex + 2 * i, 3, "%02x", digest[i]);
  assert_string_equal(hex, expected);
}

#define OF_NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define OF_ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static void one_after_another_is_the_standards(void **state) {
  (void)state;
  is("abc", OF_ABC);
  is("", OF_NOTHING);
  is("abc", OF_ABC);
}

static void *elsewhere(void *argument) {
  (void)argument;
  is("abc", OF_ABC);
  return NULL;
}

static void each_thread_has_its_own(void **state) {
  (void)state;
  pthread_t threads[4];
  for (size_t i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, elsewhere, NULL), 0);
  for (size_t i = 0; i < 4; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_after_another_is_the_standards),
      cmocka_unit_test(each_thread_has_its_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
