package proxy

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// fuzzInflate holds for one coding: what was compressed comes back, a byte less or more
// is an error, and whatever else is read ends, in no more than the ratio allows.
func fuzzInflate(f *testing.F, c coding) {
	f.Add("", 0)
	f.Add(`{"a":1}`, 3)
	f.Add(strings.Repeat("a", 3000), 9)
	for _, k := range compressors {
		if k.coding == c {
			f.Add(k.compress(`{"index":{}}`), 11)
		}
	}
	f.Fuzz(func(t *testing.T, x string, at int) {
		for _, k := range compressors {
			if k.coding != c {
				continue
			}
			whole := k.compress(x)
			if out, err := inflate(whole, c); out != x || err != nil {
				t.Fatalf("%s of %q: got %q, %v", k.name, x, out, err)
			}
			cut := whole[:uint(at)%uint(len(whole))]
			if out, err := inflate(cut, c); !errors.Is(err, errBadCoding) {
				t.Fatalf("%s of %q cut at %d: got %q, %v", k.name, x, len(cut), out, err)
			}
			if out, err := inflate(whole+x+"x", c); !errors.Is(err, errTrailing) {
				t.Fatalf("%s of %q with more behind it: got %q, %v", k.name, x, out, err)
			}
		}
		r, err := newInflater(strings.NewReader(x), c, plentyOf(16<<20))
		if err != nil {
			return
		}
		defer r.release()
		if n, _ := io.Copy(io.Discard, r); n > ratioFrom+maxWindow && n > maxRatio*int64(len(x)) {
			t.Fatalf("%q inflates to %d bytes", x, n)
		}
	})
}

func FuzzInflateGzip(f *testing.F)    { fuzzInflate(f, gzipped) }
func FuzzInflateDeflate(f *testing.F) { fuzzInflate(f, deflated) }
func FuzzInflateZstd(f *testing.F)    { fuzzInflate(f, zstandard) }
