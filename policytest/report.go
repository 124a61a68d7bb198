package policytest

import (
	"encoding/xml"
	"fmt"
	"io"
	"text/tabwriter"
)

// WriteTable writes results for people: a line for each test, and what was not as wanted
// below it.
func WriteTable(w io.Writer, results []Result) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i := range results {
		r := &results[i]
		word := "ok"
		if len(r.Faults) > 0 {
			word = "FAILED"
		}
		if _, err := fmt.Fprintf(table, "%s\t%s\t%s\n", word, r.Test.Pos, r.Test.Name); err != nil {
			return fmt.Errorf("cannot write the results: %w", err)
		}
		for _, f := range r.Faults {
			if _, err := fmt.Fprintf(table, "\t\t  %s\n", f); err != nil {
				return fmt.Errorf("cannot write the results: %w", err)
			}
		}
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("cannot write the results: %w", err)
	}
	return nil
}

// Failed counts the tests that did not pass.
func Failed(results []Result) (n int) {
	for i := range results {
		if len(results[i].Faults) > 0 {
			n++
		}
	}
	return n
}

// junitSuite is the form that CI servers read: one suite of cases.
type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name      string         `xml:"name,attr"`
	ClassName string         `xml:"classname,attr"`
	File      string         `xml:"file,attr"`
	Line      int            `xml:"line,attr"`
	Seconds   string         `xml:"time,attr"`
	Failures  []junitFailure `xml:"failure"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
}

// WriteJUnit writes results as JUnit XML.
func WriteJUnit(w io.Writer, results []Result) error {
	suite := junitSuite{Name: "guard test", Tests: len(results), Failures: Failed(results)}
	for i := range results {
		r := &results[i]
		c := junitCase{
			Name: r.Test.Name, ClassName: r.Test.Pos.File, File: r.Test.Pos.File, Line: r.Test.Pos.Line,
			Seconds: fmt.Sprintf("%.6f", r.Took.Seconds()),
		}
		for _, f := range r.Faults {
			c.Failures = append(c.Failures, junitFailure{f})
		}
		suite.Cases = append(suite.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("cannot write JUnit XML: %w", err)
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", " ")
	if err := enc.Encode(suite); err != nil {
		return fmt.Errorf("cannot write JUnit XML: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}
