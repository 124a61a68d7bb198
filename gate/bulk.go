package gate

import (
	"fmt"
	"strings"
	"unsafe"

	"guard/endpoint"
	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/names"
)

// planBulk forwards a bulk line by line: each item is judged by itself, a refused one
// costs itself alone.
func (pl *plan) planBulk() Outcome {
	fallback, err := pl.m.BulkFallback(pl.q)
	if err != nil {
		return rejectError(err)
	}
	// filter_path could take out the items by whose positions refused ones come back.
	call, rej := pl.call(endpoint.Target([]string{"_bulk"}, endpoint.DropParam(pl.q.Params, "filter_path")))
	if rej != nil {
		return reject(rej)
	}
	call.Source, call.ContentType = PlannedBody, "application/x-ndjson"
	own := *pl // the lines outlive this call of Plan, nothing else does
	lines := &bulkLines{pl: &own, parser: endpoint.BulkParser{Fallback: fallback}, known: map[string]*bulkIndex{}}
	lines.treat = &slotted{key: "items", errors: true}
	for _, p := range pl.q.Params {
		lines.returns = lines.returns || strings.HasPrefix(p.Name, "_source") && p.Value != "false"
	}
	return Outcome{Kind: Forward, Forward: Forwarding{Call: call, Lines: lines, Treat: bulkTreatment{lines.treat}, ChangesState: lines.madeIndex}}
}

// bulkLines plans the lines of one bulk.
type bulkLines struct {
	pl     *plan
	parser endpoint.BulkParser
	treat  *slotted
	// known remembers what was decided, by index: a bulk names few of them.
	known   map[string]*bulkIndex
	decided int  // so much is known
	returns bool // the URL asks updates to return documents

	action endpoint.BulkAction
	item   *bulkItem // that action's
	sent   int
	// refused is bounded: each costs some hundred bytes of the answer.
	refused int
	kept    int64 // bytes of their places in the answer
	made    bool  // an item was sent to an index that did not exist
}

// madeIndex reports whether the bulk may have made an index.
func (b *bulkLines) madeIndex() bool { return b.made }

// bulkItem is what items that do the same to one index have in common.
type bulkItem struct {
	judged
	barred *ask.Rejection // see mayWrite
	reads  bool           // an update may tell of the document that it changes
	looked bool           // the document has a say
	treat  Treatment      // of its answer
	head   []byte         // with which its action line begins, as it is sent
}

// bulkIndex holds what was decided on one index, by operation and whether it may only make
// a new document.
type bulkIndex [endpoint.BulkDelete + 1][2]*bulkItem

// at returns where it stands what was decided on a.
func (x *bulkIndex) at(a *endpoint.BulkAction) **bulkItem {
	if a.Creates {
		return &x[a.Op][1]
	}
	return &x[a.Op][0]
}

// maxBulkItems bounds the items of one bulk: each costs 40 bytes until it is answered.
const maxBulkItems = 500_000 // 20 MB

// maxRefused bounds the items of one bulk that are refused one by one.
const maxRefused = 10_000

// maxKnown bounds what a bulk remembers; beyond it each line is decided anew.
const maxKnown = 4096

// Action judges an action line.
func (b *bulkLines) Action(line []byte) (document bool, err error) {
	if b.action, err = b.parser.Parse(line); err != nil {
		return false, err
	}
	b.item = b.judge(b.action)
	return b.action.Op.HasDocument(), nil
}

func (b *bulkLines) judge(a endpoint.BulkAction) *bulkItem {
	x := b.known[string(a.Index)]
	if x != nil {
		if known := *x.at(&a); known != nil {
			return known
		}
	}
	// What is remembered must not share memory with the line: its buffer is used again.
	index := strings.Clone(string(a.Index))
	a.Index = names.Expr(index)
	made := b.decide(a)
	if b.decided == maxKnown {
		return made
	}
	if x == nil {
		x = new(bulkIndex)
		b.known[index] = x
	}
	*x.at(&a) = made
	b.decided++
	return made
}

// decide finds out what all items like a have in common.
func (b *bulkLines) decide(a endpoint.BulkAction) *bulkItem {
	i := &bulkItem{judged: judged{part: endpoint.BulkPart(a, b.treat.count())}}
	j := &i.judged
	var err error
	if j.resolved, err = b.pl.s.state.Resolve(j.part.Exprs, j.part.Opts, b.pl.r.Now); err != nil {
		j.rejection = asRejection(err)
	} else {
		b.pl.ask(j)
	}
	if j.rejection != nil {
		return i
	}
	if i.barred = b.pl.mayWrite(j, a.Creates, a.Op == endpoint.BulkUpdate); i.barred != nil {
		return i
	}
	i.reads = a.Op != endpoint.BulkUpdate || b.pl.may(j, "indices:data/read/get")
	i.looked = a.Op.HasDocument() && !(i.reads && j.mayAddFields && b.pl.ruledBy(j).None())
	i.treat = b.pl.failedWrite(j)
	name := writeName(j)
	i.head = a.Op.AppendHead(make([]byte, 0, len(`{"update":{"_index":""`)+len(name)), name)
	return i
}

