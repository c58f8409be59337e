#!/bin/sh
# Everything, with fixed seeds: `test.sh BIN JOBS`. Counts are a stated slice of the soak's.
set -eu
bin=$1
jobs=$2
step() { printf '%s\n' "-- $*"; }
step format;  "$bin/ruff" format --check -q src bench tests scripts
step lint;    "$bin/ruff" check -q src bench tests scripts
step imports; "$bin/lint-imports" --no-cache >/dev/null || { "$bin/lint-imports" --no-cache; exit 1; }
# Types are checked beside the worlds: one process of its own, which takes half a minute at first.
told=$(mktemp)
trap 'rm -f "$told"' EXIT
"$bin/mypy" --no-error-summary >"$told" 2>&1 &
types=$!
step "simulator: 3000 S1, 300 S2, 300 S3 worlds of contracts, of accounts and of rollups"
for kind in contract eoa cosmos rollup; do
  "$bin/python" scripts/seeds.py s1 3000 --kind $kind --jobs "$jobs"
  "$bin/python" scripts/seeds.py s2 300 --kind $kind --jobs "$jobs"
  "$bin/python" scripts/seeds.py s3 300 --kind $kind --jobs "$jobs"
done
step types;   wait "$types" || { cat "$told"; exit 1; }
step "branches of the pure packages, each by its own mirror"
"$bin/python" scripts/cover.py --mirror
step "every fourth of the listed mutations is caught; make soak tries them all"
"$bin/python" scripts/mutants.py --texts
"$bin/python" scripts/mutants.py --every 4 --jobs $((jobs + 1))
step tests
# One worker more than cores: many tests wait for the processes that they start.
"$bin/python" -m pytest -n $((jobs + 1)) --dist worksteal --durations=8
