#include <laju/laju.h>

typedef struct explanation {
  const char *field, *allowed;
} explanation;

static explanation explain(int error) {
  switch (error) {
    case LAJU_ERR_LIMIT: return (explanation){"limit", "0 to 4294967295 (sliding-window-log: 0 to 65536)"};
    case LAJU_ERR_PERIOD: return (explanation){"per", "1ms to 366d"};
    case LAJU_ERR_PERIOD_TICK:
      return (explanation){"per",
                           "a multiple of the smallest power of ten of microseconds that leaves at most 1048576 parts"};
    case LAJU_ERR_BURST: return (explanation){"burst", "1 to 4294967295, for token-bucket and leaky-bucket only"};
    case LAJU_ERR_COST: return (explanation){"cost", "0 to 4294967295"};
    case LAJU_ERR_ALGORITHM:
      return (explanation){"algorithm",
                           "token-bucket, leaky-bucket, fixed-window, sliding-window-counter or sliding-window-log"};
    case LAJU_ERR_NAME: return (explanation){"name", "1 to 64 of A-Z a-z 0-9 _ . -"};
    case LAJU_ERR_KEY: return (explanation){"key", "1 to 1024 bytes"};
    case LAJU_ERR_CHECKS: return (explanation){"checks", "1 to 16 checks in one request"};
    case LAJU_ERR_TEXT: return (explanation){"rule", "NAME=LIMIT/PERIOD [ALGORITHM] [burst N] [cost N]"};
    case LAJU_ERR_TIME: return (explanation){"time", "0 to 9007199254740991 us since the epoch"};
    case LAJU_ERR_MEMORY: return (explanation){"memory", "1MiB to 1TiB, as far as the machine has it"};
    case LAJU_ERR_SYSTEM: return (explanation){"system", "a system call that succeeds (see errno)"};
    case LAJU_ERR_SNAPSHOT: return (explanation){"snapshot", "a whole, unchanged file that laju wrote"};
    default: return (explanation){"", "unknown error"};
  }
}

const char *laju_error_field(int error) {
  return explain(error).field;
}

const char *laju_error_allowed(int error) {
  return explain(error).allowed;
}
