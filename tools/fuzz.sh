#!/bin/sh
# Usage: fuzz.sh MODULE TIME. Runs every fuzz target of a module for TIME.
set -eu
cd "$(dirname "$0")/../$1"
grep -rlE '^func Fuzz' --include='*_test.go' . | while read -r file; do
	sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file" | while read -r target; do
		echo "$1 $(dirname "$file") $target"
		go test "$(dirname "$file")" -run '^$' -fuzz "^$target\$" -fuzztime "$2" -fuzzminimizetime 50x
	done
done
