#include "proto/admin_sessions.h"

#include <stdio.h>
#include <sys/random.h>

#include "base/secret.h"
#include "base/siphash.h"

static bool draw(uint64_t words[2]) {
  return getrandom(words, 2 * sizeof *words, 0) == 2 * (ssize_t)sizeof *words;
}

bool laju_sessions_heed(laju_sessions *sessions, const char *token) {
  if (token == NULL) token = "";
  bool keyed = (sessions->hash_key[0] | sessions->hash_key[1]) != 0;
  if (!keyed && !draw(sessions->hash_key)) return false;
  laju_hash hash = laju_siphash(sessions->hash_key[0], sessions->hash_key[1], token, strlen(token));
  if (keyed && hash.lo == sessions->token[0] && hash.hi == sessions->token[1]) return true;
  memset(sessions->list, 0, sizeof sessions->list);
  sessions->token[0] = hash.lo;
  sessions->token[1] = hash.hi;
  return true;
}

bool laju_sessions_begin(laju_sessions *sessions, const char *token, int64_t now_us, char name[LAJU_SESSION_LEN]) {
  uint64_t words[2];
  char text[LAJU_SESSION_LEN + 1];
  if (!laju_sessions_heed(sessions, token) || !draw(words)) return false;
  laju_session *oldest = sessions->list;
  for (size_t i = 1; i < LAJU_SESSIONS_MAX; i++) {
    if (sessions->list[i].used_us < oldest->used_us) oldest = &sessions->list[i];
  }
  snprintf(text, sizeof text, "%016llx%016llx", (unsigned long long)words[0], (unsigned long long)words[1]);
  memcpy(oldest->name, text, LAJU_SESSION_LEN);
  memcpy(name, text, LAJU_SESSION_LEN);
  oldest->used_us = now_us;
  return true;
}

/* All are compared, whichever it is. */
static laju_session *find(laju_sessions *sessions, laju_slice name) {
  laju_session *found = NULL;
  for (size_t i = 0; i < LAJU_SESSIONS_MAX; i++) {
    laju_session *session = &sessions->list[i];
    bool same = laju_secret_equal(session->name, LAJU_SESSION_LEN, name.at, name.len);
    if (same && session->used_us != 0) found = session;
  }
  return found;
}

bool laju_sessions_use(laju_sessions *sessions, const char *token, laju_slice name, int64_t now_us) {
  if (name.len != LAJU_SESSION_LEN || !laju_sessions_heed(sessions, token)) return false;
  laju_session *session = find(sessions, name);
  if (session == NULL || now_us - session->used_us > LAJU_SESSION_IDLE_US) return false;
  session->used_us = now_us;
  return true;
}

bool laju_sessions_end(laju_sessions *sessions, laju_slice name) {
  laju_session *session = name.len == LAJU_SESSION_LEN ? find(sessions, name) : NULL;
  if (session == NULL) return false;
  *session = (laju_session){.used_us = 0};
  return true;
}
