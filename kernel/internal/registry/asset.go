package registry

import "fmt"

// Asset is one file of a release. It is good for as long as the Client that found it.
type Asset struct {
	Name string
	// Size in bytes, 0 when it is not known before the download.
	Size int64
	// SHA256 in lower-case hex, from the checksums file; empty for a file that is not listed there.
	SHA256 string
	// URL is where a person would fetch it; the path of a file for a mirror's folder.
	URL string

	apiURL string // where a token is accepted, if that is not URL
	from   *origin
	data   []byte // what was verified already; nil when it was not fetched
}

// archiveNames are the names an archive may have, the canonical one first.
func archiveNames(prefix, version string, p Platform) []string {
	var names []string
	for _, v := range []string{version, "v" + version} {
		names = append(names, fmt.Sprintf("%s_%s_%s%s", prefix, v, p, p.extension()))
	}
	return names
}

// checksumsNames are the names a checksums file may have, the first that exists counts.
func checksumsNames(prefix, repo, version string) []string {
	return []string{
		prefix + "_" + version + "_checksums.txt",
		prefix + "_v" + version + "_checksums.txt",
		repo + "_" + version + "_checksums.txt",
		"checksums.txt",
		prefix + "_" + version + "_SHA256SUMS",
		"SHA256SUMS",
	}
}
