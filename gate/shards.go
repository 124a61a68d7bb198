package gate

import "bytes"

// hideSkipped sets the number of skipped shards in the head of a search answer to 0.
// A shard is skipped if the range of values that it holds cannot match, and hidden
// documents count in that range. It returns body itself if there is nothing to hide,
// else a copy: others hold the answer of the cluster as well.
func hideSkipped(body []byte) []byte {
	at := bytes.Index(body, []byte(`"_shards"`))
	if hits := bytes.Index(body, []byte(`"hits"`)); at < 0 || hits >= 0 && hits < at {
		return body // the head comes first; behind it the word can stand in a document
	}
	end := bytes.IndexByte(body[at:], '}')
	if end < 0 {
		return body
	}
	head := body[at : at+end]
	key := bytes.Index(head, []byte(`"skipped"`))
	if key < 0 {
		return body
	}
	from := at + key + len(`"skipped"`)
	number, _, _ := bytes.Cut(body[from:at+end], []byte(","))
	if !bytes.ContainsAny(number, "123456789") {
		return body
	}
	// As many digits as there were would tell the number of digits.
	const digits = "0123456789"
	first, last := from+bytes.IndexAny(number, digits), from+bytes.LastIndexAny(number, digits)
	out := make([]byte, 0, len(body))
	out = append(out, body[:first]...)
	return append(append(out, '0'), body[last+1:]...)
}
