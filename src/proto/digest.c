#include "proto/digest.h"

#include <openssl/evp.h>
#include <pthread.h>

/* SHA256() looks its algorithm up and allocates on each call, which takes four times as long as the hash. */
static pthread_key_t contexts;
static bool ready;

static void free_context(void *context) {
  EVP_MD_CTX_free(context);
}

static void prepare(void) {
  ready = pthread_key_create(&contexts, free_context) == 0;
}

static EVP_MD_CTX *new_context(void) {
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  if (context == NULL) return NULL;
  if (EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1 && pthread_setspecific(contexts, context) == 0)
    return context;
  EVP_MD_CTX_free(context);
  return NULL;
}

bool laju_digest(unsigned char to[LAJU_DIGEST_SIZE], const void *bytes, size_t len) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, prepare);
  if (!ready) return false;
  EVP_MD_CTX *context = pthread_getspecific(contexts);
  if (context == NULL) context = new_context();
  /* No type given: the context keeps its own, and nothing is allocated. */
  return context != NULL && EVP_DigestInit_ex(context, NULL, NULL) == 1 && EVP_DigestUpdate(context, bytes, len) == 1 &&
         EVP_DigestFinal_ex(context, to, NULL) == 1;
}
