package esjson

// maxScanDepth bounds the recursion of everything in this package. The clusters
// themselves read no more than 1,000 levels.
const maxScanDepth = 1024

// Skip returns the offset after the JSON value of an answer that starts at or after
// pos. It accepts what Parse accepts under Limits.HalfPairs, but does not compare the
// keys of an object.
func Skip(src []byte, pos int) (end int, err error) {
	end, want := skipValue(src, pos, maxScanDepth)
	if want != "" {
		return end, fail(src, end, want)
	}
	return end, nil
}

// SkipSpace returns the offset of the first byte at or after pos that is not
// white space; it is len(src) if there is none.
func SkipSpace(src []byte, pos int) int { return skipSpace(src, pos) }

// SkipString returns the offset after the string whose opening quote is at pos,
// and whether it holds an escape. If it does not, its bytes are its meaning.
func SkipString(src []byte, pos int) (end int, escaped bool, err error) {
	if pos >= len(src) || src[pos] != '"' {
		return pos, false, fail(src, pos, wantKey)
	}
	end, escaped, want := scanString(src, pos+1)
	if want != "" {
		return end, escaped, fail(src, end, want)
	}
	return end, escaped, nil
}

// AppendUnescaped appends the meaning of lexeme, a string as SkipString found it
// with its quotes.
func AppendUnescaped(dst, lexeme []byte) []byte {
	return appendUnescaped(dst, lexeme[1:len(lexeme)-1])
}

func skipValue(src []byte, i, depth int) (end int, want string) {
	i = skipSpace(src, i)
	if i >= len(src) {
		return i, wantValue
	}
	switch c := src[i]; c {
	case '"':
		if end, _, want = scanString(src, i+1); want == wantSurrogate {
			end, _, _, want = scanHalves(src, i+1)
		}
		return end, want
	case '{':
		return skipObject(src, i, depth-1)
	case '[':
		return skipArray(src, i, depth-1)
	case 't':
		return scanLiteral(src, i, "true")
	case 'f':
		return scanLiteral(src, i, "false")
	case 'n':
		return scanLiteral(src, i, "null")
	default:
		if c != '-' && !isDigit(c) {
			return i, wantValue
		}
		return scanNumber(src, i)
	}
}

func skipObject(src []byte, i, depth int) (end int, want string) {
	if depth < 0 {
		return i, wantShallower
	}
	i = skipSpace(src, i+1)
	if i < len(src) && src[i] == '}' {
		return i + 1, ""
	}
	want = wantKeyOrEnd
	for {
		if i >= len(src) || src[i] != '"' {
			return i, want
		}
		if i, _, want = scanString(src, i+1); want != "" {
			return i, want
		}
		i = skipSpace(src, i)
		if i >= len(src) || src[i] != ':' {
			return i, wantColon
		}
		if i, want = skipValue(src, i+1, depth); want != "" {
			return i, want
		}
		i = skipSpace(src, i)
		if i >= len(src) || src[i] != ',' {
			break
		}
		i = skipSpace(src, i+1)
		want = wantKey
	}
	if i >= len(src) || src[i] != '}' {
		return i, wantMember
	}
	return i + 1, ""
}

func skipArray(src []byte, i, depth int) (end int, want string) {
	if depth < 0 {
		return i, wantShallower
	}
	i = skipSpace(src, i+1)
	if i < len(src) && src[i] == ']' {
		return i + 1, ""
	}
	for {
		if i, want = skipValue(src, i, depth); want != "" {
			return i, want
		}
		i = skipSpace(src, i)
		if i >= len(src) || src[i] != ',' {
			break
		}
		i++
	}
	if i >= len(src) || src[i] != ']' {
		return i, wantElement
	}
	return i + 1, ""
}

// ObjectScan looks at the members of one object of an answer, one after the other, and
// builds nothing. Like Skip it does not compare keys.
type ObjectScan struct {
	// Key is the key of the member as it was written, without its quotes, and Value its
	// value. They share the memory of the text.
	Key, Value []byte

	src  []byte
	i    int
	want string // what is missing at i
	done bool
}

// ScanObject begins a scan of src, which must be one object and nothing else.
func ScanObject(src []byte) ObjectScan {
	s := ObjectScan{src: src, i: skipSpace(src, 0)}
	if s.at() != '{' {
		s.want = wantObject
	}
	return s
}

func (s *ObjectScan) at() byte {
	if s.i < len(s.src) {
		return s.src[s.i]
	}
	return 0
}

// Next goes to the next member and reports whether there is one. If there is none the
// object has ended, or Err says what is wrong with it.
func (s *ObjectScan) Next() bool {
	if s.want != "" || s.done {
		return false
	}
	first := s.at() == '{'
	s.i = skipSpace(s.src, s.i+1)
	if first && s.at() == '}' {
		return s.end()
	}
	if s.at() != '"' {
		return s.fail(s.i, wantKey)
	}
	start := s.i + 1
	end, _, want := scanString(s.src, start)
	if want != "" {
		return s.fail(end, want)
	}
	s.Key = s.src[start : end-1]
	if s.i = skipSpace(s.src, end); s.at() != ':' {
		return s.fail(s.i, wantColon)
	}
	start = skipSpace(s.src, s.i+1)
	if end, want = skipValue(s.src, start, maxScanDepth-1); want != "" {
		return s.fail(end, want)
	}
	s.Value = s.src[start:end:end]
	if s.i = skipSpace(s.src, end); s.at() == '}' {
		s.end()
	} else if s.at() != ',' {
		return s.fail(s.i, wantMember)
	}
	return s.want == "" // else something stands behind the object
}

// end notes that the object ends at i.
func (s *ObjectScan) end() bool {
	s.done = true
	if s.i = skipSpace(s.src, s.i+1); s.i < len(s.src) {
		s.want = wantEnd
	}
	return false
}

func (s *ObjectScan) fail(i int, want string) bool {
	s.i, s.want = i, want
	return false
}

// Err returns why the text is not one object, once Next has returned false.
func (s *ObjectScan) Err() error {
	if s.want == "" {
		return nil
	}
	return fail(s.src, s.i, s.want)
}
