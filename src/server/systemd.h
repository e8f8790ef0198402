/* What a service manager hands us and wants to be told: sockets that it listens on already, and how we are doing. Where laju was
 * not started by one, there is no socket and nobody is told. The main thread's.
 */
#ifndef LAJU_SERVER_SYSTEMD_H
#define LAJU_SERVER_SYSTEMD_H

#define LAJU_SYSTEMD_NONE (-1)
#define LAJU_SYSTEMD_SEVERAL (-2)

/* The listening socket that was handed over under this name (FileDescriptorName= in the socket unit: "http", "resp", "admin"), which
 * is the caller's from now on; LAJU_SYSTEMD_NONE; LAJU_SYSTEMD_SEVERAL where more than one has that name. */
int laju_systemd_socket(const char *name);

void laju_systemd_tell_ready(void);
void laju_systemd_tell_reloading(void); /* ready again afterwards */
void laju_systemd_tell_stopping(void);

#endif
