package host

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/agentco/agent/kernel/internal/host/hosttest"
	"github.com/agentco/agent/kernel/internal/keeper"
	"github.com/stretchr/testify/require"
)

func checksumOf(t *testing.T, path string) string {
	t.Helper()
	file, err := openRegular(path)
	require.NoError(t, err)
	defer file.Close()
	sum, err := hashOf(file)
	require.NoError(t, err)
	return sum
}

func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "provider-x")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	return path
}

func TestStartVerifiesTheChecksum(t *testing.T) {
	s := spec(hosttest.Good)
	s.Checksum = checksumOf(t, s.Path)
	p := start(t, s)
	reply, _ := invoke(t, p, "echo", map[string]any{"text": "hi"})
	require.Equal(t, Completed, reply.Ending, reply.Error)
	if runtime.GOOS == "linux" {
		comm, err := os.ReadFile("/proc/" + p.life.process.ID() + "/comm")
		require.NoError(t, err)
		require.Equal(t, "host.test\n", string(comm), "it is called what it is, and not after a descriptor")
	}
	invoke(t, p, "die", map[string]any{"how": "exit 3"})
	reply, _ = invoke(t, p, "echo", map[string]any{"text": "hi"})
	require.Equal(t, Completed, reply.Ending, "it is verified at a restart too, and right")
}

func TestStartRefusesAnotherFile(t *testing.T) {
	s := spec(hosttest.Good)
	s.Checksum = strings.Repeat("0", 64)
	_, err := Start(t.Context(), s, nil)
	var failed *StartError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, StageLaunch, failed.Stage)
	var mismatch *ChecksumError
	require.ErrorAs(t, err, &mismatch)
	require.Equal(t, &ChecksumError{Path: s.Path, Want: s.Checksum, Got: checksumOf(t, s.Path)}, mismatch)
	require.ErrorContains(t, err, "checksum mismatch: "+s.Path)
	require.ErrorContains(t, err, "expected sha256 "+s.Checksum+", got "+mismatch.Got)
}

// A start that cannot even be verified has the same explanations as any other.
func TestStartExplainsWhatCannotBeVerified(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{dir + "/none": "there is no file", dir: "is a directory"} {
		s := spec(hosttest.Good)
		s.Path, s.Checksum = path, strings.Repeat("0", 64)
		_, err := Start(t.Context(), s, nil)
		require.ErrorContains(t, err, want)
	}
}

// What takes the path of a verified binary does not run in its place.
func TestWhatWasVerifiedRuns(t *testing.T) {
	for _, kind := range []string{"program", "script"} {
		t.Run(kind, func(t *testing.T) {
			path := script(t, "echo genuine")
			if kind == "program" {
				echo, err := exec.LookPath("echo")
				require.NoError(t, err)
				in, err := os.Open(echo)
				require.NoError(t, err)
				defer in.Close()
				out, err := os.Create(path)
				require.NoError(t, err)
				_, err = io.Copy(out, in)
				require.NoError(t, err)
				require.NoError(t, out.Close())
			}
			v, err := verify(path, checksumOf(t, path), t.TempDir())
			require.NoError(t, err)
			defer v.close()
			require.NoError(t, os.Rename(script(t, "echo fake"), path))
			out, err := os.CreateTemp(t.TempDir(), "out")
			require.NoError(t, err)
			defer out.Close()
			child, err := keeper.Start(keeper.Spec{Path: v.path, Args: []string{path, "genuine"}, Stdout: out, Stderr: out, Binary: v.file})
			require.NoError(t, err)
			require.Equal(t, "exit status 0", child.Exited().String())
			child.Wait()
			text, err := os.ReadFile(out.Name())
			require.NoError(t, err)
			require.Equal(t, "genuine\n", string(text))
		})
	}
}
