/* What the admin door shows, as JSON (docs/openapi.yaml). Written to the end of `out`. Any thread that may read what is shown. */
#ifndef LAJU_PROTO_ADMIN_VIEW_H
#define LAJU_PROTO_ADMIN_VIEW_H

#include "proto/admin.h"
#include "proto/service.h"

/* {"rules":[...],"others":{...}} */
void laju_admin_view_rules(laju_buffer *out, const laju_admin *admin, const laju_terms *terms);

/* {"half_life_s":600,"keys":[...]}: the `max` (at most LAJU_ADMIN_TOP_MAX) that are refused most. */
void laju_admin_view_top(laju_buffer *out, const laju_admin *admin, const laju_terms *terms, size_t max,
                         int64_t now_us);

/* {"overrides":[...]} */
void laju_admin_view_overrides(laju_buffer *out, const laju_admin *admin, const laju_terms *terms, int64_t now_us);

/* One of them. */
void laju_admin_view_override(laju_buffer *out, const laju_admin *admin, const laju_terms *terms,
                              const laju_overlay_entry *entry, const char *rule);

/* How a key stands: the answer to a check that costs nothing. */
void laju_admin_view_key(laju_buffer *out, const laju_admin *admin, const laju_terms *terms, const laju_check *check,
                         const laju_decision *decision, int64_t now_us);

#endif