// Item appends the lines of the last action, or notes why it is refused.
func (b *bulkLines) Item(dst, document []byte) ([]byte, error) {
	if b.treat.count() == maxBulkItems {
		return dst, &ask.Rejection{Status: 413, Type: "illegal_argument_exception", Reason: ask.ReasonTooLarge, Limit: ask.LimitItems, Public: fmt.Sprintf("a bulk holds more than %d items", maxBulkItems)}
	}
	if rej := b.refusal(document); rej != nil {
		if b.refused++; b.refused > maxRefused {
			return dst, &ask.Rejection{Status: 413, Type: "illegal_argument_exception", Reason: ask.ReasonTooLarge, Limit: ask.LimitItems, Public: fmt.Sprintf("more than %d items of the bulk are refused, such as this one: %s", maxRefused, rej.Text())}
		}
		place := bulkError(b.action, rej)
		b.kept += int64(cap(place))
		b.treat.add(slot{refused: place})
		return dst, nil
	}
	b.treat.add(slot{treat: b.item.treat})
	b.sent++
	b.made = b.made || b.item.Allowed[0].Kind == ask.Missing
	dst = append(b.action.AppendLine(dst, b.item.head), '\n')
	if b.action.Op.HasDocument() {
		dst = append(append(dst, document...), '\n')
	}
	return dst, nil
}

// Held counts the items, what stands for the refused ones, here and in the answer, and
// what is remembered.
func (b *bulkLines) Held() int64 {
	const verdict = int64(unsafe.Sizeof(bulkItem{})+unsafe.Sizeof(bulkIndex{})) + 512
	return int64(cap(b.treat.slots))*int64(unsafe.Sizeof(slot{})) + 2*b.kept + verdict*int64(b.decided)
}

// refusal says why the last action may not be executed.
func (b *bulkLines) refusal(document []byte) *ask.Rejection {
	i := b.item
	switch {
	case i.rejection != nil:
		return i.rejection
	case b.action.Pipeline:
		return notBuilt("[pipeline] in a bulk")
	case i.barred != nil:
		return i.barred
	case !i.reads && (b.action.Returns || b.returns):
		return forbiddenAction(b.pl.who, "indices:data/read/get", exprTexts(i.part.Exprs))
	case !i.looked:
		return nil
	}
	return b.content(document)
}

// content checks what only the document tells. One that cannot be parsed is the
// cluster's to refuse, if nothing depends on it.
func (b *bulkLines) content(document []byte) *ask.Rejection {
	tape := esjson.BorrowTape()
	defer tape.Release()
	v, rej := b.pl.parseOn(tape, document)
	if rej != nil {
		return rej
	}
	j := &b.item.judged
	if rej := b.pl.checkBending(j, v); rej != nil {
		return rej
	}
	if b.action.Op == endpoint.BulkUpdate {
		if !b.item.reads && b.pl.returnsDocument(v) {
			return forbiddenAction(b.pl.who, "indices:data/read/get", exprTexts(j.part.Exprs))
		}
		if j.mayAddFields {
			return nil
		}
		return b.pl.checkUpdate(j, v)
	}
	if !j.mayAddFields && b.pl.addsField(j, v) {
		return b.pl.newFieldRefusal(j)
	}
	return nil
}

// End answers a bulk of which nothing was sent.
func (b *bulkLines) End() (local *Answer, err error) {
	switch {
	case b.treat.count() == 0:
		return nil, badRequest("request body is required")
	case b.sent == 0:
		a := b.treat.allRefused()
		return &a, nil
	}
	return nil, nil
}

// bulkError is how a refused item stands among the items.
func bulkError(a endpoint.BulkAction, r *ask.Rejection) []byte {
	var w esjson.Writer
	w.BeginObject()
	w.Key(a.Op.String())
	w.BeginObject()
	w.Key("_index")
	w.Text(names.Clip(string(a.Index)))
	w.Key("_id")
	if a.HasID {
		w.Text(a.ID)
	} else {
		w.Null()
	}
	w.Key("status")
	w.Int(int64(r.Status.Code()))
	w.Key("error")
	writeError(&w, r, false)
	w.EndObject()
	w.EndObject()
	return w.Bytes()
}

// bulkTreatment decides when the answer is there whether anything has to be done.
type bulkTreatment struct{ slots *slotted }

// Treat puts the refused items back. An answer in which nothing has to be changed is not
// copied; who counts its items must find what was sent all the same.
func (t bulkTreatment) Treat(a Answer) (Answer, error) {
	if t.slots.active() {
		return t.slots.Treat(a)
	}
	if a.Status >= 400 && !isObject(a.Body) {
		return a, nil // whoever stands between
	}
	return a, t.slots.checkNumber(a)
}
