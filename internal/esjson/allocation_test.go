package esjson

import "testing"

func TestAllocations(t *testing.T) {
	f := func(what string, run func()) {
		t.Helper()
		run() // the first run may grow the tape and the buffers
		if n := testing.AllocsPerRun(100, run); n != 0 {
			t.Errorf("%s allocates %v times per call; want 0", what, n)
		}
	}
	var tape Tape
	var out []byte
	sum := 0
	many := []byte(`{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"\u006a":10}`)
	f("Skip", func() { _, _ = Skip(docs["small-fields"], 0) })
	f("Parse", func() { _, _ = Parse(&tape, docs["small-fields"], RequestLimits()) })
	f("Parse on a borrowed tape", func() {
		tape := BorrowTape()
		_, _ = Parse(tape, docs["query"], RequestLimits())
		tape.Release()
	})
	f("Parse of many keys", func() { _, _ = Parse(&tape, many, RequestLimits()) })
	f("AppendValue", func() {
		v, _ := Parse(&tape, docs["query"], RequestLimits())
		out = AppendValue(out[:0], v)
	})
	f("Members, Pairs, Elements, Lookup, String", func() {
		v, _ := Parse(&tape, docs["query"], RequestLimits())
		for k, m := range v.Members() {
			sum += len(k) + m.Len()
		}
		for k, m := range v.Pairs() {
			sum += k.Offset() + m.Offset()
		}
		q, _ := v.Lookup("sort")
		for n, e := range q.Elements() {
			sum += n + len(e.String())
		}
	})
	f("ScanObject", func() {
		scan := ScanObject(docs["query"])
		for scan.Next() {
			sum += len(scan.Key) + len(scan.Value)
		}
	})
	f("Writer", func() {
		var w Writer
		w.Reset(out[:0])
		w.BeginObject()
		w.Key("a")
		w.Text("b")
		w.EndObject()
		out = w.Bytes()
	})
}
