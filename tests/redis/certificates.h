/* Certificates of the test's own, made by openssl in a folder of their own. */
#ifndef TESTS_REDIS_CERTIFICATES_H
#define TESTS_REDIS_CERTIFICATES_H

#define CERTIFICATES_PATH_MAX 64

typedef struct certificates {
  char folder[CERTIFICATES_PATH_MAX];
  char ca[CERTIFICATES_PATH_MAX];                                             /* has signed those below */
  char other[CERTIFICATES_PATH_MAX];                                          /* another authority */
  char server_cert[CERTIFICATES_PATH_MAX], server_key[CERTIFICATES_PATH_MAX]; /* redis.example, localhost, 127.0.0.1 */
  char client_cert[CERTIFICATES_PATH_MAX], client_key[CERTIFICATES_PATH_MAX]; /* client */
} certificates;

/* 0, or -1 where there is no folder or no openssl. */
int certificates_make(certificates *all);
void certificates_remove(const certificates *all);

#endif
