package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// MaxArchive is the size of the largest archive that is fetched, in bytes.
const MaxArchive = 1 << 30

// File is what an archive is downloaded into: an *os.File, or a part of one.
type File interface {
	io.ReadWriteSeeker
	Truncate(size int64) error
}

// Progress is told how many bytes of a download are there, and of how many; total is 0 while that is not known.
// It is called by the goroutine that downloads, often; done falls when a server can only begin anew.
type Progress func(done, total int64)

// Download fetches an archive into f and checks it against Asset.SHA256, which must be set. What f holds already
// is kept if it turns out to be the beginning of the archive, so a part that an earlier attempt left is not
// fetched again; a connection that is cut is taken up where it ended. f is complete and right only when the
// error is nil: it is never renamed, synced or closed here, and holds a part of the archive, or nothing, after an
// error. progress may be nil. Errors are of type *Error.
func (c *Client) Download(ctx context.Context, a Asset, f File, progress Progress) error {
	if a.SHA256 == "" {
		return &Error{Code: NoChecksum, Attempted: "download " + a.Name, On: a.shown(), Reason: "there is no checksum to verify it by"}
	}
	if progress == nil {
		progress = func(int64, int64) {}
	}
	d := &download{c: c, a: a, f: f, r: a.request(), progress: progress, hash: sha256.New()}
	d.r.archive = true
	if err := d.begin(); err != nil {
		return err
	}
	if d.resumed = d.done > 0; d.matches() {
		d.progress(d.done, d.done)
		return nil // it was all there
	}
	err := d.run(ctx)
	if CodeOf(err) == ChecksumMismatch && d.resumed {
		// The part that was there may be of another file, or the file was replaced in between: once more, whole.
		if e := d.restart(); e != nil {
			return e
		}
		err = d.run(ctx)
	}
	if CodeOf(err) == ChecksumMismatch {
		if e := d.restart(); e != nil {
			return e
		}
	}
	return err
}

// download is one archive on its way. hash has seen the first done bytes of f.
type download struct {
	c        *Client
	a        Asset
	f        File
	r        request
	progress Progress
	hash     hash.Hash
	done     int64
	total    int64
	etag     string // of the file that done bytes are of; empty when unknown
	resumed  bool
}

// begin takes what f holds into account.
func (d *download) begin() *Error {
	_, err := d.f.Seek(0, io.SeekStart)
	if err == nil {
		d.done, err = io.Copy(d.hash, d.f)
	}
	return d.local(err)
}

func (d *download) restart() *Error {
	d.hash.Reset()
	d.done, d.etag, d.resumed = 0, "", false
	err := d.f.Truncate(0)
	if err == nil {
		_, err = d.f.Seek(0, io.SeekStart)
	}
	return d.local(err)
}

func (d *download) local(err error) *Error {
	if err == nil {
		return nil
	}
	return &Error{Code: LocalFile, Attempted: "download " + d.a.Name, Reason: err.Error(), Err: err, Advice: "Check the free space and the permissions"}
}

func (d *download) matches() bool { return hex.EncodeToString(d.hash.Sum(nil)) == d.a.SHA256 }

// maxResumes bounds how often a connection is taken up again that brings something each time.
const maxResumes = 100

// run fetches the rest. An attempt that brought something is not counted against maxAttempts.
func (d *download) run(ctx context.Context) error {
	for resumes := 0; ; resumes++ {
		before := d.done
		_, err := retry(ctx, d.c, func() (struct{}, *Error) {
			e := d.attempt(ctx)
			if e != nil && e.retry && d.done > before {
				e.retry, e.resume = false, true
			}
			return struct{}{}, e
		})
		switch e, ok := errors.AsType[*Error](err); {
		case err == nil && d.matches():
			return nil
		case err == nil:
			return d.mismatch()
		case !ok || !e.resume || d.done <= before || resumes == maxResumes:
			return err
		}
	}
}

func (d *download) mismatch() *Error {
	return &Error{Code: ChecksumMismatch, Attempted: "download " + d.a.Name, On: d.a.shown(),
		Reason: fmt.Sprintf("expected sha256 %s, got %x", d.a.SHA256, d.hash.Sum(nil)),
		Advice: "Nothing of it is used. It was changed after its release, or damaged on the way; try again, and tell the provider's authors if it stays so"}
}

