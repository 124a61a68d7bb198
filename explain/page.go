package explain

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
)

//go:embed page.html
var pageText string

// page is one file that needs no other: it can be kept, or sent to an auditor.
var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"list":    listed,
	"by":      Cell.by,
	"targets": func(p Part) string { return targetsText(&p) },
}).Parse(pageText))

// WriteHTML writes r as a page of its own.
func (r *Report) WriteHTML(w io.Writer) error {
	if err := page.Execute(w, r); err != nil {
		return fmt.Errorf("cannot write the page: %w", err)
	}
	return nil
}
