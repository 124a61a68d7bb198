package resolution

import (
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
)

// Production is one way to write an index expression.
type Production struct {
	Kind string // what it is an example of
	Text string // what it says
	// Raw is how it stands in the URL where that is not Text, escaped.
	Raw     string
	Streams bool // it is about data streams, which not every engine has
}

// Path returns the production as a segment of a URL.
func (p Production) Path() string {
	if p.Raw != "" {
		return p.Raw
	}
	return escape(p.Text)
}

// escape leaves commas and stars as clients do.
func escape(text string) string {
	return strings.NewReplacer("%2C", ",", "%2A", "*").Replace(url.PathEscape(text))
}

// Grammar returns every production. The names are those of the cluster that the live
// test builds.
func Grammar() []Production {
	var all []Production
	add := func(kind string, texts ...string) {
		for _, text := range texts {
			all = append(all, Production{Kind: kind, Text: text, Streams: strings.Contains(text, "ds")})
		}
	}
	add("index", "a1", "b1", "x+y", "c-1", "größe", "100%", "p%2cq", "log-2000.01.01")
	add("closed index", "a3")
	add("hidden index", "hid", ".dothid")
	add("dotted index", ".dot", ".tasks", ".kibana_1")
	add("alias", "al", "almix", "alw", "zal", "Al", "größen")
	add("hidden alias", "alhid", ".aldot", ".aldothid", "althid")
	add("filtered alias", "alf", "alfmix", "hidf", ".alfdot", "alf,a1", "hidf,hid", "alf,a1*", "hidf,hi*", "alf,al", ".alfdot,.al*", "hidf,h*", "alf*,-a1", "hidf*", "alf,*")
	add("alias of a closed index", "alclosed")
	add("data stream", "ds1", "ds2", "hds")
	add("backing index", ".ds-ds1-000001", ".ds-ds1-000002", ".ds-hds-000001", "-ds-ds1-000001")
	add("missing name", "nosuch", ".nosuch", "a", "ds", "größ", "100", "nosuch%", "nosuch%2c")

	add("prefix", "a*", "al*", "alf*", "alm*", "a3*", "h*", "z*", "nosuch*", "p%*", "g*", "log-2000*", "ds*", "hd*", "-*", "-a*")
	add("suffix", "*1", "*f", "*hid", "*w", "*q", "*nosuch", "*ds", "*000001")
	add("infix", "a*1", "x*y", "*l*", "*al*", "*%*", "*ö*", "*ds-ds1*", "nosuch*nosuch")
	add("several stars", "**", "a**", "*a*1*", "*.*.*", "a*l*m*x")
	add("dotted wildcard", ".*", ".d*", ".dot*", ".a*", ".t*", ".nosuch*", ".*hid", ".ds-*", ".ds-ds1*", "..*")
	add("question mark", "a?", "?", "a?*", "*?", "?1")
	add("everything", "*", "_all", "**")
	add("no list", "")
	add("empty item", ",", "a1,", ",a1", "a1,,b1", "a*,", ",,", "a*,,-a1")

	add("exclusion at the front", "-a1", "-a*", "-*", "-nosuch", "-_all", "-", "--a1", "-a1,a1", "-a*,a*", "-a1,*")
	add("exclusion behind a name", "a1,-a1", "a1,-a*", "a1,-nosuch", "a1,-*", "al,-al", "al,-a1", "al,-a*", "nosuch,-a1", "nosuch,-a*")
	add("exclusion behind a wildcard", "a*,-a1", "a*,-a*", "*,-*", "*,-a1", "*,-.*", "_all,-a1", "_all,-*", "nosuch*,-a1", "nosuch*,-*",
		"a*,-a1,a1", "a*,-al", "a*,-al*", "a*,-al,-a1,-a2", "a*,-nosuch", "a*,-nosuch*", "a*,-a3", "a*,-a?", "a*,--a1", "a*,-", "a*,-_all", "a*,-_foo",
		"a*,-alf", "alf*,-alf", "alf,a*,-alf", "alf,b*,-a1", "*,-hid", "*,-.dothid", ".*,-.dot", ".*,-.d*", "*,-größe", "*,-100%", "*,-Al")
	add("exclusion between wildcards", "-a1,a*,b*", "a*,-a1,b*", "a*,-a*,a2", "a1,a*,-a1,b1", "*,-a*,al", "*,-*,*", "*,-*,a1", "a1,*,-*", "al,*,-*", "*,-a*,a1*")
	add("exclusion of a stream", "*,-ds1", "ds*,-ds1", "ds*,-ds*", "ds1,d*,-ds1", "ds1,-ds1", "*,-ds*", "ds*,.ds*,-ds1", "*,-hds")
	add("exclusion of a backing index", "*,-.ds-ds1-000001", "ds*,-.ds-ds1-000001", "ds*,-.ds*", "ds1,.d*,-.ds-ds1-000001", ".ds*,-.ds-ds1-000001", "ds1,.ds*,-.ds*")
	add("date exclusion", "a*,-<a1>", "a*,<-a1>", "log*,<-log-{now/y{yyyy}}>", "log*,-<log-{now/y{yyyy}}>", "a*,<-nosuch-{now/d}>", "<-a*>", "a*,<-a*>")

	add("date math", "<a1>", "<a*>", "<log-{now/y{yyyy}}>", "<nosuch-{now/d}>", "<nosuch-{now}>", "<log-{now/y{yyyy}}*>", "<al>", "<_all>", "<*>", "<.dot>", "<,>", "<a1,a2>")
	add("date format", "<nosuch-{now/d{yyyy.MM.dd}}>", "<nosuch-{now/M{yyyy-MM}}>", "<nosuch-{now-1M/M{uuuuMM}}>", "<log-{now/y{yyyy}}-{now/y{yyyy}}>", "<nosuch-{now/d{'x'yyyy}}>",
		"<nosuch-{now/y{YYYY}}>", "<nosuch-{now/d{basic_date}}>", "<nosuch-{now/d{strict_year_month_day}}>", "<nosuch-{now/d{yyyy.MM,dd}}>", "<nosuch-{now/d{}}>", "<nosuch-{now/d{foo}}>")
	add("date zone", "<nosuch-{now/d{yyyy.MM.dd|+12:00}}>", "<nosuch-{now/d{yyyy.MM.dd|Europe/Berlin}}>", "<nosuch-{now/d{yyyy|nowhere}}>", "<nosuch-{now/d{yyyy|}}>", "<nosuch-{now/d{|UTC}}>", "<nosuch-{now/M{yyyy.MM|UTC-3}}>")
	add("date rounding", "<nosuch-{now-1d/d}>", "<nosuch-{now+1M/M{yyyy.MM}}>", "<nosuch-{now/d+1d}>", "<nosuch-{now-1y/y{yyyy}}>", "<nosuch-{now/2d}>", "<nosuch-{now/x}>", "<nosuch-{now-}>", "<nosuch-{now 1d}>", "<nosuch-{today}>", "<nosuch-{2020-01-01||/M}>", "<nosuch-{}>")
	add("date escape", `<nosuch-\{now\}>`, `<a\1>`, `<nosuch\\x>`, `<nosuch-{now/d\}}>`, `<nosuch\>`, "<nosuch-{now/d>", "<nosuch-now/d}>", "<nosuch-{{now/d}}>", "<nosuch-{now/d{yyyy}>", "<>", "<", ">", "<a1", "a1>", "a1<", "x<a1>", "<a1>x")
	for _, raw := range []struct{ text, raw string }{
		{"a1", "%61%31"}, {"a1,b1", "a1%2Cb1"}, {"a*", "a%2A"}, {"a1,-a*", "a1%2C%2Da%2A"}, {"_all", "%5Fall"}, {"-a1", "%2Da1"},
		{"x+y", "x+y"}, {"x+y", "x%2By"}, {"x y", "x%20y"}, {"100%", "100%25"}, {"p%2cq", "p%252cq"}, {"p,q", "p%2cq"}, {"a%31", "a%2531"},
		{"größe", "gr%c3%b6%C3%9Fe"}, {"a1/b1", "a1%2Fb1"}, {",", "%2C"}, {"a1,", "a1%2c"}, {"<a1>", "%3Ca1%3E"}, {"<log-{now/y{yyyy}}>", "%3Clog-%7Bnow%2Fy%7Byyyy%7D%7D%3E"},
	} {
		all = append(all, Production{Kind: "escaped in the URL", Text: raw.text, Raw: raw.raw})
	}

	add("remote", "other:a1", "other:*", "*:a1", "*:*", "a1,other:a1", "other:a1,a*", ":a1", "other:", "a:b:c", "-other:a1", "a*,-other:*", "oth*:a1", "nosuch*:nosuch", "other:-a1", "<other:a1>", "_all:a1", "*:-a1")
	add("selector", "a1::data", "a*::failures", "ds1::data", "a1::", "::data", "a1::nosuch", "other:a1::data")
	add("illegal",
		"A1", "a1 ", " a1", "a 1", `a"1`, "a|1", `a\1`, "a#1", "a:1", "a>1", "+a1", ".", "..", "_", "_foo", "_a*", "a1,_foo", "a*,_foo", "_foo,nosuch", "nosuch,_foo", "_all,_foo", "_all,a1", "a1,_all", "_ALL", "*a b*", "A*", strings.Repeat("n", 256), strings.Repeat("n", 300), strings.Repeat("ö", 128), "a\u0000b", "a\tb", "\u200b", "日本", "a1#", "[a1]", "{a1}", "(a1)", "a1;b1", "a1&b1", "a1=b1", "a@1", "~a1", "!a1", "a1!", "$a", "^a1", "a`1", "a'1")
	return all
}

