package query

import (
	"bytes"
	"strconv"

	"guard/internal/esjson"
)

// Names are the names of a client's that a search was forwarded without: each stands
// behind a stand-in of its own, so that they can be put back into what the cluster
// says of them. The zero Names holds none. It serves one request and is not safe for
// concurrent use.
type Names struct {
	base  string
	names []string
	order map[string]int
}

// Len returns how many names were replaced.
func (n *Names) Len() int { return len(n.names) }

// standIn returns what stands for name: base, base.1, base.2 ... Where no index has
// a field called base none has a field below it.
func (n *Names) standIn(base, name string) string {
	i, known := n.order[name]
	if !known {
		if n.order == nil {
			n.order = map[string]int{}
		}
		i = len(n.names)
		n.base = base
		n.order[name] = i
		n.names = append(n.names, name)
	}
	if i == 0 {
		return base
	}
	return base + "." + strconv.Itoa(i)
}

// AppendRestored appends text, which is JSON from the cluster, with the client's
// names in place of their stand-ins: an error then reads as it would for a field that
// no index has. Names are escaped as in a string; the result does not alias text.
func (n *Names) AppendRestored(dst, text []byte) []byte {
	if len(n.names) == 0 {
		return append(dst, text...)
	}
	for {
		at := bytes.Index(text, []byte(n.base))
		if at < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:at]...)
		text = text[at+len(n.base):]
		i, digits := n.index(text)
		text = text[digits:]
		dst = appendInString(dst, n.names[i])
	}
}

// index reads which name follows a base: ".12" is number 12, anything else the
// first one and what stands there.
func (n *Names) index(text []byte) (i, length int) {
	if len(text) < 2 || text[0] != '.' || text[1] == '0' {
		return 0, 0
	}
	end := 1
	for end < len(text) && '0' <= text[end] && text[end] <= '9' {
		end++
	}
	i, err := strconv.Atoi(string(text[1:end]))
	if err != nil || i >= len(n.names) {
		return 0, 0
	}
	return i, end
}

// appendInString appends s as it stands between the quotes of a JSON string.
func appendInString(dst []byte, s string) []byte {
	at := len(dst)
	dst = esjson.AppendString(dst, s)
	copy(dst[at:], dst[at+1:len(dst)-1])
	return dst[:len(dst)-2]
}

// standIn returns what is forwarded in place of name, which the rule hides.
func (k *walker) standIn(name string) string {
	if k.replaced == nil {
		if k.replaced = k.rules.Replaced; k.replaced == nil {
			k.replaced = &Names{}
		}
	}
	return k.replaced.standIn(k.rules.Fields.StandIn(), name)
}
