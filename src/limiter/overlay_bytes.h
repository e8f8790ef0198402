/* Overrides as bytes, for a snapshot: by the names of their rules, since numbers are a process's own.
 *
 * u32 version (2), then for each, little endian: u8 length of the rule's name, u16 length of the key, u32 limit, u32 burst, u64
 * expires_us, u16 veils, the name, the key. Any thread, but for what laju_rule_names_number says.
 */
#ifndef LAJU_LIMITER_OVERLAY_BYTES_H
#define LAJU_LIMITER_OVERLAY_BYTES_H

#include "base/buffer.h"
#include "limiter/ledger.h"
#include "limiter/overlay.h"

/* Appends all that are in force; nothing where there are none. */
void laju_overlay_save(laju_overlay *overlay, const laju_rule_names *names, int64_t now_us, laju_buffer *out);

/* Puts them in, as far as they have not expired; names that are new get their numbers. LAJU_ERR_SNAPSHOT where they cannot be read: then
 * nothing is put in. */
int laju_overlay_load(laju_overlay *overlay, laju_rule_names *names, int64_t now_us, const char *bytes, size_t len);

#endif
