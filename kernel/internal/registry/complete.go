package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
)

// maxSmall is the size of a checksums file or signature, in bytes.
const maxSmall = 1 << 20

// complete reads what makes a published release trustworthy. missing says which of its files is not there: it
// may still be on its way, or have failed to be uploaded.
func (c *Client) complete(ctx context.Context, q Query, s supplier, version string, p published) (r *Release, missing *Error, err error) {
	r = &Release{Source: q.Source, Version: version, Mirror: s.mirror(), assets: p.assets}
	attempted := fmt.Sprintf("verify release v%s of %s", version, q.Source)
	sums, ok := findChecksums(q.Source.Name(), q.Source.Repo, version, p.assets)
	if !ok {
		return nil, &Error{Code: NoChecksum, Attempted: attempted, Reason: "it has no checksums file such as " + checksumsNames(q.Source.Name(), q.Source.Repo, version)[0],
			Advice: "What cannot be verified is not installed. Its files are " + shortList(assetNames(p.assets))}, nil
	}
	r.ChecksumsFile, r.From = sums.Name, sums.from.name
	if q.Key != nil {
		if _, ok := findAsset(p.assets, sums.Name+q.Key.Suffix()); !ok {
			return nil, &Error{Code: NoSignature, Attempted: attempted, On: r.From, Reason: fmt.Sprintf("it has no %s, and public_key asks for a signature by %s", sums.Name+q.Key.Suffix(), q.Key),
				Advice: "Ask the provider's authors to sign it, or remove public_key if they never do"}, nil
		}
	}
	sums.data, err = c.files.get(ctx, sums.URL, func() ([]byte, error) { return c.Fetch(ctx, sums) })
	if err != nil {
		return nil, nil, err
	}
	r.verified = map[string][]byte{sums.Name: sums.data}
	if err := c.signed(ctx, q, r, sums.data); err != nil {
		return nil, nil, err
	}
	if r.sums, err = ParseChecksums(sums.data); err != nil {
		return nil, nil, &Error{Code: ChecksumsInvalid, Attempted: attempted, On: sums.shown(), Reason: sums.Name + " cannot be relied on: " + err.Error(), Err: err,
			Advice: "Ask the provider's authors to release it again"}
	}
	listed := r.Checksums()
	if _, here := listed[q.platform()]; here || len(listed) == 0 {
		// Released together with others, a provider may be missing from a release altogether.
		_, err := r.Archive(q.platform())
		if e, ok := errors.AsType[*Error](err); ok && e.Code == NoAsset {
			return nil, e, nil
		}
	}
	return r, nil, nil
}

// signed verifies the checksums file when a key is given for it.
func (c *Client) signed(ctx context.Context, q Query, r *Release, data []byte) error {
	if q.Key == nil {
		return nil
	}
	a, _ := findAsset(r.assets, r.ChecksumsFile+q.Key.Suffix())
	sig, err := c.Fetch(ctx, a)
	if err != nil {
		return err
	}
	if err := q.Key.Verify(data, sig); err != nil {
		return &Error{Code: SignatureInvalid, Attempted: "verify the signature of " + r.ChecksumsFile, On: a.shown(), Reason: err.Error(), Err: err,
			Advice: "Nothing of this release is used. Compare public_key in agent.hcl with the key that the provider's authors publish"}
	}
	r.SignedBy, r.verified[a.Name] = q.Key.String(), sig
	return nil
}

// findChecksums is the checksums file of a release, under the first of the usual names that it has.
func findChecksums(prefix, repo, version string, assets []Asset) (Asset, bool) {
	for _, name := range checksumsNames(prefix, repo, version) {
		if a, ok := findAsset(assets, name); ok {
			return a, true
		}
	}
	var only []Asset
	for _, a := range assets {
		if strings.HasSuffix(a.Name, "_"+version+"_checksums.txt") {
			only = append(only, a)
		}
	}
	if len(only) != 1 {
		return Asset{}, false
	}
	return only[0], true
}

// Fetch reads a small file of a release, such as its checksums file, into memory: a megabyte at most.
func (c *Client) Fetch(ctx context.Context, a Asset) ([]byte, error) {
	if a.data != nil {
		return bytes.Clone(a.data), nil
	}
	data, _, err := c.fetch(ctx, a.request(), maxSmall)
	return data, err
}
