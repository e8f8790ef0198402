#!/bin/sh
# freestanding.sh ROOT CC: compiles the law without a C library and fails where it needs more than the four mem* functions.
set -eu
root=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for source in "$root"/src/core/*.c "$root"/src/base/siphash.c; do
  "$@" -std=gnu17 -O2 -Wall -Wextra -Wconversion -Wshadow -Werror -ffreestanding -nostdlib -fno-stack-protector \
    -I"$root/src" -I"$root/include" -c "$source" -o "$work/$(basename "$source").o"
done
ld -r -o "$work/law.o" "$work"/*.c.o

needs=$(nm --undefined-only --format=posix "$work/law.o" | cut -d' ' -f1 | sort -u)
for symbol in $needs; do
  case $symbol in
    memcpy | memmove | memset | memcmp | _GLOBAL_OFFSET_TABLE_) ;;
    *)
      echo "the law needs $symbol"
      exit 1
      ;;
  esac
done
nm --defined-only "$work/law.o" | grep -q ' T laju_decide$'
echo "the law needs:" ${needs:-nothing}
