#include "server/cpus.h"

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX 4096

static uint32_t quota_of(long long quota, long long period) {
  if (quota <= 0 || period <= 0) return 0;
  long long cpus = quota / period + (quota % period > 0);
  return cpus > UINT32_MAX ? 0 : (uint32_t)cpus;
}

uint32_t laju_cpus_quota_v2(const char *cpu_max) {
  char *rest;
  long long quota = strtoll(cpu_max, &rest, 10);
  if (rest == cpu_max) return 0; /* "max" */
  return quota_of(quota, strtoll(rest, NULL, 10));
}

uint32_t laju_cpus_quota_v1(const char *quota_us, const char *period_us) {
  return quota_of(strtoll(quota_us, NULL, 10), strtoll(period_us, NULL, 10));
}

static bool lists_controller(const char *list, size_t len, const char *controller) {
  size_t name_len = strlen(controller);
  const char *end = list + len;
  while (list <= end) {
    const char *comma = memchr(list, ',', (size_t)(end - list));
    size_t item = (size_t)((comma != NULL ? comma : end) - list);
    if (item == name_len && memcmp(list, controller, item) == 0) return true;
    list += item + 1;
  }
  return false;
}

/* Lines are "ID:controller,controller:PATH"; v2's is "0::PATH". */
size_t laju_cpus_cgroup(const char *text, const char *controller, char *path, size_t size) {
  while (*text != 0) {
    size_t len = strcspn(text, "\n");
    const char *list = memchr(text, ':', len);
    const char *at = list != NULL ? memchr(list + 1, ':', len - (size_t)(list + 1 - text)) : NULL;
    if (at != NULL && lists_controller(list + 1, (size_t)(at - list - 1), controller)) {
      size_t path_len = len - (size_t)(at + 1 - text);
      if (path_len == 0 || path_len >= size) return 0;
      memcpy(path, at + 1, path_len);
      path[path_len] = 0;
      return path_len;
    }
    text += len + (text[len] == '\n');
  }
  return 0;
}

static bool read_text(const char *path, char text[TEXT_MAX]) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  size_t len = 0;
  ssize_t got;
  while (len < TEXT_MAX - 1 && (got = read(fd, text + len, TEXT_MAX - 1 - len)) > 0) len += (size_t)got;
  close(fd);
  text[len] = 0;
  return len > 0;
}

static bool read_cgroup(const char *root, const char *group, const char *name, char text[TEXT_MAX]) {
  char path[TEXT_MAX];
  int len = snprintf(path, sizeof path, "%s%s/%s", root, group, name);
  return len > 0 && (size_t)len < sizeof path && read_text(path, text);
}

static uint32_t quota_at(const char *root, bool v2, const char *group) {
  char quota[TEXT_MAX], period[TEXT_MAX];
  if (v2) return read_cgroup(root, group, "cpu.max", quota) ? laju_cpus_quota_v2(quota) : 0;
  if (!read_cgroup(root, group, "cpu.cfs_quota_us", quota)) return 0;
  return read_cgroup(root, group, "cpu.cfs_period_us", period) ? laju_cpus_quota_v1(quota, period) : 0;
}

/* The least quota of a group and all above it. In a container the group's own path is often not visible, and its quota
 * stands at the root of what is mounted: the walk ends there too. */
static uint32_t quota_under(const char *root, bool v2, char *group) {
  uint32_t least = 0;
  for (;;) {
    uint32_t quota = quota_at(root, v2, group);
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
    char *slash = strrchr(group, '/');
    if (slash == NULL) return least;
    *slash = 0;
  }
}

static uint32_t cgroup_quota(void) {
  char text[TEXT_MAX], group[TEXT_MAX];
  if (!read_text("/proc/self/cgroup", text)) return 0;
  if (laju_cpus_cgroup(text, "cpu", group, sizeof group) > 0) return quota_under("/sys/fs/cgroup/cpu", false, group);
  if (laju_cpus_cgroup(text, "", group, sizeof group) > 0) return quota_under("/sys/fs/cgroup", true, group);
  return 0;
}

/* The kernel refuses a set that is smaller than its own, so a machine with more CPUs needs a larger one. */
static uint32_t affinity(void) {
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 4) {
    cpu_set_t *set = CPU_ALLOC((size_t)cpus);
    if (set == NULL) return 1;
    size_t size = CPU_ALLOC_SIZE((size_t)cpus);
    int allowed = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (allowed > 0) return (uint32_t)allowed;
  }
  return 1;
}

uint32_t laju_cpus_allowed(void) {
  uint32_t cpus = affinity();
  uint32_t quota = cgroup_quota();
  return quota > 0 && quota < cpus ? quota : cpus;
}
