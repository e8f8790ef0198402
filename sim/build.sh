#!/bin/sh
# build.sh ROOT OUT.wasm: the law as a WebAssembly module, by clang and lld, without a C library.
set -eu
root=$1
exec clang --target=wasm32 -std=gnu17 -O2 -Wall -Wextra -Wshadow -Wstrict-prototypes -Werror -ffreestanding -nostdlib \
  -mbulk-memory -I"$root/src" -I"$root/include" -Wl,--no-entry,--strip-all -o "$2" \
  "$root/sim/law.c" "$root"/src/core/*.c "$root/src/base/siphash.c"
