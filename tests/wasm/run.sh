#!/bin/sh
# run.sh ROOT VECTORS: compiles the law to wasm32 as the page has it, and runs the vectors through it in node.
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

sh "$root/sim/build.sh" "$root" "$work/law.wasm"
node "$root/tests/wasm/run.mjs" "$work/law.wasm" "$vectors"
