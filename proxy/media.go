package proxy

import (
	"strings"

	"github.com/valyala/fasthttp"

	"guard/config"
)

// vendorType is a media type of Elasticsearch's own, by which clients from version 8 on
// say what version of the API they speak. The zero value is none.
type vendorType struct {
	format  string // what stands behind the plus, in lower case: a key of formats
	version string // of compatible-with; may be empty
	rest    string // the other parameters, each with its semicolon
}

const vendorPrefix = "application/vnd.elasticsearch+"

// formats are those of a vendor type, with the plain type of each.
var formats = map[string]string{
	"json": "application/json", "x-ndjson": "application/x-ndjson",
	"yaml": "application/yaml", "cbor": "application/cbor", "smile": "application/smile",
}

// parseVendor reads a media type. It reports whether it is one of Elasticsearch's own.
func parseVendor(s string) (v vendorType, ok bool) {
	if len(s) < len(vendorPrefix) || !strings.EqualFold(s[:len(vendorPrefix)], vendorPrefix) {
		return v, false
	}
	format, params, _ := strings.Cut(s[len(vendorPrefix):], ";")
	v.format = strings.ToLower(strings.TrimRight(format, " \t"))
	if formats[v.format] == "" {
		return vendorType{}, false
	}
	for p := range strings.SplitSeq(params, ";") {
		p = strings.Trim(p, " \t")
		switch name, value, _ := strings.Cut(p, "="); {
		case strings.EqualFold(name, "compatible-with"):
			v.version = strings.ToLower(value)
		case p != "":
			v.rest += "; " + p
		}
	}
	return v, true
}

// plain is the type as it is called everywhere else.
func (v vendorType) plain() string { return formats[v.format] + v.rest }

// String is the type as Elasticsearch writes it in its answers.
func (v vendorType) String() string {
	if v.version == "" {
		return vendorPrefix + v.format
	}
	return vendorPrefix + v.format + ";compatible-with=" + v.version
}

// asked returns the vendor type that an Accept wants. Elasticsearch takes a list for none.
func asked(accept string) (vendorType, bool) {
	if strings.Contains(accept, ",") {
		return vendorType{}, false
	}
	return parseVendor(accept)
}

// asksVendorJSON reports whether an Accept wants JSON of a version of the API. It goes
// with a call whose answer is read here as well: an engine that knows the type wants the
// same version in the type of the body, and one that does not answers with JSON.
func asksVendorJSON(accept string) bool {
	v, ok := asked(accept)
	return ok && v.format == "json"
}

// bodyType returns the type of a body that guard wrote, beside the headers that go with
// it: with the version that their Accept asks for.
func bodyType(plain string, fields []field) string {
	for _, f := range fields {
		if f.key != "accept" {
			continue
		}
		if v, ok := asked(f.value); ok && v.version != "" {
			return v.sameVersion(plain)
		}
	}
	return plain
}

// sameVersion returns a plain type as a vendor type of the same version.
func (v vendorType) sameVersion(plain string) string {
	for format, typ := range formats {
		if typ == plain {
			return vendorType{format: format, version: v.version}.String()
		}
	}
	return plain
}

// compatible is what `compatibility: elasticsearch` does for one request: its client takes
// an OpenSearch for the engine that it wants. The zero value does nothing.
type compatible struct {
	on     bool
	accept vendorType // what the client wants; the zero value: nothing special
}

// translated returns how one request is treated, and makes the vendor types in its head
// plain: OpenSearch does not know them.
func translated(c config.Compatibility, h *head) compatible {
	if c != config.CompatibilityElasticsearch {
		return compatible{}
	}
	k := compatible{on: true}
	for i, f := range h.fields {
		switch f.key {
		case "accept":
			if v, ok := asked(f.value); ok {
				k.accept = v
			}
			h.fields[i].value = plainAccept(f.value)
		case "content-type":
			if v, ok := parseVendor(f.value); ok {
				h.fields[i].value = v.plain()
			}
		}
	}
	return k
}

// plainAccept makes the vendor types of a list plain.
func plainAccept(list string) string {
	if !strings.Contains(strings.ToLower(list), vendorPrefix) {
		return list
	}
	types := strings.Split(list, ",")
	for i, t := range types {
		if v, ok := parseVendor(strings.Trim(t, " \t")); ok {
			types[i] = v.plain()
		}
	}
	return strings.Join(types, ",")
}

const productHeader = "x-elastic-product"

// drops reports whether a header of an answer is replaced by mark.
func (k compatible) drops(key string) bool { return k.on && key == productHeader }

// mark makes an answer one of Elasticsearch: it says so, and its type is the one that was
// asked for, as there.
func (k compatible) mark(out *fasthttp.Response) {
	if !k.on {
		return
	}
	out.Header.Add("X-Elastic-Product", "Elasticsearch")
	if k.accept.format == "" {
		return
	}
	typ, _, _ := strings.Cut(string(out.Header.ContentType()), ";")
	want := k.accept
	if want.format == "x-ndjson" {
		want.format = "json" // lines are a form of requests alone
	}
	if strings.EqualFold(strings.TrimRight(typ, " \t"), formats[want.format]) {
		out.Header.SetContentType(want.String())
	}
}
