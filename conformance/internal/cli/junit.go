package cli

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/agentco/agent/conformance"
	"github.com/agentco/agent/conformance/internal/plain"
)

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitMessage `xml:"failure"`
	Skipped *junitMessage `xml:"skipped"`
	Output  string        `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// writeJUnit writes a report as a suite with a case for each rule. JUnit knows no warnings: a broken SHOULD is a case
// that passes and says so.
func writeJUnit(w io.Writer, r conformance.Report) error {
	suite := junitSuite{
		Name: "conformance of " + plain.Line(strings.Join(r.Command, " ")), Tests: len(r.Rows),
		Failures: r.Count(conformance.Fail), Skipped: r.Count(conformance.Skipped), Time: fmt.Sprintf("%.3f", r.Took.Seconds()),
	}
	for _, row := range r.Rows {
		group, name, _ := strings.Cut(row.ID, ".")
		c := junitCase{Class: "conformance." + group, Name: name}
		seen := plain.Line(row.Seen)
		switch row.Verdict {
		case conformance.Fail:
			c.Failure = &junitMessage{seen, fmt.Sprintf("%s: %s\n%s: %q", row.Level, row.Title, row.Section, row.Sentence)}
		case conformance.Skipped:
			c.Skipped = &junitMessage{Message: seen}
		case conformance.Warn:
			c.Output = "warning: " + seen
		default:
			c.Output = seen
		}
		suite.Cases = append(suite.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(suite); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