// syntax are the kinds about how a name is written. What they mean depends little on the
// options, so that they are crossed with a few.
var syntax = []string{"date format", "date zone", "date rounding", "date escape", "escaped in the URL", "remote", "selector", "illegal", "empty item"}

// OptionSets returns sets of index options, as queries: every set of states with every other
// option, lists of states in which the order counts, and defaults that are written out.
func OptionSets() []string {
	var all []string
	for _, expand := range []string{
		"", "closed", "hidden", "none", "all", "open,closed", "open,hidden", "closed,hidden", "open,closed,hidden",
	} {
		for _, more := range []string{"", "&ignore_unavailable=true", "&allow_no_indices=false", "&ignore_unavailable=true&allow_no_indices=false"} {
			query := more
			if expand != "" {
				query = "&expand_wildcards=" + expand + more
			}
			all = append(all, strings.TrimPrefix(query, "&"))
		}
	}
	for _, expand := range []string{"open", "none,open", "open,none", "all,none", "none,hidden,closed"} {
		all = append(all, "expand_wildcards="+expand)
	}
	return append(all, "ignore_unavailable=false&allow_no_indices=true")
}

// fewOptions has each value of each option at least once.
var fewOptions = []string{
	"", "expand_wildcards=none", "expand_wildcards=hidden&ignore_unavailable=true", "expand_wildcards=closed&allow_no_indices=false",
	"expand_wildcards=all&ignore_unavailable=true&allow_no_indices=false", "expand_wildcards=open,closed&ignore_unavailable=true",
}

// Case is one list of names with options.
type Case struct {
	Text  string // decoded
	Path  string // as it stands in the URL
	Query string
}

// Cases returns each production with the options, and so many lists of productions, drawn
// by a fixed seed, with options drawn as well.
func Cases(streams bool, lists int) []Case {
	var all []Case
	var of []Production
	options := OptionSets()
	for _, p := range Grammar() {
		if p.Streams && !streams {
			continue
		}
		of = append(of, p)
		queries := options
		if slices.Contains(syntax, p.Kind) {
			queries = fewOptions
		}
		for _, query := range queries {
			all = append(all, Case{p.Text, p.Path(), query})
		}
	}
	rnd := rand.New(rand.NewPCG(11, 12))
	for range lists {
		c := Case{Query: options[rnd.IntN(len(options))]}
		for n := range 2 + rnd.IntN(3) {
			p, before := of[rnd.IntN(len(of))], ","
			if n == 0 {
				before = ""
			} else if rnd.IntN(3) == 0 {
				before = ",-"
			}
			c.Text += before + p.Text
			c.Path += before + p.Path()
		}
		all = append(all, c)
	}
	return all
}
