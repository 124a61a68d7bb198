package config

import (
	"net/url"
	"slices"
	"strings"

	"guard/internal/names"
)

// corsMethods are what requests of browsers may be allowed to be.
var corsMethods = []string{"OPTIONS", "HEAD", "GET", "POST", "PUT", "DELETE", "PATCH"}

func (c *CORS) validate(r *report) {
	if !c.Enabled {
		if len(c.AllowOrigins) > 0 || c.AllowCredentials {
			r.fault(c.Pos.At("enabled"), "true, or no origins and credentials", "not set, and what it would allow is")
		}
		return
	}
	if len(c.AllowOrigins) == 0 {
		r.fault(c.Pos.At("allow_origins"), "the origins that are allowed", "none, and enabled is true")
	}
	for i, text := range c.AllowOrigins {
		c.validateOrigin(r, c.Pos.Item("allow_origins", i), text)
	}
	for i, method := range c.AllowMethods {
		if !slices.Contains(corsMethods, method) {
			r.fault(c.Pos.Item("allow_methods", i), quoted(corsMethods...), "%q", method)
		}
	}
	for _, list := range []struct {
		key   string
		names []string
	}{{"allow_headers", c.AllowHeaders}, {"expose_headers", c.ExposeHeaders}} {
		for i, name := range list.names {
			if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !isHeaderRune(r) }) {
				r.fault(c.Pos.Item(list.key, i), "the name of a header", "%q", name)
			}
		}
	}
	if c.MaxAge < 0 {
		r.fault(c.Pos.At("max_age"), "0 or more", "%v", c.MaxAge)
	}
}

// strangers are origins that nobody lists: what matches one of them matches every site.
var strangers = []string{"https://nobody-6b1f.invalid", "http://nobody-6b1f.invalid", "null"}

func (c *CORS) validateOrigin(r *report, pos Pos, text string) {
	switch {
	case isRegex(text):
		faults := len(r.faults)
		if checkPattern(r, pos, text); len(r.faults) > faults {
			return
		}
	case strings.Contains(text, "*"):
		if strings.ContainsAny(text, "? ,") {
			r.fault(pos, "an origin in which * stands for any characters", "%q", text)
			return
		}
	case !isOrigin(text):
		r.fault(pos, "scheme and host, with the port if it is not the usual one, such as https://app.example", "%q", text)
		return
	}
	p, err := names.ParsePattern(text)
	if err == nil && c.AllowCredentials && slices.ContainsFunc(strangers, p.Match) {
		r.fault(pos, "the sites alone that may use a browser's credentials, or no allow_credentials", "%q matches every site, and allow_credentials is set", text)
	}
}

// isOrigin reports whether a browser could send text as Origin.
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	return text == "null" || err == nil && u.Scheme != "" && u.Host != "" && u.Scheme+"://"+u.Host == text && strings.ToLower(text) == text
}

func isHeaderRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_", r)
}
