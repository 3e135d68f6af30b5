package registry_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/registry"
	"github.com/agentco/agent/kernel/internal/registry/registrytest"
)

const sumsName = "provider-x_1.0.0_checksums.txt"

func TestSignedRelease(t *testing.T) {
	for name, signer := range map[string]*registrytest.Signer{"minisign": registrytest.Minisign(t), "ssh": registrytest.SSH(t)} {
		t.Run(name, func(t *testing.T) {
			n := registrytest.New(t)
			f := n.GitHub("github.com")
			f.Publish(repo, signer.Sign(built("1.0.0"), sumsName))
			q := query(t, "github.com/"+repo, "")
			q.Key = signer.Key
			r, err := client(t, n, registry.Options{}).Resolve(t.Context(), q)
			require.NoError(t, err)
			require.Equal(t, "sha256 of "+sumsName+", signed by "+signer.Key.String(), r.Verified())
			require.Len(t, r.Files(), 2, "a mirror keeps the signature, too")
			n.Forget()
			for _, a := range r.Files() {
				data, err := client(t, n, registry.Options{}).Fetch(t.Context(), a)
				require.NoError(t, err)
				require.Equal(t, f.Release(repo, "v1.0.0").Data(a.Name), data)
			}
			require.Empty(t, n.Requests(), "what was verified is not fetched a second time")

			// The same from a mirror, which nobody needs to trust then.
			dir := t.TempDir()
			mirrored(t, dir, "github.com/"+repo, signer.Sign(built("1.0.0"), sumsName))
			r, err = client(t, n, registry.Options{Mirror: config.Mirror{Default: dir}}).Resolve(t.Context(), q)
			require.NoError(t, err)
			require.Equal(t, signer.Key.String(), r.SignedBy)
		})
	}
}

func TestBadSignatures(t *testing.T) {
	for name, newSigner := range map[string]func(testing.TB) *registrytest.Signer{"minisign": registrytest.Minisign, "ssh": registrytest.SSH} {
		t.Run(name, func(t *testing.T) {
			signer, other := newSigner(t), newSigner(t)
			signed := signer.Sign(built("1.0.0"), sumsName)
			sig := sumsName + signer.Key.Suffix()
			tests := []struct {
				name    string
				release registrytest.Release
				code    registry.Code
				want    string
			}{
				{"another key", other.Sign(built("1.0.0"), sumsName), registry.SignatureInvalid, "not " + id(signer)},
				{"another file", signed.With(sumsName, append(built("1.0.0").Data(sumsName), '\n')), registry.SignatureInvalid, "not one of this file"},
				{"none", built("1.0.0"), registry.NoSignature, "it has no " + sig},
				{"no signature at all", built("1.0.0").With(sig, []byte("<html>")), registry.SignatureInvalid, "does not read as"},
				{"empty", built("1.0.0").With(sig, []byte{}), registry.SignatureInvalid, "does not read as"},
			}
			for _, tt := range tests {
				t.Run(tt.name, func(t *testing.T) {
					n := registrytest.New(t)
					n.GitHub("github.com").Publish(repo, tt.release)
					for _, constraint := range []string{"", "= 1.0.0"} {
						q := query(t, "github.com/"+repo, constraint)
						q.Key = signer.Key
						_, err := client(t, n, registry.Options{}).Resolve(t.Context(), q)
						requireCode(t, err, tt.code)
						require.ErrorContains(t, err, tt.want)
					}
				})
			}
		})
	}
}

// id is the last word of a key's name.
func id(s *registrytest.Signer) string {
	name := s.Key.String()
	return name[strings.LastIndex(name, " ")+1:]
}

// The kind of K05: a signature may still be on its way.
func TestNewestReleaseIsNotSignedYet(t *testing.T) {
	signer := registrytest.Minisign(t)
	n := registrytest.New(t)
	n.GitHub("github.com").Publish(repo, signer.Sign(built("1.0.0"), sumsName), built("1.1.0"))
	q := query(t, "github.com/"+repo, "")
	q.Key = signer.Key
	r, err := client(t, n, registry.Options{}).Resolve(t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, "1.0.0", r.Version)
	require.Contains(t, r.Warnings[0], "1.1.0 is passed over: it has no provider-x_1.1.0_checksums.txt.minisig")
}
