package gate

import (
	"fmt"

	"guard/internal/esjson"
)

// version tells one state of one document from every other: sequence numbers count
// per shard, so the routing belongs to it.
type version struct {
	index, id, routing string
	seqNo, primaryTerm int64
}

// foundDoc is one document of a get or mget answer, or one hit of a search.
type foundDoc struct {
	version
	found bool
	value esjson.Value
}

// readDoc reads what identifies a document. A hit of a search has no "found": it is
// found. Only a found document has a version.
func readDoc(v esjson.Value, isHit bool) (foundDoc, error) {
	d := foundDoc{value: v, found: isHit}
	var err error
	text := func(key string, dst *string) {
		if m, ok := v.Lookup(key); ok && err == nil {
			*dst, err = m.Text()
		}
	}
	text("_index", &d.index)
	text("_id", &d.id)
	text("_routing", &d.routing)
	if m, ok := v.Lookup("found"); ok && !isHit && err == nil {
		d.found, err = m.Bool()
	}
	if err != nil || !d.found {
		return d, err
	}
	number := func(key string, dst *int64) {
		m, ok := v.Lookup(key)
		switch {
		case err != nil:
		case !ok:
			err = fmt.Errorf("cannot tell the version of a document: %q is missing", key)
		default:
			*dst, err = m.Int()
		}
	}
	number("_seq_no", &d.seqNo)
	number("_primary_term", &d.primaryTerm)
	return d, err
}

// key identifies a document whatever its version.
func (v version) key() string {
	return fmt.Sprintf("%d:%s/%d:%s/%s", len(v.index), v.index, len(v.id), v.id, v.routing)
}

// parseAnswer parses an answer of the cluster as strictly as a request, but for halves
// of surrogate pairs in values: what has two meanings is not passed on, and neither is
// what is no UTF-8.
func parseAnswer(tape *esjson.Tape, a Answer) (esjson.Value, error) {
	v, err := esjson.Parse(tape, a.Body, answerLimits())
	if err != nil {
		return esjson.Value{}, fmt.Errorf("cannot read the cluster's answer: %w", err)
	}
	return v, nil
}

// answerLimits bound an answer that is read whole; its bytes are bounded before.
func answerLimits() esjson.Limits {
	return esjson.Limits{MaxDepth: 1024, MaxTokens: 64 << 20, HalfPairs: true}
}

// hitsOf adds the hits of one search answer to found. Of several versions of one
// document, none can be chosen here: a search shows one per shard copy.
func hitsOf(answer esjson.Value, found map[string]foundDoc) error {
	outer, ok := answer.Lookup("hits")
	if !ok {
		return fmt.Errorf("cannot read the cluster's answer: it has no hits")
	}
	list, _ := outer.Lookup("hits")
	for _, h := range list.Elements() {
		d, err := readDoc(h, true)
		if err != nil {
			return err
		}
		found[d.key()] = d
	}
	return nil
}

// shardsFailed reports whether a search answer lacks the part of some shard: then a
// document that it does not show may exist all the same.
func shardsFailed(answer esjson.Value) bool {
	if t, ok := answer.Lookup("timed_out"); ok {
		if late, err := t.Bool(); err != nil || late {
			return true
		}
	}
	shards, ok := answer.Lookup("_shards")
	if !ok {
		return true
	}
	failed, ok := shards.Lookup("failed")
	if !ok {
		return true
	}
	n, err := failed.Int()
	return err != nil || n != 0
}

// getMembers are the members of a hit that a get answer has as well, in its order.
var getMembers = []string{"_index", "_type", "_id", "_version", "_seq_no", "_primary_term", "_routing"}

// writeGet writes a found hit in the form of a get answer.
func writeGet(w *esjson.Writer, hit esjson.Value) {
	w.BeginObject()
	for _, key := range getMembers {
		if v, ok := hit.Lookup(key); ok {
			w.Key(key)
			w.Value(v)
		}
	}
	w.Key("found")
	w.Bool(true)
	for _, key := range []string{"_source", "fields"} {
		if v, ok := hit.Lookup(key); ok {
			w.Key(key)
			w.Value(v)
		}
	}
	w.EndObject()
}

// writeMissing writes a get answer for a document that is not there for the user:
// the same whether it is hidden or does not exist.
func writeMissing(w *esjson.Writer, index, id string, typed bool) {
	w.BeginObject()
	w.Key("_index")
	w.Text(index)
	if typed {
		w.Key("_type")
		w.Text("_doc")
	}
	w.Key("_id")
	w.Text(id)
	w.Key("found")
	w.Bool(false)
	w.EndObject()
}
