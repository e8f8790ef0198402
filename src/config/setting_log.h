/* The settings of the group `log`. As laju_setting's `set` has it: 0, or -1 with `why`. Any thread with a config of its own. */
#ifndef LAJU_CONFIG_SETTING_LOG_H
#define LAJU_CONFIG_SETTING_LOG_H

#include "config/config.h"

int laju_log_set_format_text(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);
int laju_log_set_decisions(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);

/* "1%", "0.01%", "100%" */
int laju_log_set_sample(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);

#endif
