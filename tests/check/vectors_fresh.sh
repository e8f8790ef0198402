#!/bin/sh
# vectors_fresh.sh PYTHON ORACLE VECTORS: 30 thousand steps that the oracle makes up now, through the law. The seed is the
# day's, and printed: `oracle.py vectors SEED 500` makes the same again.
set -eu
seed=${LAJU_SEED:-$(date -u +%Y%m%d)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "seed $seed"
"$1" "$2" vectors "$seed" 500 >"$work/fresh.jsonl"
"$3" "$work/fresh.jsonl" | tee "$work/said"
grep -qx '30000 passed, 0 failed' "$work/said"
