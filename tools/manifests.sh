#!/bin/sh
# Usage: manifests.sh VERSION. Writes bin/manifests/provider-NAME_VERSION_manifest.json for each provider of the release, from
# what the provider, built here, says of itself. The platforms are those of .goreleaser.yaml; snapshot.sh holds them to that.
set -eu
version=${1:?usage: manifests.sh VERSION}
cd "$(dirname "$0")/.."
export CGO_ENABLED=0 GOOS= GOARCH= GOFLAGS=-trimpath
unix='linux_amd64 linux_arm64 darwin_amd64 darwin_arm64'
all="$unix windows_amd64 windows_arm64"

rm -rf bin/manifests
mkdir -p bin/manifests
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT

manifest() {
	name=$1
	shift
	go build -ldflags "-X main.version=$version" -o "$built/provider-$name" "./providers/$name"
	flags=
	for platform in "$@"; do flags="$flags -platform $platform"; done
	# shellcheck disable=SC2086 # flags are words
	go run ./conformance/cmd/manifest $flags "$built/provider-$name" >"bin/manifests/provider-${name}_${version}_manifest.json"
}

# shellcheck disable=SC2086 # platforms are words
{
	manifest filesystem $all
	manifest release-tools $all
	manifest bash $unix
}
