/* A decision for people, and for programs; and what others said, for a terminal. */
#ifndef LAJU_CLI_PRINT_H
#define LAJU_CLI_PRINT_H

#include "base/buffer.h"
#include "cli/ask.h"

/* "allowed: 9 of 10 remain; as good as new in 12s\n" */
void laju_answer_print(laju_buffer *to, const laju_answer *answer);

/* The members that POST /v1/check answers with, in one line with its '\n'. `rule` is escaped as JSON asks. */
void laju_answer_print_json(laju_buffer *to, const char *rule, const laju_answer *answer);

/* Makes what a stranger's server sent fit for a terminal: control characters become `?`. */
void laju_text_clean(char *text);

#endif
