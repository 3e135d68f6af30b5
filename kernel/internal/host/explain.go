package host

import (
	"context"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/agentco/agent/kernel/internal/schema"
	"github.com/agentco/agent/proto/plugin"
)

// explainLaunch says why a binary could not be executed, with facts about the file in place of the system's one word.
func explainLaunch(path string, cause error) error {
	var mismatch *ChecksumError
	if errors.As(cause, &mismatch) {
		return mismatch
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no file %s%s: build or install the provider, or correct the path%s", path, nearby(path), because(cause))
	case err != nil:
		return fmt.Errorf("cannot look at %s: %w", path, err)
	case info.IsDir():
		return fmt.Errorf("%s is a directory: give the path of the provider's binary in it", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file (%s): give the path of the provider's binary", path, info.Mode())
	case info.Mode().Perm()&0o111 == 0 && runtime.GOOS != "windows":
		return fmt.Errorf("%s is not executable (mode %s): run chmod +x on it", path, info.Mode())
	}
	if platform := binaryPlatform(path); platform != "" && platform != thisPlatform() {
		return fmt.Errorf("%s is built for %s and this is %s: install the build for this machine", path, platform, thisPlatform())
	}
	switch {
	case !isAbout(path, cause), exhausted(cause) != "":
		return fmt.Errorf("cannot start %s: %w%s", path, cause, exhausted(cause))
	case errors.Is(cause, fs.ErrNotExist):
		return fmt.Errorf("%s exists, but the interpreter or loader it names does not%s", path, because(cause))
	case errors.Is(cause, fs.ErrPermission):
		return fmt.Errorf("%s may not be executed here (mode %s): its file system may be mounted noexec, or one of its folders closed%s",
			path, info.Mode(), because(cause))
	case binaryPlatform(path) == "":
		return fmt.Errorf("%s is not a program of this system: it has no executable header%s", path, because(cause))
	}
	return fmt.Errorf("cannot start %s: %w", path, cause)
}

// explainHandshake says why a process that was started, and has ended since, did not become a provider.
func explainHandshake(ctx context.Context, p *process, cause error, limit time.Duration) error {
	first := p.firstLine()
	switch parts := strings.Split(first, "|"); {
	case ctx.Err() != nil:
		return stoppedStart(ctx)
	case isHandshake(parts) && p.unended():
		return fmt.Errorf("%s wrote the handshake %s to stdout without the newline that ends it: "+
			"write the whole line, newline included, and flush it", p.path, quoted(first))
	case isHandshake(parts):
		return explainOffer(p.path, parts, cause)
	case first != "":
		return fmt.Errorf("%s wrote %s to stdout where the handshake belongs: stdout is reserved for it, "+
			"so either this is not a provider or it prints too early", p.path, quoted(first))
	case p.felled() && p.closedStdout():
		return fmt.Errorf("%s closed its stdout, where the handshake belongs, without a word: it is not a provider", p.path)
	case p.felled():
		return fmt.Errorf("%s started but did not shake hands (it was given %s): it hangs in its start, or it is not a provider", p.path, limit)
	default:
		return fmt.Errorf("%s ended (%s) without a handshake: it is not a provider, or it failed to start", p.path, p.ending())
	}
}

// stoppedStart says that it was not the provider that failed: whoever wanted it does not any more.
func stoppedStart(ctx context.Context) error {
	return fmt.Errorf("the start was stopped: %w", context.Cause(ctx))
}

// isHandshake tells the line that a provider writes from any other text with bars in it.
func isHandshake(parts []string) bool {
	if len(parts) < 4 {
		return false
	}
	_, coreErr := strconv.Atoi(parts[0])
	_, versionErr := strconv.Atoi(parts[1])
	return coreErr == nil && versionErr == nil
}

// explainOffer says what is wrong with a handshake that was understood but not accepted.
func explainOffer(path string, parts []string, cause error) error {
	switch version := parts[1]; {
	case version != strconv.Itoa(plugin.ProtocolVersion):
		return fmt.Errorf("%s speaks version %s of the runtime protocol and this kernel speaks version %d: install a version of the provider made for it",
			path, version, plugin.ProtocolVersion)
	case len(parts) < 5 || parts[4] != "grpc":
		return fmt.Errorf("%s does not offer gRPC, the only transport there is: rebuild the provider with a gRPC server", path)
	case len(parts) < 6 || parts[5] == "":
		return fmt.Errorf("%s did not answer with a certificate, so the connection would not be protected: rebuild the provider with mutual TLS (AutoMTLS)", path)
	}
	return fmt.Errorf("%s shook hands but could not be connected to: %w", path, cause)
}

// isAbout reports whether an error is one of the binary itself, and not of what else a start needs, such as /dev/null.
func isAbout(path string, cause error) bool {
	file, ok := errors.AsType[*fs.PathError](cause)
	return ok && (file.Op == "exec" || filepath.Base(file.Path) == filepath.Base(path)) // a keeper's word, or of it or its copy
}

// exhausted says what to do when there was too little of something; empty when there was not.
func exhausted(cause error) string {
	switch {
	case errors.Is(cause, syscall.EMFILE):
		return "; raise the limit on open files (ulimit -n)"
	case errors.Is(cause, syscall.EAGAIN):
		return "; raise the limit on processes (ulimit -u), or end some"
	case errors.Is(cause, syscall.ENOMEM):
		return "; there is not enough memory, or the limit on it (ulimit -v) is too low"
	}
	return ""
}

func nearby(path string) string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return ""
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return schema.Hint(filepath.Base(path), names)
}

func because(cause error) string {
	if cause == nil {
		return ""
	}
	return fmt.Sprintf(" (%s)", cause)
}

// quoted shows a line of unknown origin: escaped and short.
func quoted(line string) string {
	const most = 120
	if len(line) > most {
		return strconv.QuoteToASCII(line[:most]) + "…"
	}
	return strconv.QuoteToASCII(line)
}

func thisPlatform() string { return runtime.GOOS + "/" + runtime.GOARCH }

// binaryPlatform reads from its header what a program was built for, as GOOS/GOARCH; "" when it has none, as a script.
// ELF does not say the system reliably, so this one is assumed where it uses ELF too.
func binaryPlatform(path string) string {
	if f, err := elf.Open(path); err == nil {
		defer func() { _ = f.Close() }()
		system := "linux"
		if runtime.GOOS != "darwin" && runtime.GOOS != "windows" {
			system = runtime.GOOS
		}
		return system + "/" + elfArch(f.FileHeader)
	}
	if f, err := macho.Open(path); err == nil {
		defer func() { _ = f.Close() }()
		return "darwin/" + map[macho.Cpu]string{macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64"}[f.Cpu]
	}
	if f, err := pe.Open(path); err == nil {
		defer func() { _ = f.Close() }()
		return "windows/" + map[uint16]string{
			pe.IMAGE_FILE_MACHINE_AMD64: "amd64", pe.IMAGE_FILE_MACHINE_ARM64: "arm64", pe.IMAGE_FILE_MACHINE_I386: "386",
		}[f.Machine]
	}
	return ""
}

func elfArch(h elf.FileHeader) string {
	switch h.Machine {
	case elf.EM_X86_64:
		return "amd64"
	case elf.EM_AARCH64:
		return "arm64"
	case elf.EM_386:
		return "386"
	case elf.EM_ARM:
		return "arm"
	case elf.EM_RISCV:
		return "riscv64"
	case elf.EM_PPC64:
		return "ppc64le"
	case elf.EM_S390:
		return "s390x"
	default:
		return strings.ToLower(strings.TrimPrefix(h.Machine.String(), "EM_"))
	}
}
