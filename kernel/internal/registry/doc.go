// Package registry finds releases of providers, and fetches their files: from the release APIs of GitHub,
// GitLab and Gitea (Forgejo), and from mirrors.
//
//	config.Source + constraint ── Client.Resolve ──► Release ── Release.Archive(platform) ──► Asset
//	config.Source + version ───── Client.Pinned ──────┘                                         │
//	                                                      file ◄── Client.Download (resumed, sha256) ┘
//
// A release is worth something only with its checksums file: no archive is fetched that is not listed there
// under exactly its name, and none is kept that does not match. With a public key in the source's entry, the
// checksums file itself must be signed by it. The package never unpacks and never writes but where it is told to.
//
// # Which files belong to a release
//
// Tags are vMAJOR.MINOR.PATCH with an optional pre-release; other tags and drafts are not looked at. PREFIX is
// the last element of the source: the repository, or what stands behind the double slash.
//
//   - archives: PREFIX_VERSION_OS_ARCH.tar.gz (.zip for windows), or the same with vVERSION
//   - checksums, the first there is of: PREFIX_VERSION_checksums.txt, PREFIX_vVERSION_checksums.txt,
//     REPO_VERSION_checksums.txt, checksums.txt, PREFIX_VERSION_SHA256SUMS, SHA256SUMS; else the only file
//     that ends in _VERSION_checksums.txt (goreleaser's default, whatever its project is called)
//   - its signature: the same name with .minisig (minisign) or .sig (ssh-keygen -Y sign -n file)
//
// # Which API a host speaks
//
// github.com, gitlab.com, codeberg.org and gitea.com are known. Any other host is what a forge block of
// config.hcl says; without one it is asked, once, for /api/v1/version (Gitea), /api/v4/version (GitLab)
// and /api/v3/meta (GitHub Enterprise). Loopback hosts are spoken to by plain http, all others by https.
//
// # Tokens
//
// GITHUB_TOKEN goes to api.github.com, GITLAB_TOKEN to gitlab.com. A host that was only asked what it is never
// gets one: for your own forge name it in a forge block. A token is sent to exactly its host and scheme, and
// left out when a redirect leads elsewhere. No token, and no query of a URL, is part of an error.
//
// # Mirrors
//
// A mirror is an address or a folder, laid out so that one can be made by copying files:
//
//	HOST/OWNER/REPO[/PART]/index.json          {"versions": {"1.2.3": {"files": ["…_checksums.txt", "…_linux_amd64.tar.gz"]}}}
//	HOST/OWNER/REPO[/PART]/1.2.3/FILE          the files of the release, under their own names
//
// The checksums file is the release's own, so it lists platforms whose archives the mirror may not have. The
// mirror with the longest matching prefix is asked, else the default one; what it does not have (404, or no
// version that will do) comes from the forge only if a direct block allows that. Any other failure of a mirror
// is an error: falling back in silence would hide it. A source without a mirror comes from its forge.
package registry
