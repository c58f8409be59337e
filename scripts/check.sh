#!/bin/sh
# The quick tier: about a minute. `check.sh BIN JOBS`
set -eu
bin=$1
jobs=$2
step() { printf '%s\n' "-- $*"; }
step format;  "$bin/ruff" format --check -q src bench tests scripts
step lint;    "$bin/ruff" check -q src bench tests scripts
step imports; "$bin/lint-imports" --no-cache >/dev/null || { "$bin/lint-imports" --no-cache; exit 1; }
step types;   "$bin/mypy" --no-error-summary
step mutations; "$bin/python" scripts/mutants.py --texts
step tests;   "$bin/python" -m pytest -q -n "$jobs" -m "not slow and not vectors" --no-header
step simulator
"$bin/python" scripts/seeds.py s1 3000 --jobs "$jobs"
"$bin/python" scripts/seeds.py s1 1000 --kind eoa --jobs "$jobs"
"$bin/python" scripts/seeds.py s1 500 --kind cosmos --jobs "$jobs"
"$bin/python" scripts/seeds.py s1 240 --kind rollup --jobs "$jobs"