// attempt asks for what is missing and writes it.
func (d *download) attempt(ctx context.Context) *Error {
	if d.a.from.dir != "" {
		return d.copyFile(ctx)
	}
	r := d.r
	r.header = http.Header{"Accept-Encoding": {"identity"}} // a range is one of the bytes themselves
	if d.done > 0 {
		r.header.Set("Range", fmt.Sprintf("bytes=%d-", d.done))
		if d.etag != "" {
			r.header.Set("If-Range", d.etag)
		}
	}
	answer, e := d.c.exchange(ctx, r)
	if e != nil {
		return e
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode == http.StatusRequestedRangeNotSatisfiable && d.done > 0:
		if e := d.restart(); e != nil {
			return e
		}
		return r.blamed(&Error{Code: Unreachable, Attempted: r.attempted, On: answer.shown, Reason: "the server has less of it than is here already", retry: true})
	case answer.StatusCode/100 != 2:
		return r.refused(answer.Response, answer.shown)
	case answer.StatusCode == http.StatusPartialContent && d.done > 0 && rangeStart(answer.Header) == d.done:
		d.resumed = true
	case answer.StatusCode == http.StatusOK:
		if e := d.restart(); e != nil {
			return e
		}
	default:
		return r.blamed(&Error{Code: InvalidAnswer, Attempted: r.attempted, On: answer.shown, Reason: "the server answered " + status(answer.Response) + ", with another part than was asked for"})
	}
	d.etag = strongTag(answer.Header)
	if answer.ContentLength >= 0 {
		d.total = d.done + answer.ContentLength
	}
	return d.take(ctx, r, answer.shown, answer.Body)
}

func (d *download) copyFile(ctx context.Context) *Error {
	f, e := d.r.openFile()
	if e != nil {
		return e
	}
	defer f.Close()
	if e := d.restart(); e != nil {
		return e
	}
	if info, err := f.Stat(); err == nil {
		d.total = info.Size()
	}
	return d.take(ctx, d.r, d.r.url, f)
}

// take writes and hashes a body, to its end.
func (d *download) take(ctx context.Context, r request, shown string, from io.Reader) *Error {
	if d.total > MaxArchive {
		return d.tooLarge(r, shown)
	}
	buf := make([]byte, 128<<10)
	d.progress(d.done, d.total)
	for {
		if e := cancelled(ctx, r.attempted, shown); e != nil {
			return e
		}
		n, err := from.Read(buf)
		if d.done+int64(n) > MaxArchive {
			return d.tooLarge(r, shown)
		}
		if n > 0 {
			if _, writeErr := d.f.Write(buf[:n]); writeErr != nil {
				return d.local(writeErr)
			}
			d.hash.Write(buf[:n])
			d.done += int64(n)
			d.progress(d.done, d.total)
		}
		switch {
		case err == io.EOF && d.done < d.total:
			return d.c.broken(ctx, ctx, r, shown, io.ErrUnexpectedEOF)
		case err == io.EOF:
			return nil
		case err != nil:
			return d.c.broken(ctx, ctx, r, shown, err)
		}
	}
}

func (d *download) tooLarge(r request, shown string) *Error {
	return r.blamed(&Error{Code: TooLarge, Attempted: r.attempted, On: shown, Reason: fmt.Sprintf("it is larger than %d MiB, as no archive of a provider is", MaxArchive>>20)})
}

// request is the one for the file itself.
func (a Asset) request() request {
	r := request{from: a.from, url: a.URL, accept: "application/octet-stream", attempted: "download " + a.Name, file: true}
	if u, err := url.Parse(a.apiURL); a.apiURL != "" && err == nil && a.from.token != "" && a.from.owns(u) {
		r.url = a.apiURL // GitHub hands out files of private repositories there alone
	}
	return r
}

// shown is where the file is, fit for messages.
func (a Asset) shown() string {
	if u, err := url.Parse(a.URL); err == nil && u.Host != "" {
		return shownURL(u)
	}
	return a.URL
}

// rangeStart is where the part in an answer begins; -1 when that is not said.
func rangeStart(h http.Header) int64 {
	rest, ok := strings.CutPrefix(h.Get("Content-Range"), "bytes ")
	start, _, dash := strings.Cut(rest, "-")
	n, err := strconv.ParseInt(start, 10, 64)
	if !ok || !dash || err != nil {
		return -1
	}
	return n
}

// strongTag is an entity tag that vouches for every byte; a weak one does not.
func strongTag(h http.Header) string {
	tag := h.Get("ETag")
	if strings.HasPrefix(tag, "W/") || !strings.HasPrefix(tag, `"`) {
		return ""
	}
	return tag
}
