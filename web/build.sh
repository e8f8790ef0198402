#!/bin/sh
# build.sh OUT: the page's files, but for sim.wasm, into the folder OUT. Needs what `npm ci` installed.
set -eu
cd "$(dirname "$0")"
out=$1
mkdir -p "$out"
node_modules/.bin/esbuild src/app.ts src/app.css --bundle --minify --format=esm --target=chrome111,firefox113,safari16.4 \
  --legal-comments=none --log-level=warning --outdir="$out"
cp index.html "$out/index.html"
cp node_modules/uplot/LICENSE "$out/licenses.txt"
