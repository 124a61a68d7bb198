package leaks

import (
	"fmt"
	"slices"
)

// A Verdict says how a case ended.
type Verdict string

const (
	Leak       Verdict = "LEAK"       // the answer told what it must not
	Unexpected Verdict = "UNEXPECTED" // neither refused nor answered as it should be
	Broken     Verdict = "BROKEN"     // a useful request without its useful answer
	Skipped    Verdict = "SKIPPED"    // the cluster lacks what the case needs
	Refused    Verdict = "REFUSED"
	NotLoaded  Verdict = "NOTLOADED" // the role is refused when it is loaded
	Answered   Verdict = "ANSWERED"
	Useful     Verdict = "USEFUL"
)

// ranks orders verdicts from bad to good: what sinks has got worse.
var ranks = map[Verdict]int{Leak: 0, Unexpected: 1, Broken: 1, Skipped: 2, Refused: 3, NotLoaded: 3, Answered: 4, Useful: 4}

// Worse reports whether v is worse than other.
func (v Verdict) Worse(other Verdict) bool { return ranks[v] < ranks[other] }

// Judge says how the case ended, and which condition says so. replace puts in the
// values of places; after are the answers to the steps of verify.
func (c *Case) Judge(a *Answer, after []*Answer, replace func(string) string) (Verdict, string, error) {
	told, err := anyTrue(c.LeakIf, a, replace)
	if err != nil {
		return "", "", err
	}
	for i := range after {
		if told != "" {
			break
		}
		if told, err = anyTrue(c.Verify[i].LeakIf, after[i], replace); err != nil {
			return "", "", err
		}
	}
	if told != "" {
		return Leak, told, nil
	}
	if len(c.Must) > 0 {
		for _, text := range c.Must {
			if one, err := anyTrue([]string{text}, a, replace); err != nil || one == "" {
				return Broken, text, err
			}
		}
		return Useful, "", nil
	}
	fine, err := anyTrue(c.OKIf, a, replace)
	switch {
	case err != nil:
		return "", "", err
	case fine == "":
		return Unexpected, fmt.Sprintf("status %d", a.Status), nil
	case a.Status == 0 || slices.Contains(refused, a.Status):
		return Refused, fine, nil
	}
	return Answered, fine, nil
}

// anyTrue returns the first condition that holds, "" if none does.
func anyTrue(conditions []string, a *Answer, replace func(string) string) (string, error) {
	for _, text := range conditions {
		holds, err := ParseCondition(replace(text))
		if err != nil {
			return "", err
		}
		if holds(a) {
			return text, nil
		}
	}
	return "", nil
}
