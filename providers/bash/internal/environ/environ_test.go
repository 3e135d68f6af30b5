package environ

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBuild(t *testing.T) {
	hinted := []string{"DEBIAN_FRONTEND=noninteractive", "EDITOR=true", "GIT_EDITOR=true", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0"}
	for _, c := range []struct {
		name       string
		own, allow []string
		set        map[string]string
		want       []string
	}{
		{"bare", nil, nil, nil, append(hinted, "NO_COLOR=1", "PAGER=cat", "PATH="+defaultPath, "PWD=/d", "TERM=dumb")},
		{"names and patterns", []string{"PATH=/bin", "LC_ALL=C", "LCX=1", "KEY=secret", "=odd", "nonsense", "MAIL="}, []string{"PATH", "LC_*", "MAIL"}, nil,
			append(hinted, "LC_ALL=C", "MAIL=", "NO_COLOR=1", "PAGER=cat", "PATH=/bin", "PWD=/d", "TERM=dumb")},
		{"hints win over what is inherited", []string{"PAGER=less", "TERM=xterm"}, []string{"*"}, nil,
			append(hinted, "NO_COLOR=1", "PAGER=cat", "PATH="+defaultPath, "PWD=/d", "TERM=dumb")},
		{"the configuration wins", []string{"A=1"}, []string{"A"}, map[string]string{"A": "2", "TERM": "xterm", "NO_COLOR": "", "PWD": "/elsewhere"},
			append([]string{"A=2"}, append(hinted, "NO_COLOR=", "PAGER=cat", "PATH="+defaultPath, "PWD=/d", "TERM=xterm")...)},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, Build(c.own, c.allow, c.set, "/d")) })
	}
}

func TestChecks(t *testing.T) {
	require.NoError(t, CheckPattern("LC_*"))
	require.Error(t, CheckPattern("LC_["))
	require.Error(t, CheckPattern(""))
	require.NoError(t, CheckVariable("A", "x=y\nz"))
	for _, name := range []string{"", "A=B", "A\x00"} {
		require.Error(t, CheckVariable(name, "v"))
	}
	require.Error(t, CheckVariable("A", "\x00"))
}
