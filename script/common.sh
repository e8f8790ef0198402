# Sourced by the scripts beside it: where the project is, and how they speak.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

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
