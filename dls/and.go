package dls

// And shows what both filters show. Their order does not matter to the result.
func And(a, b Filter) Filter {
	switch {
	case a == MatchNone || b == MatchNone:
		return MatchNone
	case a == Free || a == b:
		return b
	case b == Free:
		return a
	}
	if b < a {
		a, b = b, a
	}
	return `{"bool":{"filter":[` + a + `,` + b + `]}}`
}
