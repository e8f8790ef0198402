#include "server/symbols.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern const char __ehdr_start[]; /* the linker's: where the file's head is in memory */

typedef struct mapping {
  const char *bytes;
  size_t len;
} mapping;

static bool map_own_file(mapping *out) {
  int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  struct stat file;
  void *bytes = MAP_FAILED;
  if (fstat(fd, &file) == 0 && file.st_size > 0) {
    bytes = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  }
  close(fd);
  if (bytes == MAP_FAILED) return false;
  *out = (mapping){.bytes = bytes, .len = (size_t)file.st_size};
  return true;
}

static bool is_within(const mapping *file, uint64_t offset, uint64_t len) {
  return offset <= file->len && len <= file->len - offset;
}

static const ElfW(Shdr) * section(const mapping *file, size_t index) {
  const ElfW(Ehdr) *head = (const void *)file->bytes;
  if (index >= head->e_shnum || !is_within(file, head->e_shoff, (uint64_t)head->e_shnum * sizeof(ElfW(Shdr))))
    return NULL;
  const ElfW(Shdr) *sections = (const void *)(file->bytes + head->e_shoff);
  return is_within(file, sections[index].sh_offset, sections[index].sh_size) ? &sections[index] : NULL;
}

static bool find_tables(const mapping *file, laju_symbols *out) {
  const ElfW(Ehdr) *head = (const void *)file->bytes;
  for (size_t i = 0; i < head->e_shnum; i++) {
    const ElfW(Shdr) *table = section(file, i);
    if (table == NULL || table->sh_type != SHT_SYMTAB) continue;
    const ElfW(Shdr) *names = section(file, table->sh_link);
    if (names == NULL || names->sh_size == 0) return false;
    out->symbols = (const void *)(file->bytes + table->sh_offset);
    out->count = table->sh_size / sizeof *out->symbols;
    out->names = file->bytes + names->sh_offset;
    out->names_len = names->sh_size;
    return out->names[out->names_len - 1] == 0;
  }
  return false;
}

int laju_symbols_open(laju_symbols *out) {
  mapping file;
  if (!map_own_file(&file)) return -1;
  const ElfW(Ehdr) *head = (const void *)file.bytes;
  laju_symbols found = {0};
  if (file.len < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || !find_tables(&file, &found)) {
    munmap((void *)(uintptr_t)file.bytes, file.len);
    return -1;
  }
  found.base = head->e_type == ET_DYN ? (uintptr_t)__ehdr_start : 0;
  *out = found;
  return 0;
}

const char *laju_symbols_find(const laju_symbols *self, const void *address, size_t *offset) {
  uintptr_t at = (uintptr_t)address - self->base;
  for (size_t i = 0; i < self->count; i++) {
    const ElfW(Sym) *symbol = &self->symbols[i];
    bool is_function = (symbol->st_info & 0xf) == STT_FUNC && symbol->st_shndx != SHN_UNDEF;
    if (!is_function || at < symbol->st_value || at - symbol->st_value >= symbol->st_size) continue;
    if (symbol->st_name >= self->names_len) return NULL;
    *offset = at - symbol->st_value;
    return self->names + symbol->st_name;
  }
  return NULL;
}
