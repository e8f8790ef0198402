/* The page (the simulator and what goes with it) as the build embedded it: its files, whole, in read-only memory. Plain data;
 * any thread.
 *
 * The page is made for this Content-Security-Policy, and needs nothing of another host:
 *
 *     default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; connect-src 'self'
 */
#ifndef LAJU_SERVER_PAGE_H
#define LAJU_SERVER_PAGE_H

#include <stddef.h>

typedef struct laju_page_file {
  const char *path; /* "/index.html", "/app.js", ...: begins with a slash; what answers "/" is "/index.html" */
  const char *type; /* the value of Content-Type */
  const unsigned char *bytes;
  size_t len;
  const char *etag; /* as the header has it, in quotes; changes with the bytes */
} laju_page_file;

extern const laju_page_file laju_page_files[];
extern const size_t laju_page_file_count; /* 0 where laju was built without its page (cmake/Page.cmake) */

#endif
