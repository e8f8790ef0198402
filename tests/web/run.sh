#!/bin/sh
# run.sh ROOT: the page's types are right, and its modules that know no document do what they say, in node.
set -eu
root=$1
if [ ! -x "$root/web/node_modules/.bin/tsc" ] || ! command -v node >/dev/null; then
  echo "SKIP: no packages of the page here (building it installs them: script/bootstrap brings what that takes)"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$root/web/node_modules/.bin/tsc" -p "$root/web"
"$root/web/node_modules/.bin/esbuild" "$root"/tests/web/*.test.ts --bundle --platform=node --format=esm --log-level=warning \
  --out-extension:.js=.mjs --outdir="$work"
node --test --test-reporter=spec "$work"/*.mjs
