package client

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Announcement is the line by which a provider says where it serves.
type Announcement struct {
	Core, Version    int
	Network, Address string
	Protocol         string
	// Certificate is the provider's own, in DER; nil when it announces none.
	Certificate []byte
	// Undecoded is why what stands for a certificate is none; nil when there is one, or nothing.
	Undecoded error
}

// ParseAnnouncement reads the first line of stdout.
func ParseAnnouncement(line string) (Announcement, error) {
	line = strings.TrimSpace(line)
	parts := strings.Split(line, "|")
	if len(parts) < 5 {
		return Announcement{}, fmt.Errorf("%q has %d parts, not core|version|network|address|protocol|certificate", clip(line), len(parts))
	}
	a := Announcement{Network: parts[2], Address: parts[3], Protocol: parts[4]}
	var err error
	if a.Core, err = strconv.Atoi(parts[0]); err != nil {
		return a, fmt.Errorf("the core protocol is %q, which is no number", clip(parts[0]))
	}
	if a.Version, err = strconv.Atoi(parts[1]); err != nil {
		return a, fmt.Errorf("the version is %q, which is no number", clip(parts[1]))
	}
	if a.Network != "unix" && a.Network != "tcp" {
		return a, fmt.Errorf("the network is %q, neither unix nor tcp", clip(a.Network))
	}
	if a.Address == "" {
		return a, errors.New("the address is empty")
	}
	if len(parts) > 5 && parts[5] != "" {
		a.Certificate, a.Undecoded = certificate(parts[5])
	}
	return a, nil
}

// certificate decodes as go-plugin does, which takes no padding.
func certificate(text string) ([]byte, error) {
	der, err := base64.RawStdEncoding.DecodeString(text)
	switch {
	case err == nil:
		return der, nil
	case strings.HasSuffix(text, "="):
		return nil, errors.New("the certificate ends with =: go-plugin reads base64 without padding, so leave the padding away")
	default:
		return nil, fmt.Errorf("the certificate is not in base64: %w", err)
	}
}

// Dial connects to the address, without a word.
func (a Announcement) Dial() (net.Conn, error) { return net.Dial(a.Network, a.Address) }

func clip(s string) string {
	const most = 80
	if s = strings.ToValidUTF8(s, "\uFFFD"); len([]rune(s)) > most {
		return string([]rune(s)[:most]) + "…"
	}
	return s
}
