#!/bin/sh
# run.sh ROOT VECTORS: compiles the law to wasm32 with clang and lld, no C library, and runs the vectors through it in node.
set -eu
root=$1 vectors=$2
for tool in clang wasm-ld node; do
  if ! command -v "$tool" >/dev/null; then
    echo "SKIP: no $tool here (script/bootstrap --tests installs it)"
    exit 77
  fi
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

clang --target=wasm32 -std=gnu17 -O2 -Wall -Wextra -Wshadow -Werror -ffreestanding -nostdlib -mbulk-memory \
  -I"$root/src" -I"$root/include" -Wl,--no-entry -o "$work/law.wasm" \
  "$root/tests/wasm/law.c" "$root"/src/core/*.c "$root/src/base/siphash.c"
node "$root/tests/wasm/run.mjs" "$work/law.wasm" "$vectors"
