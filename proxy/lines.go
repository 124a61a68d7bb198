package proxy

import (
	"bufio"
	"errors"
	"io"

	"guard/config"
	"guard/gate"
	"guard/internal/ask"
	"guard/internal/esjson"
)

// linePump moves a bulk body from the client to the cluster line by line, as the plan
// of the lines says. It holds one line and one piece of output at a time.
type linePump struct {
	src   *bufio.Reader
	lines gate.Lines
	limit config.Limits
	read  int64
	line  []byte // a long line, gathered
	out   []byte
	// action is the last action line: a plan may look at it until its item is done.
	action  []byte
	local   *gate.Answer // what End returned
	share   *share
	held    int64 // bytes taken from share
	parsing int64 // of these, for the dearest document so far
}

// linesBuffer is read at a time.
const linesBuffer = 32 << 10

// outPiece is how much is gathered before it is written.
const outPiece = 32 << 10

func newLinePump(body io.Reader, lines gate.Lines, limit config.Limits, s *share) *linePump {
	return &linePump{src: bufio.NewReaderSize(body, linesBuffer), lines: lines, limit: limit, share: s}
}

// hold takes from the share what the buffers and the plan have grown by, and what parsing
// a document may take.
func (p *linePump) hold(parsing int64) error {
	p.parsing = max(p.parsing, parsing)
	n := int64(linesBuffer+cap(p.line)+cap(p.out)+cap(p.action)) + p.lines.Held() + p.parsing - p.held
	if n <= 0 {
		return nil
	}
	p.held += n
	return p.share.take(n)
}

// parsing bounds what it takes to parse a document of a bulk.
func parsing(document []byte) int64 {
	const small = 16 << 10 // counted at its dearest: that is faster than to look
	if len(document) <= small {
		return esjson.MostCost(len(document))
	}
	return esjson.Cost(document)
}

// run pumps until the body ends, and then done is true, or until at least enough bytes
// were written (0: no bound). An error means that the body must end before its last
// chunk.
func (p *linePump) run(w io.Writer, enough int) (done bool, err error) {
	for written := 0; enough == 0 || written < enough; {
		more, err := p.item()
		if err != nil {
			return false, err
		}
		if more && len(p.out) < outPiece {
			continue
		}
		n, err := w.Write(p.out)
		if err != nil {
			return false, err
		}
		written += n
		p.out = p.out[:0]
		if !more {
			p.local, err = p.lines.End()
			return true, lineFault(err)
		}
	}
	return false, nil
}

// item plans one action with its document and appends what is sent for it. It reports
// whether there was one.
func (p *linePump) item() (bool, error) {
	line, err := p.next()
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if len(line) == 0 {
		return true, nil // the clusters pass over empty lines between two actions
	}
	p.action = append(p.action[:0], line...)
	hasDocument, err := p.lines.Action(p.action)
	if err != nil {
		return false, lineFault(err)
	}
	var document []byte
	if hasDocument {
		if document, err = p.next(); errors.Is(err, io.EOF) {
			return false, badRequest("the bulk body ends after an action that wants a document")
		} else if err != nil {
			return false, err
		}
	}
	if err := p.hold(parsing(document)); err != nil {
		return false, err
	}
	if p.out, err = p.lines.Item(p.out, document); err != nil {
		return false, lineFault(err)
	}
	return true, p.hold(0)
}

// next returns the next line without its end. It holds until the following call.
func (p *linePump) next() ([]byte, error) {
	p.line = p.line[:0]
	for {
		part, err := p.src.ReadSlice('\n')
		if p.read += int64(len(part)); p.read > p.limit.MaxBulkBody {
			return nil, bulkBody(p.limit).refusal()
		}
		if len(p.line)+len(part) > p.limit.MaxBulkLine {
			return nil, limitFault(ask.LimitBulkLine, 413, "a line of the bulk body is longer than %d bytes", p.limit.MaxBulkLine)
		}
		switch {
		case err == nil && len(p.line) == 0:
			return trimLine(part), nil
		case err == nil:
			p.line = append(p.line, part...)
			return trimLine(p.line), nil
		case errors.Is(err, bufio.ErrBufferFull):
			p.line = append(p.line, part...)
			if err := p.hold(0); err != nil {
				return nil, err
			}
		case errors.Is(err, io.EOF):
			if p.line = append(p.line, part...); len(p.line) == 0 {
				return nil, io.EOF
			}
			// OpenSearch takes a last line without its end (measured on 2.19.4); a cut body
			// is another error. It is sent with its end.
			return p.line, nil
		default:
			return nil, bodyFault(err, bulkBody(p.limit))
		}
	}
}

// trimLine cuts the newline and one carriage return before it: the clusters drop both.
func trimLine(b []byte) []byte {
	b = b[:len(b)-1]
	if n := len(b); n > 0 && b[n-1] == '\r' {
		b = b[:n-1]
	}
	return b
}

// lineFault makes a refusal of what a plan says about a line.
func lineFault(err error) error {
	var rej *ask.Rejection
	if err == nil || errors.As(err, &rej) {
		return err
	}
	return &ask.Rejection{Status: 400, Type: "illegal_argument_exception", Public: err.Error(), Reason: ask.ReasonBadRequest, Cause: err}
}
