#include "server/systemd.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <time.h>

int laju_systemd_socket(const char *name) {
  char **names = NULL;
  int found = LAJU_SYSTEMD_NONE;
  int count = sd_listen_fds_with_names(0, &names);
  for (int i = 0; i < count; i++) {
    if (strcmp(names[i], name) == 0) {
      found = found == LAJU_SYSTEMD_NONE ? SD_LISTEN_FDS_START + i : LAJU_SYSTEMD_SEVERAL;
    }
    free(names[i]);
  }
  free(names);
  if (found >= 0) fcntl(found, F_SETFL, fcntl(found, F_GETFL) | O_NONBLOCK);
  return found;
}

void laju_systemd_tell_ready(void) {
  sd_notify(0, "READY=1");
}

/* Type=notify-reload wants to know when it began, so that an answer to an earlier signal is not taken for this one's. */
void laju_systemd_tell_reloading(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000);
}

void laju_systemd_tell_stopping(void) {
  sd_notify(0, "STOPPING=1");
}
