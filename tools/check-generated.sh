#!/bin/sh
# Generates the protocol's Go code into a copy and compares: the committed code must be what the tools make today.
set -eu
cd "$(dirname "$0")/.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -R proto "$copy/proto"
(cd "$copy/proto" && "$OLDPWD/bin/buf" generate)
if ! diff -r proto "$copy/proto"; then
	echo "the generated code is stale: run make generate and commit what changes" >&2
	exit 1
fi
