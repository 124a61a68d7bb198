package proxy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"guard/config"
	"guard/gate"
	"guard/internal/ask"
	"guard/internal/names"
)

// maxOrigin bounds the origins that are looked at: scheme, a host name and a port.
const maxOrigin = 300

// cors answers browsers in the place of the cluster. A nil one leaves all to it.
type cors struct {
	all         bool // "*": answers are the same for every origin
	origins     names.Patterns
	credentials bool
	expose      string // as Access-Control-Expose-Headers; empty: none
	preflight   []gate.Field
}

func newCORS(c config.CORS) (*cors, error) {
	if !c.Enabled {
		return nil, nil //nolint:nilnil // then it is the cluster's
	}
	origins, err := names.ParsePatterns(c.AllowOrigins...)
	if err != nil {
		return nil, err
	}
	return &cors{
		all: origins.IsAll(), origins: origins, credentials: c.AllowCredentials, expose: strings.Join(c.ExposeHeaders, ", "),
		preflight: []gate.Field{
			{Name: "Access-Control-Allow-Methods", Value: strings.Join(c.AllowMethods, ", ")},
			{Name: "Access-Control-Allow-Headers", Value: strings.Join(c.AllowHeaders, ", ")},
			{Name: "Access-Control-Max-Age", Value: strconv.Itoa(int(c.MaxAge.Seconds()))},
		},
	}, nil
}

// site is the web page that a request comes from, as its browser says.
type site struct {
	origin  string // empty: no page, or not to be looked at
	allowed bool
}

func (c *cors) siteOf(h *head) site {
	origin := h.value("origin")
	if c == nil || origin == "" {
		return site{}
	}
	return site{origin, len(origin) <= maxOrigin && c.origins.Match(origin)}
}

// screen settles what is settled before anybody asks who sent the request: it answers
// preflights, which carry no credentials, and refuses pages that are not allowed, as
// nodes do. Without that a page could make a browser send what only its answer is kept
// from. A page of the server itself is no other site.
func (t *turn) screen() (r reply, done bool) {
	h := &t.conn.head
	if t.site.origin == "" {
		return reply{}, false
	}
	preflight := h.method == "OPTIONS" && h.value("access-control-request-method") != ""
	switch {
	case t.site.allowed && preflight:
		t.route = "preflight"
		return reply{whole: gate.Answer{Status: 200, Header: t.srv.cors.preflight}}, true
	case t.site.allowed, !preflight && sameOrigin(t.site.origin, h.value("host")):
		return reply{}, false
	}
	return t.refuse(&ask.Rejection{
		Status: 403, Reason: ask.ReasonForeignOrigin, Public: "the origin " + strconv.Quote(clip(t.site.origin)) + " is not allowed",
	}), true
}

// sameOrigin reports whether a page came from the host that it now asks.
func sameOrigin(origin, host string) bool {
	_, from, ok := strings.Cut(origin, "://")
	return ok && strings.EqualFold(from, host)
}

// stamp says to the browser whether the page may see the answer. Caches learn that it
// depends on the page, also from answers to none.
func (c *cors) stamp(out *fasthttp.ResponseHeader, s site) {
	if c == nil {
		return
	}
	if !c.all {
		out.Add("Vary", "Origin")
	}
	if !s.allowed {
		return
	}
	origin := s.origin
	if c.all {
		origin = "*"
	}
	out.Add("Access-Control-Allow-Origin", origin)
	if c.credentials {
		out.Add("Access-Control-Allow-Credentials", "true")
	}
	if c.expose != "" {
		out.Add("Access-Control-Expose-Headers", c.expose)
	}
}

// disown takes out of the cluster's answer what is guard's to say.
func (c *cors) disown(a *answer) {
	if c != nil {
		a.fields = slices.DeleteFunc(a.fields, func(f field) bool { return strings.HasPrefix(f.key, "access-control-") })
	}
}

// corsRequest are the headers by which browsers ask; they end where they are answered.
var corsRequest = map[string]bool{"origin": true, "access-control-request-method": true, "access-control-request-headers": true}
