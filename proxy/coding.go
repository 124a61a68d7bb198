package proxy

import (
	"bufio"
	"io"
	"strings"
	"sync"
)

// coding is a content coding that guard reads.
type coding uint8

const (
	unknownCoding coding = iota // the zero value is refused
	identity
	gzipped
	deflated
	zstandard
)

// codings are the values of Content-Encoding that guard reads, for requests and for
// answers. A list of two is none of them.
//
// Measured on OpenSearch 2.19.4 and 3.4.0 and Elasticsearch 7.10.2: all inflate gzip,
// x-gzip, deflate and x-deflate, 3.4.0 zstd besides, and all take a coding that they do not
// know for identity. They answer in gzip and deflate if a client allows it, and OpenSearch
// in snappy.
var codings = map[string]coding{
	"": identity, "identity": identity,
	"gzip": gzipped, "x-gzip": gzipped,
	"deflate": deflated, "x-deflate": deflated,
	"zstd": zstandard,
}

// codingNames are those that a refusal offers.
const codingNames = "gzip, deflate, zstd or none"

func parseCoding(s string) coding { return codings[strings.ToLower(s)] }

// decoder reads one compressed body: a gzip member, a zlib or deflate stream, a zstd
// frame.
type decoder interface {
	// start reads of src what says how much memory the body takes, before it takes any.
	start(src *bufio.Reader) (memory int64, err error)
	// Read returns io.EOF at the proper end, and has then read nothing behind it.
	io.Reader
	// reset lets go of the source. It reports whether the decoder is small enough to keep.
	reset() (keep bool)
}

// inflaters has a pool for each coding that is inflated.
var inflaters = [...]*sync.Pool{
	gzipped:   {New: func() any { return inflaterOf(new(gzipMember)) }},
	deflated:  {New: func() any { return inflaterOf(newDeflateStream()) }},
	zstandard: {New: func() any { return inflaterOf(newZstdFrame()) }},
}
