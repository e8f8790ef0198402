#include "redis/certificates.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int run(const certificates *all, const char *const *argv) {
  int status = -1;
  pid_t pid = fork();
  if (pid == 0) {
    if (chdir(all->folder) < 0 || freopen("log", "a", stdout) == NULL || freopen("log", "a", stderr) == NULL) _exit(1);
    execvp(argv[0], (char **)argv);
    _exit(1);
  }
  if (pid > 0) waitpid(pid, &status, 0);
  return status == 0 ? 0 : -1;
}

static int make_authority(const certificates *all, const char *key, const char *cert) {
  return run(all, (const char *const[]){"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                                        "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", cert, "-days",
                                        "2", "-subj", "/CN=laju test authority", NULL});
}

static int make_certificate(const certificates *all, const char *key, const char *cert, const char *alternatives) {
  char extension[128];
  snprintf(extension, sizeof extension, "subjectAltName=%s", alternatives);
  int error = run(all, (const char *const[]){"openssl", "req", "-newkey", "ec", "-pkeyopt",
                                             "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out",
                                             "request", "-subj", "/CN=laju test", "-addext", extension, NULL});
  if (error < 0) return -1;
  return run(all,
             (const char *const[]){"openssl", "x509", "-req", "-in", "request", "-CA", "ca.crt", "-CAkey", "ca.key",
                                   "-CAcreateserial", "-out", cert, "-days", "2", "-copy_extensions", "copy", NULL});
}

static void name(const certificates *all, char to[CERTIFICATES_PATH_MAX], const char *file) {
  snprintf(to, CERTIFICATES_PATH_MAX, "%.40s/%s", all->folder, file);
}

int certificates_make(certificates *all) {
  *all = (certificates){.folder = "/tmp/laju-tls-XXXXXX"};
  if (mkdtemp(all->folder) == NULL) return -1;
  name(all, all->ca, "ca.crt");
  name(all, all->other, "other.crt");
  name(all, all->server_cert, "server.crt");
  name(all, all->server_key, "server.key");
  name(all, all->client_cert, "client.crt");
  name(all, all->client_key, "client.key");
  if (make_authority(all, "ca.key", "ca.crt") < 0 || make_authority(all, "other.key", "other.crt") < 0) return -1;
  if (make_certificate(all, "server.key", "server.crt", "DNS:redis.example,DNS:localhost,IP:127.0.0.1") < 0) return -1;
  return make_certificate(all, "client.key", "client.crt", "DNS:client");
}

void certificates_remove(const certificates *all) {
  run(all, (const char *const[]){"rm", "-rf", all->folder, NULL});
}
