#!/bin/sh
# Usage: release.sh VERSION [FLAGS of agent run]. Releases this repository with what is built in bin/: moves the unreleased
# entries of CHANGELOG.md under the version, commits that and tags the commit. VERSION may be auto. What would be done is
# shown and asked about first; --yes approves it. Nothing is pushed.
set -eu
case ${1-} in
'' | -*)
	echo "usage: make release VERSION=1.4.0, or auto for the version that the changes ask for" >&2
	exit 2
	;;
esac
version=$1
shift
cd "$(dirname "$0")/.."
for binary in agent provider-release-tools; do
	if [ ! -x "bin/$binary" ]; then
		echo "bin/$binary is missing: run make build" >&2
		exit 2
	fi
done

# A configuration of agent's own that names the provider built here. Git's stays the user's.
config=$(mktemp -d)
trap 'rm -rf "$config"' EXIT
trap 'exit 130' INT # after agent has ended; without it the shell would go without its EXIT
trap 'exit 143' TERM HUP
users=${XDG_CONFIG_HOME:-${HOME-}/.config}
if [ -d "$users/git" ]; then
	ln -s "$users/git" "$config/git"
fi
mkdir "$config/agent"
printf 'dev_overrides {\n  release-tools = "%s"\n}\n' "$PWD/bin/provider-release-tools" >"$config/agent/config.hcl"
XDG_CONFIG_HOME=$config bin/agent -C tools/release run /release "version=$version" "$@"
