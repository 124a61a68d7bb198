package proxy

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"
)

// maxAnswerFields bounds the header lines of an answer. A node writes a Warning for each
// deprecated thing in each index that a request touches.
const maxAnswerFields = 1024

// parseAnswer reads the head of an answer as strictly as that of a request: an answer
// with two lengths could be cut in two by whoever reads it.
func parseAnswer(block []byte, method string) (*answer, framing, bool, error) {
	text := string(block)
	line, rest, _ := cutLine(text)
	a := &answer{}
	http10, err := a.parseStatus(line)
	if err != nil {
		return nil, framing{}, false, err
	}
	a.fields = make([]field, 0, strings.Count(rest, "\n"))
	var (
		f         framing
		hasLength bool
		hops      string
		keep      = !http10
	)
	for rest != "\r\n" {
		var ok bool
		if line, rest, ok = cutLine(rest); !ok {
			return nil, f, false, garbage("an answer head with a broken line end")
		}
		h, err := parseField(line)
		if err != nil {
			return nil, f, false, &wireError{faultGarbage, err}
		}
		if len(a.fields) == maxAnswerFields {
			return nil, f, false, garbage("an answer with more than %d header lines", maxAnswerFields)
		}
		switch name := h.key; name {
		case "content-length":
			n, err := parseLength(h.value)
			if err != nil || hasLength {
				return nil, f, false, garbage("an answer with content length %q, or with two", clip(h.value))
			}
			hasLength, f.length = true, n
		case "transfer-encoding":
			if !strings.EqualFold(h.value, "chunked") || f.chunked {
				return nil, f, false, garbage("an answer with transfer encoding %q", clip(h.value))
			}
			f.chunked = true
		case "connection":
			hops += "," + h.value
			keep = keep && !hasToken(h.value, "close")
		case "content-type", "content-encoding":
			if a.value(name) != "" {
				return nil, f, false, garbage("an answer with two headers %q", name)
			}
			a.fields = append(a.fields, h)
		default:
			if !hopByHop[name] {
				a.fields = append(a.fields, h)
			}
		}
	}
	if hops != "" {
		a.fields = withoutNamed(a.fields, hops)
	}
	if a.status == 204 && (f.chunked || f.length > 0) {
		keep = false // a body may come all the same, and would be taken for the next answer
	}
	f, err = a.frame(f, hasLength, method)
	return a, f, keep, err
}

// frame settles how the body of the answer ends.
func (a *answer) frame(f framing, hasLength bool, method string) (framing, error) {
	switch {
	case f.chunked && hasLength:
		return f, garbage("an answer with a length beside chunks")
	case a.status/100 == 1, a.status == 204:
		a.length = 0
		return framing{}, nil
	case method == "HEAD", a.status == 304:
		a.bodiless = true
		if a.length = f.length; !hasLength {
			a.length = -1
		}
		return framing{}, nil
	case f.chunked:
		a.length = -1
		return f, nil
	case !hasLength:
		// Its end could not be told from a cut.
		return f, garbage("an answer without a length")
	}
	a.length = f.length
	return f, nil
}

func (a *answer) parseStatus(line string) (http10 bool, err error) {
	version, rest, ok := strings.Cut(line, " ")
	code, reason, _ := strings.Cut(rest, " ")
	if !ok || version != "HTTP/1.1" && version != "HTTP/1.0" || len(code) != 3 {
		return false, garbage("status line %q", clip(line))
	}
	n, err := strconv.Atoi(code)
	if err != nil || n < 100 || n > 599 || n == 101 || !isText([]byte(reason)) {
		return false, garbage("status line %q", clip(line))
	}
	a.status, a.reason = n, reason
	return version == "HTTP/1.0", nil
}

// answerBody reads the body of an answer and settles what becomes of the connection.
type answerBody struct {
	wire *wire
	up   *upload
	stop func() bool
	keep bool
	ctx  context.Context //nolint:containedctx // the body lives no longer than the call that it answers
	once sync.Once
}

func (b *answerBody) Read(p []byte) (int, error) {
	n, err := b.wire.body.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // the sticky value of bodyReader
		if errors.Is(err, errCutBody) {
			err = errCutAnswer
		}
		err = b.wire.fault(b.ctx, err)
		b.wire.host.suspect(err)
	}
	return n, err
}

// SourceDone reports whether nothing reads the source of the call any more.
func (b *answerBody) SourceDone() bool { return b.up.sourceDone() }

// Close gives the connection back if both bodies are through, and ends it otherwise:
// the cluster then knows that nobody waits for the rest.
func (b *answerBody) Close() {
	b.once.Do(func() {
		if !b.end() {
			b.wire.kill()
			return
		}
		b.wire.host.put(b.wire)
	})
}

// over ends the call as Close does, and leaves the connection to the caller. It reports
// whether another call may be made on it.
func (b *answerBody) over() (open bool) {
	b.once.Do(func() { open = b.end() })
	return open
}

// end reports whether both bodies are through, and the connection fit for another call.
func (b *answerBody) end() bool {
	alive := b.stop()
	if !b.up.settle() {
		alive = false
		b.wire.kill() // now, since the upload may wait in it
	}
	b.keep = b.up.finish() && b.keep
	alive = alive && b.keep && b.wire.body.ended()
	if alive && b.wire.src.Buffered() > 0 {
		b.wire.host.surplus()
		alive = false
	}
	return alive
}
