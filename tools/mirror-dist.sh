#!/bin/sh
# Usage: mirror-dist.sh DIST DIR. Lays what `make snapshot` has built into DIST out as a mirror in DIR, so that the providers of
# this repository can be installed without a network. A version that is there already is replaced, others stay.
set -eu
if [ $# -ne 2 ] || [ ! -f "$1/checksums.txt" ]; then
	echo "usage: mirror-dist.sh DIST DIR, where DIST is what make snapshot has built and holds checksums.txt" >&2
	exit 2
fi
dist=$1
mirror=$2

# index DIR writes index.json of what lies in the folders of the versions.
index() {
	versions=
	for folder in "$1"/*/; do
		files=
		for file in "$folder"*; do
			files="$files${files:+, }\"$(basename "$file")\""
		done
		versions="$versions${versions:+,}
    \"$(basename "$folder")\": {\"files\": [$files]}"
	done
	printf '{\n  "versions": {%s\n  }\n}\n' "$versions" >"$1/.new-index"
	mv "$1/.new-index" "$1/index.json"
}

# lay PROVIDER FOLDER copies the release of a provider to the folder of one of its sources.
lay() {
	version=
	for archive in "$dist/$1"_*.tar.gz "$dist/$1"_*.zip; do
		[ -e "$archive" ] || continue
		version=$(basename "$archive")
		version=${version#"$1"_}
		version=${version%_*_*} # without the platform
		mkdir -p "$mirror/$2/$version"
		cp "$archive" "$dist"/checksums.txt* "$mirror/$2/$version/"
	done
	if [ -z "$version" ]; then
		echo "mirror-dist: $dist holds no archive of $1" >&2
		exit 1
	fi
	index "$mirror/$2"
	echo "$2 $version"
}

for provider in provider-bash provider-filesystem provider-release-tools; do
	lay "$provider" "github.com/agentco/agent/$provider"
done
