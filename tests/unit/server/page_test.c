#include "server/page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const laju_page_file *find(const char *path) {
  for (size_t i = 0; i < laju_page_file_count; i++) {
    if (strcmp(laju_page_files[i].path, path) == 0) return &laju_page_files[i];
  }
  return NULL;
}

static void needs_the_page(void) {
  if (laju_page_file_count == 0) skip();
}

static void all_that_index_html_names_is_there(void **unused) {
  (void)unused;
  needs_the_page();
  const laju_page_file *index = find("/index.html");
  assert_non_null(index);
  assert_string_equal(index->type, "text/html; charset=utf-8");
  const char *named[] = {"app.css", "app.js"};
  for (size_t i = 0; i < 2; i++) {
    assert_non_null(memmem(index->bytes, index->len, named[i], strlen(named[i])));
  }
  assert_string_equal(find("/app.css")->type, "text/css; charset=utf-8");
  assert_string_equal(find("/app.js")->type, "text/javascript; charset=utf-8");
}

static void the_law_is_a_webassembly_module(void **unused) {
  (void)unused;
  needs_the_page();
  const laju_page_file *law = find("/sim.wasm");
  assert_non_null(law);
  assert_string_equal(law->type, "application/wasm");
  assert_memory_equal(law->bytes, "\0asm", 4);
}

static void no_file_is_empty_and_each_etag_is_its_own_and_quoted(void **unused) {
  (void)unused;
  needs_the_page();
  for (size_t i = 0; i < laju_page_file_count; i++) {
    const laju_page_file *file = &laju_page_files[i];
    assert_true(file->len > 0 && file->path[0] == '/' && file->type[0] != '\0');
    assert_int_equal(strlen(file->etag), 18);
    assert_true(file->etag[0] == '"' && file->etag[17] == '"');
    for (size_t k = 0; k < i; k++) assert_string_not_equal(file->etag, laju_page_files[k].etag);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_that_index_html_names_is_there),
      cmocka_unit_test(the_law_is_a_webassembly_module),
      cmocka_unit_test(no_file_is_empty_and_each_etag_is_its_own_and_quoted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
