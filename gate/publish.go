package gate

import (
	"net"
	"strings"

	"guard/config"
	"guard/internal/ask"
	"guard/internal/esjson"
)

// Clients that sniff ask the cluster for the addresses of its nodes and go there: past
// guard, or nowhere. They read http.publish_address of each node, so that is what they
// are shown otherwise. It hides nothing from anybody: other members tell where nodes are.

// publish returns how the answer to a request for the nodes is treated; nil as it comes.
func (s *Snapshot) publish(r *ask.Request) Treatment {
	switch s.settings.PublishAddress {
	case config.PublishKeep:
		return nil
	case config.PublishHide:
		return publishTreatment{}
	case config.PublishHost:
		return publishTreatment{address: authority(r)}
	default:
		return publishTreatment{address: s.settings.PublishAddress}
	}
}

// authority is the address by which the client reached guard, with its port; empty if
// the client did not say.
func authority(r *ask.Request) string {
	host := r.Header.Host
	if name, port, err := net.SplitHostPort(host); err == nil && name != "" && port != "" {
		return host
	}
	host = strings.TrimSuffix(host, ":")
	port := "80"
	if r.Secure {
		port = "443"
	}
	if _, _, err := net.SplitHostPort(host + ":" + port); err != nil || host == "" {
		return ""
	}
	return host + ":" + port
}

// publishTreatment shows another address for each node.
type publishTreatment struct {
	address string // empty: the member is left out
}

// Treat changes these members and no other byte. What is no JSON passes: clients that
// sniff read JSON.
func (t publishTreatment) Treat(a Answer) (Answer, error) {
	if a.Status >= 300 || !strings.Contains(a.ContentType, "json") {
		return a, nil
	}
	v, err := parseAnswer(new(esjson.Tape), a)
	if err != nil {
		return a, nil //nolint:nilerr // nothing is hidden here, so what is not understood passes
	}
	nodes, _ := v.Lookup("nodes")
	out, done := make([]byte, 0, len(a.Body)+len(a.Body)/8), 0
	for _, node := range nodes.Members() {
		http, _ := node.Lookup("http")
		from, to, ok := t.place(http)
		if !ok {
			continue
		}
		out = append(out, a.Body[done:from]...)
		if t.address != "" {
			out = esjson.AppendString(out, t.address)
		}
		done = to
	}
	a.Body = append(out, a.Body[done:]...)
	return a, nil
}

// place returns which bytes give way: those of the address, or of the whole member with
// one of the commas around it.
func (t publishTreatment) place(http esjson.Value) (from, to int, ok bool) {
	before := 0 // the end of the member before
	for key, value := range http.Pairs() {
		start, end := key.Offset(), value.Offset()+len(value.Raw())
		switch {
		case ok: // the member behind the one that is left out, which is the first
			return from, start, true
		case key.String() != "publish_address" || !value.Is(esjson.String):
		case t.address != "":
			return value.Offset(), end, true
		case before > 0:
			return before, end, true
		default:
			from, to, ok = start, end, true
		}
		before = end
	}
	return from, to, ok
}
