package text

import "unsafe"

// Whole is [Scan] of a file that is held already, where all of it is wanted and
// nothing in it has to be decoded: then its text is body itself, which must not
// be changed any more. Of any other file it says that it is not for it.
func Whole(body []byte, w Window) (lines Lines, ok bool) {
	if len(body) == 0 || len(body) > w.MaxBytes || w.First != 1 || Detect(body) != Narrow {
		return Lines{}, false
	}
	census := Census{Bytes: len(body)}
	if verbatim(body, &census) < len(body) || census.Binary() {
		return Lines{}, false
	}
	total := census.LF
	if body[len(body)-1] != '\n' {
		total++
	}
	if total > w.Count || w.Accept != nil && w.Accept(body[:min(len(body), SniffLen)]) != nil {
		return Lines{}, false
	}
	return Lines{
		Text: unsafe.String(&body[0], len(body)), Census: census, Format: Narrow,
		First: 1, Last: total, Total: total, Complete: true,
	}, true
}
