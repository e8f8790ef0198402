# Sourced by the scripts beside it: where the project is, and how they speak.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export PATH=$PATH:$PWD/build/npm/bin # where script/bootstrap puts npm, if the machine has none

say() { printf '\n== %s\n' "$*"; }
die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# Called first: `--help` prints the comment at the head of the script.
help_if_asked() {
  [[ ${1:-} == --help || ${1:-} == -h ]] || return 0
  awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "script/${0##*/}"
  exit 0
}

# What is written in Go (the go-redis client of the tests, k6) needs a newer one than Debian 12 has. Where there is none (from
# 1.21 on, Go gets the one that it needs by itself), the toolchain comes from the Go module proxy, checked, into build/go.
find_go() {
  local minor version=1.24.11 sum=8a9685c09d449928863152512648530dafde05e7d41fcbb21baba3a852e84ef4
  minor=$(go env GOVERSION 2>/dev/null | sed -n 's/^go1\.\([0-9]*\).*/\1/p') || true
  if ((${minor:-0} >= 21)) || [[ $(uname -m) != x86_64 ]]; then return 0; fi
  local toolchain=v0.0.1-go$version.linux-amd64
  local root=$PWD/build/go/golang.org/toolchain@$toolchain
  if [[ ! -x $root/bin/go ]]; then
    curl -fsS --retry 3 -o build/go.zip "https://proxy.golang.org/golang.org/toolchain/@v/$toolchain.zip"
    echo "$sum  build/go.zip" | sha256sum --check --quiet
    python3 -m zipfile -e build/go.zip build/go
    rm build/go.zip
    find "$root/bin" "$root/pkg/tool" -type f -exec chmod +x {} +
  fi
  export PATH=$root/bin:$PATH
}
