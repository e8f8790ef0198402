/* Inside `redis` only: the Lua of scripts/ in one piece, made into C by the build (cmake/Scripts.cmake). */
#ifndef LAJU_REDIS_SCRIPT_TEXT_H
#define LAJU_REDIS_SCRIPT_TEXT_H

#include <stddef.h>

extern const char laju_script_text[]; /* terminated by 0 */
extern const size_t laju_script_text_len;

#endif
