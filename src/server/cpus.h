/* How many workers there should be: the CPUs that this process may use. */
#ifndef LAJU_SERVER_CPUS_H
#define LAJU_SERVER_CPUS_H

#include <stddef.h>
#include <stdint.h>

/* The smaller of the CPUs that the scheduler allows and the cgroups' CPU quota (versions 1 and 2) rounded up; at least 1. */
uint32_t laju_cpus_allowed(void);

/* The parts, from given text, for tests. A quota is in CPUs, rounded up; 0 is none. */

/* "150000 100000" (cpu.max of cgroup v2) is 2; "max 100000" is 0. */
uint32_t laju_cpus_quota_v2(const char *cpu_max);

/* cpu.cfs_quota_us and cpu.cfs_period_us of cgroup v1; a quota of -1 is none. */
uint32_t laju_cpus_quota_v1(const char *quota_us, const char *period_us);

/* The path of this process in /proc/self/cgroup: of `controller` ("cpu"), or of v2 where it is "". Returns its length, or
 * 0 where there is none or it does not fit in `size`. */
size_t laju_cpus_cgroup(const char *proc_self_cgroup, const char *controller, char *path, size_t size);

#endif
