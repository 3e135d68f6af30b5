#!/bin/sh
# Usage: check-release.sh. Builds three releases of this commit for this platform, as goreleaser makes them, the first one twice, and
# takes a fresh machine from `agent init` to calls, an upgrade and back with them. No network is needed.
set -eu
cd "$(dirname "$0")/.."
here=$(go env GOOS)_$(go env GOARCH)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A clone, so that nothing gets in that is not committed.
git clone --quiet . "$work/source"
mkdir "$work/source/bin"
ln -s "$PWD/bin/goreleaser" "$PWD/bin/cyclonedx-gomod" "$work/source/bin"
build() {
	(cd "$work/source" && SNAPSHOT_VERSION=$1 SNAPSHOT_PLATFORM=$here sh tools/snapshot.sh) >"$work/log" 2>&1 || {
		cat "$work/log" >&2
		exit 1
	}
	mv "$work/source/dist" "$work/$2"
	echo "built $1 as $2"
}
build 1.0.0 1.0.0
build 1.0.0 again
cmp "$work/1.0.0/checksums.txt" "$work/again/checksums.txt" || {
	echo "two builds of one commit differ" >&2
	exit 1
}
rm -rf "$work/again"
build 2.0.0 2.0.0
build 2.0.1 2.0.1
AGENT_SNAPSHOTS="$work" go test -count=1 -run ReleaseOfThisRepository -v ./kernel/cmd/agent
