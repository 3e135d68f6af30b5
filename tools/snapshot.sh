#!/bin/sh
# Usage: snapshot.sh. Builds into dist/ what a release of this commit would hold, without a tag and without the network, and checks
# that it is whole. SNAPSHOT_VERSION names the version, SIGNING_KEY signs; SNAPSHOT_PLATFORM=linux_amd64 builds for that alone.
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/bin:$PATH"
export PATH
skip=publish
[ -n "${SIGNING_KEY-}" ] || skip=$skip,sign
config=.goreleaser.yaml
only=${SNAPSHOT_PLATFORM-}
if [ -n "$only" ]; then
	config=bin/goreleaser-$only.yaml
	sed "s/^\( *goos:\) \[.*/\1 [${only%_*}]/; s/^\( *goarch:\) \[.*/\1 [${only#*_}]/" .goreleaser.yaml >"$config"
fi
goreleaser release --config "$config" --snapshot --clean --skip="$skip"
cp bin/manifests/*.json dist/

problems=0
problem() {
	echo "snapshot: $*" >&2
	problems=$((problems + 1))
}
(cd dist && sha256sum --check --quiet checksums.txt) || problem "checksums.txt does not fit what lies beside it"
for manifest in dist/*_manifest.json; do
	prefix=${manifest%_manifest.json}
	for archive in "$prefix"_*.tar.gz "$prefix"_*.zip; do
		[ -e "$archive" ] || continue
		platform=${archive#"$prefix"_}
		platform=${platform%.tar.gz}
		platform=${platform%.zip}
		grep -q "\"$platform\"" "$manifest" || problem "$manifest does not name $platform, and there is an archive for it"
	done
	for platform in $(sed -n '/"platforms"/,/]/s/^ *"\([a-z0-9]*_[a-z0-9]*\)",\{0,1\}$/\1/p' "$manifest"); do
		[ -z "$only" ] || [ "$platform" = "$only" ] || continue
		[ -e "${prefix}_$platform.tar.gz" ] || [ -e "${prefix}_$platform.zip" ] || problem "$manifest names $platform, and there is no archive for it"
	done
done
[ "$problems" -eq 0 ] || exit 1
