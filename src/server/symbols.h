/* Names for addresses of this program's own code, static functions included, from the symbol table in its file: for the
 * stack of a crash. Nothing here does what a signal handler may not. Any thread. */
#ifndef LAJU_SERVER_SYMBOLS_H
#define LAJU_SERVER_SYMBOLS_H

#include <link.h>
#include <stddef.h>
#include <stdint.h>

typedef struct laju_symbols {
  const ElfW(Sym) * symbols;
  size_t count;
  const char *names; /* ends with a 0 */
  size_t names_len;
  uintptr_t base; /* what is added to a symbol's value at run time */
} laju_symbols;

/* Maps the program's file, for the rest of the process's life. 0, or -1 where it has no symbols (stripped) or cannot be
 * read. */
int laju_symbols_open(laju_symbols *out);

/* The function that holds the address, and how far into it; NULL where it is none of ours. */
const char *laju_symbols_find(const laju_symbols *symbols, const void *address, size_t *offset);

#endif
