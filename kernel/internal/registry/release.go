package registry

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentco/agent/kernel/internal/config"
)

// Release is one version of a provider whose checksums file has been read, and whose signature holds if one
// was asked for.
type Release struct {
	Source  config.Source
	Version string // 1.2.3
	// From is where it was found: the host of its forge, or the address of a mirror.
	From   string
	Mirror bool
	// Reason is why it is this version, as in "the newest that ~> 1.2.0 allows, of 12".
	Reason string
	// Warnings are what a person should know about the choice, such as a newer release that is incomplete.
	Warnings []string
	// ChecksumsFile is the name of the checksums file.
	ChecksumsFile string
	// SignedBy names the key that signed the checksums file; empty when no signature was asked for.
	SignedBy string

	sums     Checksums
	assets   []Asset
	verified map[string][]byte // the checksums file and the signature that were looked at
}

// Verified says what the archives of the release are verified by.
func (r *Release) Verified() string {
	if r.SignedBy == "" {
		return "sha256 of " + r.ChecksumsFile + ", not signed"
	}
	return "sha256 of " + r.ChecksumsFile + ", signed by " + r.SignedBy
}

// Checksums are the sha256 of the archives for every platform that the checksums file lists, whether or not
// the archive can be had from where the release was found.
func (r *Release) Checksums() map[Platform]string {
	found := map[Platform]string{}
	for name, sum := range r.sums {
		p, ok := archivePlatform(name, r.Source.Name(), r.Version)
		if !ok {
			continue
		}
		if _, twice := found[p]; !twice || name == archiveNames(r.Source.Name(), r.Version, p)[0] {
			found[p] = sum
		}
	}
	return found
}

// Archive is the file to install on a platform. The error's code is NoAsset when there is none, NoChecksum when
// there is one that the checksums file does not list.
func (r *Release) Archive(p Platform) (Asset, error) {
	names := archiveNames(r.Source.Name(), r.Version, p)
	for _, name := range names {
		a, ok := findAsset(r.assets, name)
		if !ok {
			continue
		}
		sum, listed := r.sums[name]
		if !listed {
			return Asset{}, r.failure(NoChecksum, p, fmt.Sprintf("%s does not list %s", r.ChecksumsFile, name),
				"What cannot be verified is not installed. Ask the provider's authors to release it again")
		}
		a.SHA256 = sum
		return a, nil
	}
	e := r.failure(NoAsset, p, fmt.Sprintf("there is no %s", strings.Join(names, " nor ")), r.others(p))
	return Asset{}, e
}

// others says what there is instead of an archive for p.
func (r *Release) others(p Platform) string {
	if sums := r.Checksums(); len(sums) > 0 {
		platforms := make([]string, 0, len(sums))
		for other := range sums {
			platforms = append(platforms, other.String())
		}
		slices.Sort(platforms)
		if _, listed := sums[p]; listed {
			return "Its checksum is there, the archive is not: " + r.From + " has only part of the release"
		}
		return "It is released for " + strings.Join(platforms, ", ") + ", as " + shortList(r.archiveNames())
	}
	return "Its files are " + shortList(assetNames(r.assets))
}

// archiveNames are the names of the provider's archives, of whatever platform.
func (r *Release) archiveNames() []string {
	return slices.DeleteFunc(assetNames(r.assets), func(name string) bool {
		_, ok := archivePlatform(name, r.Source.Name(), r.Version)
		return !ok
	})
}

func (r *Release) failure(code Code, p Platform, reason, advice string) *Error {
	return &Error{Code: code, Attempted: fmt.Sprintf("get %s %s for %s", r.Source, r.Version, p), On: r.From, Reason: reason, Advice: advice}
}

// Files are the checksums file and the signatures of it: what a mirror must have beside the archives. Fetch gives
// exactly the bytes that were verified.
func (r *Release) Files() []Asset {
	var files []Asset
	for _, suffix := range []string{"", ".minisig", ".sig"} {
		if a, ok := findAsset(r.assets, r.ChecksumsFile+suffix); ok {
			a.data = r.verified[a.Name]
			files = append(files, a)
		}
	}
	return files
}

func findAsset(assets []Asset, name string) (Asset, bool) {
	i := slices.IndexFunc(assets, func(a Asset) bool { return a.Name == name })
	if i < 0 {
		return Asset{}, false
	}
	return assets[i], true
}

func assetNames(assets []Asset) []string {
	names := make([]string, len(assets))
	for i, a := range assets {
		names[i] = a.Name
	}
	slices.Sort(names)
	return names
}

const maxListed = 20

// shortList names the first of many.
func shortList(names []string) string {
	switch {
	case len(names) == 0:
		return "none at all"
	case len(names) > maxListed:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), len(names)-maxListed)
	}
	return strings.Join(names, ", ")
}
