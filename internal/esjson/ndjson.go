package esjson

import "bytes"

// NextLine cuts the first line off src. The line comes without its newline and
// without one carriage return before that; the cluster drops both too. If src
// ends before a newline, the rest of it is the line and terminated is false:
// whether that is a fault is for the caller to say.
func NextLine(src []byte) (line, rest []byte, terminated bool) {
	n := bytes.IndexByte(src, '\n')
	if n < 0 {
		return src, nil, false
	}
	line, rest = src[:n:n], src[n+1:]
	if n > 0 && line[n-1] == '\r' {
		line = line[: n-1 : n-1]
	}
	return line, rest, true
}
