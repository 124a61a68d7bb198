package naive

// dimension is one of the three things that an entry can say of an index it covers.
type dimension struct {
	texts                []string
	ruled, free, perhaps bool
}

// binds reports whether the rules count. Where empty rules free, one entry without a rule
// is enough to be free.
func (d dimension) binds(emptyFrees bool) bool { return d.ruled && !(emptyFrees && d.free) }

// note counts an entry that covers the index for sure.
func (d *dimension) note(ruled bool, texts ...string) {
	d.ruled, d.free = d.ruled || ruled, d.free || !ruled
	d.texts = append(d.texts, texts...)
}

// doubt counts an entry of which nobody can say whether it covers the index.
func (d *dimension) doubt(ruled bool) {
	d.ruled, d.perhaps = d.ruled || ruled, d.perhaps || ruled
}

// rules says what the roles put on an index: those of every entry that covers it, whatever
// actions it grants. A document rule adds to what is shown, a field rule too; masks add to
// what is masked. What is not known shows nothing more.
func (e *evaluation) rules(index string) Rules {
	var dls, fls, masks dimension
	covered := false
	for _, entry := range e.entries() {
		sure, perhaps := e.covers(entry, e.owners(index))
		switch {
		case sure:
			covered = true
			if text, ok := e.document(entry.DLS); entry.DLS != "" && ok {
				dls.note(true, text)
			} else {
				dls.note(entry.DLS != "")
			}
			fls.note(len(entry.FLS) > 0, entry.FLS...)
			masks.note(len(entry.Masks) > 0, entry.Masks...)
		case perhaps:
			dls.doubt(entry.DLS != "")
			fls.doubt(len(entry.FLS) > 0)
			masks.doubt(len(entry.Masks) > 0)
		}
	}
	var r Rules
	for _, d := range []struct {
		dimension
		into *[]string
		none bool
	}{
		{dls, &r.DLS, len(dls.texts) == 0},
		{fls, &r.FLS, fls.perhaps},
		{masks, &r.Masks, masks.perhaps},
	} {
		if d.binds(e.Policy.EmptyFrees) {
			*d.into = sorted(d.texts)
			r.None = r.None || d.none
		}
	}
	if r.None || !covered {
		return Rules{None: true}
	}
	return r
}
