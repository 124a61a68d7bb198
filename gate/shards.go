package gate

import "bytes"

// hideSkipped sets the number of skipped shards in the head of a search answer to 0.
// A shard is skipped if the range of values that it holds cannot match, and hidden
// documents count in that range. It works in place and returns body.
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
	first := true
	for i := key + len(`"skipped"`); i < len(head); i++ {
		c := head[i]
		switch {
		case c == ',':
			return body
		case c < '0' || c > '9':
		case first:
			head[i], first = '0', false
		default:
			head[i] = ' ' // white space behind a number means nothing
		}
	}
	return body
}
