package twins_test

import (
	"fmt"
	"slices"
	"strings"

	"guard/test/testbed"
)

// A field is one of a type, or of one with an option. Every index has it twice: as a_NAME,
// which all may see, and as secret_NAME, which a field rule hides. @ stands for a_ or
// secret_, and what stands in <> is in indices with hidden fields alone.
type field struct {
	name   string
	class  string // what it can be asked for: classes in the tables of requests, by spaces
	not    string // engines that do not know it
	def    string // its mapping
	values *values
}

// values are those of one kind, in JSON; "" leaves the field out of a document.
type values struct {
	shown  []string
	hidden [2][]string // by world: of hidden documents, and in hidden fields
	asked  []string
}

const (
	noES     = string(testbed.ES710)
	anywhere = ""
)

// fields are all types that the mappers of the test bed know.
var fields = []field{
	{"text", "text", anywhere, `{"type":"text","copy_to":["@copy"<,"secret_of_text">],"fields":{"raw":{"type":"keyword"}<,"secret":{"type":"keyword"}>}}`, &words},
	{"copy", "text", anywhere, `{"type":"text"}`, nil},
	{"docs", "text", anywhere, `{"type":"text","index_options":"docs"}`, &words},
	{"freqs", "text", anywhere, `{"type":"text","index_options":"freqs"}`, &words},
	{"offsets", "text", anywhere, `{"type":"text","index_options":"offsets","store":true}`, &words},
	{"vectors", "text", anywhere, `{"type":"text","term_vector":"with_positions_offsets_payloads"}`, &words},
	{"norms", "text", anywhere, `{"type":"text","norms":false}`, &words},
	{"unindexed", "text", anywhere, `{"type":"text","index":false}`, &words},
	{"white", "text", anywhere, `{"type":"text","analyzer":"whitespace","fielddata":true}`, &words},
	{"english", "text", anywhere, `{"type":"text","analyzer":"english"}`, &words},
	{"synonyms", "text", anywhere, `{"type":"text","analyzer":"synonyms"}`, &words},
	{"shingles", "text", anywhere, `{"type":"text","analyzer":"shingles"}`, &words},
	{"edges", "text", anywhere, `{"type":"text","analyzer":"edges","search_analyzer":"standard"}`, &words},
	{"prefixes", "text", anywhere, `{"type":"text","index_prefixes":{"min_chars":1,"max_chars":4}}`, &words},
	{"phrases", "text", anywhere, `{"type":"text","index_phrases":true}`, &words},
	{"boolean_sim", "text", anywhere, `{"type":"text","similarity":"boolean"}`, &words},
	{"fielddata", "text", anywhere, `{"type":"text","fielddata":true,"fielddata_frequency_filter":{"min":2,"min_segment_size":1}}`, &words},
	{"typing", "text", anywhere, `{"type":"search_as_you_type"}`, &words},
	{"only", "text", noES, `{"type":"match_only_text"}`, &words},
	{"count", "number", anywhere, `{"type":"token_count","analyzer":"standard"}`, &words},

	{"keyword", "keyword", anywhere, `{"type":"keyword"}`, &terms},
	{"lower", "keyword", anywhere, `{"type":"keyword","normalizer":"lower"}`, &terms},
	{"short", "keyword", anywhere, `{"type":"keyword","ignore_above":3,"null_value":"none"}`, &terms},
	{"eager", "keyword", anywhere, `{"type":"keyword","eager_global_ordinals":true}`, &terms},
	{"nodocs", "keyword", anywhere, `{"type":"keyword","doc_values":false,"store":true}`, &terms},
	{"noindex", "keyword", anywhere, `{"type":"keyword","index":false}`, &terms},
	{"normed", "keyword", anywhere, `{"type":"keyword","norms":true,"similarity":"BM25","split_queries_on_whitespace":true}`, &terms},
	{"alias", "keyword", anywhere, `{"type":"alias","path":"@keyword"}`, nil},
	{"wildcard", "keyword", noES, `{"type":"wildcard"}`, &terms},
	{"single", "keyword single", anywhere, `{"type":"keyword"}`, &singles},
	{"constant", "constant", noES, `{"type":"constant_keyword","value":"red"}`, nil},
	{"flat", "flat", noES, `{"type":"flat_object"}`, &flats},

	{"long", "number", anywhere, `{"type":"long"}`, numbers("-9007199254740000", "9007199254740000")},
	{"integer", "number", anywhere, `{"type":"integer"}`, numbers("-2147483648", "2147483647")},
	{"short_n", "number", anywhere, `{"type":"short"}`, numbers("-32768", "32767")},
	{"byte", "number", anywhere, `{"type":"byte"}`, numbers("-128", "127")},
	{"double", "number", anywhere, `{"type":"double"}`, numbers("-1e300", "1e300")},
	{"float", "number", anywhere, `{"type":"float"}`, numbers("-3e38", "3e38")},
	{"half", "number", anywhere, `{"type":"half_float"}`, numbers("-65000", "65000")},
	{"scaled", "number", anywhere, `{"type":"scaled_float","scaling_factor":10}`, numbers("-1e9", "1e9")},
	{"unsigned", "number", noES, `{"type":"unsigned_long"}`, numbers("0", "18446744073709551615")},
	{"column", "number", noES, `{"type":"integer","index":false}`, numbers("-2147483648", "2147483647")},
	{"one", "number single", anywhere, `{"type":"integer"}`, &ones},
	{"points", "number", anywhere, `{"type":"long","doc_values":false}`, numbers("-9007199254740000", "9007199254740000")},
	{"lenient", "number", anywhere, `{"type":"integer","ignore_malformed":true,"null_value":20}`, numbers("-2147483648", `"no number"`)},

	{"date", "date", anywhere, `{"type":"date"}`, &dates},
	{"day", "date", anywhere, `{"type":"date","format":"yyyy-MM-dd||strict_date_optional_time"}`, &dates},
	{"nanos", "date", anywhere, `{"type":"date_nanos"}`, &dates},
	{"boolean", "boolean", anywhere, `{"type":"boolean"}`, &flags},
	{"ip", "ip", anywhere, `{"type":"ip"}`, &ips},
	{"binary", "other", anywhere, `{"type":"binary","doc_values":true}`, &blobs},

	{"integers", "range numrange", anywhere, `{"type":"integer_range"}`, ranges("10", "30", "-2147483648", "2147483647", "15")},
	{"longs", "range numrange", anywhere, `{"type":"long_range"}`, ranges("10", "30", "-9007199254740000", "9007199254740000", "15")},
	{"doubles", "range numrange", anywhere, `{"type":"double_range"}`, ranges("10", "30", "-1e300", "1e300", "15")},
	{"days", "range dayrange", anywhere, `{"type":"date_range"}`, ranges(`"2020-03-01"`, `"2020-09-01"`, `"1970-01-01"`, `"2200-01-01"`, `"2020-06-01"`)},
	{"ips", "range", anywhere, `{"type":"ip_range"}`, ranges(`"10.0.0.1"`, `"10.0.0.9"`, `"0.0.0.1"`, `"255.0.0.1"`, `"10.0.0.5"`)},

	{"point", "point", anywhere, `{"type":"geo_point"}`, &places},
	{"shape", "shape", noES, `{"type":"geo_shape"}`, &shapes},
	{"object", "object", anywhere, `{"properties":{"k":{"type":"keyword"},"n":{"type":"integer"}<,"secret":{"type":"keyword"}>}}`, &objects},
	{"nested", "nested", anywhere, `{"type":"nested","properties":{"k":{"type":"keyword"},"n":{"type":"integer"},"t":{"type":"text"}<,"secret":{"type":"keyword"}>,
		"deep":{"type":"nested","properties":{"k":{"type":"keyword"}}}}}`, &objects},
	{"disabled", "other", anywhere, `{"type":"object","enabled":false}`, &objects},
	{"completion", "other", anywhere, `{"type":"completion"}`, &terms},
	{"rank", "rank", anywhere, `{"type":"rank_feature"}`, &positives},
	{"worse", "rank", anywhere, `{"type":"rank_feature","positive_score_impact":false}`, &positives},
	{"ranks", "ranks", anywhere, `{"type":"rank_features"}`, &features},
	{"stored", "other", anywhere, `{"type":"percolator"}`, &queries},
}

// far is what the hidden words of the one world have at their end in the other: there they
// are near to no visible word, and have the same beginnings.
const far = "qqqqq"

// many are as many words as clauses on the dictionary take, and more.
func many() string {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "fo%c%c ", 'a'+i/26, 'a'+i%26)
	}
	return b.String()
}

// hiddenTexts are those of one world. In both there are as many words in the same documents,
// and visible words in the same places: what a visible word weighs is the same.
func hiddenTexts(end string) []string {
	list := []string{many(), "foze redd zebra", "fox zebra zebra zebra zebra red", "red zebra fox", "", "foxn fixx foks ridd rads recs bluf"}
	for i, text := range list {
		words := strings.Fields(text)
		for j, w := range words {
			if w != "fox" && w != "red" {
				words[j] = w + end
			}
		}
		if list[i] = strings.Join(words, " "); text != "" {
			list[i] = `"` + list[i] + `"`
		}
	}
	return list
}

var words = values{
	shown:  []string{`"red fox jumps"`, `"blue fox"`, `"green hill and valley"`, `"red"`, `"the quick red fox runs far"`, ``, `"blue hen"`, `["Foxy lady","in red red"]`},
	hidden: [2][]string{hiddenTexts(""), hiddenTexts(far)},
	asked:  []string{`"fox"`, `"red fox"`, `"zebra"`, `"fax"`, `"red zebra"`, `"blue"`, `"fo"`, `"f"`, `"reynard runs"`, `"Foxy lady"`},
}

var terms = values{
	shown: []string{`"red"`, `"fox"`, `"Blue"`, `"red"`, ``, `["green","fox"]`, `"red"`, `"longer than any"`},
	hidden: [2][]string{
		{`"zebra"`, `"a"`, `["red","rex"]`, `"zz"`, ``, `["fob","foc","fod","foe","fog","foh"]`},
		{`"ostrich"`, `"m"`, `["red","mid"]`, `"kk"`, ``, `["qob","qoc","qod","qoe","qog","qoh"]`},
	},
	asked: []string{`"red"`, `"fox"`, `"zebra"`, `"rad"`, `"Blue"`, `"fo"`, `"a"`, `"none"`},
}

// singles and ones have one value in a document.
var (
	singles = values{
		shown:  []string{`"red"`, `"fox"`, `"blue"`, `"red"`, `"hen"`},
		hidden: [2][]string{{`"a"`, `"zebra"`, `"red"`, `"zz"`}, {`"g"`, `"ostrich"`, `"red"`, `"m"`}},
		asked:  []string{`"red"`, `"zebra"`, `"fox"`, `"a"`},
	}
	ones = values{
		shown:  []string{`10`, `20`, `30`, `20`, `40`},
		hidden: [2][]string{{`-2147483648`, `2147483647`, `20`}, {`12`, `33`, `20`}},
		asked:  []string{`20`, `-2147483648`, `33`, `35`},
	}
)

var flats = values{
	shown:  []string{`{"k":"red","n":10}`, `{"k":"fox","d":{"e":"x"}}`, ``, `{"k":["red","blue"]}`},
	hidden: [2][]string{{`{"k":"zebra","z":"only"}`, `{"k":"red"}`, ``}, {`{"k":"ostrich","o":"ours"}`, `{"k":"red"}`, ``}},
	asked:  []string{`"red"`, `"fox"`, `"zebra"`, `"k=red"`},
}

// numbers are small visible ones, and hidden ones that are extremes or lie between them.
func numbers(low, high string) *values {
	return &values{
		shown:  []string{`10`, `20`, `30`, ``, `20`, `[40,10]`, `50`, `20`},
		hidden: [2][]string{{low, high, `20`, `35`, ``, `0`}, {`12`, `44`, `20`, `21`, ``, `33`}},
		asked:  []string{`20`, `35`, `0`, `60`, low, `"x"`, `10`},
	}
}

var positives = values{
	shown:  []string{`10`, `2`, `3.5`, ``, `20`},
	hidden: [2][]string{{`1e30`, `0.0001`, `5000`}, {`1`, `2`, `3`}},
	asked:  []string{`10`, `1`},
}

var features = values{
	shown:  []string{`{"red":10,"fox":2}`, `{"red":1}`, ``, `{"blue":7}`},
	hidden: [2][]string{{`{"red":1e30,"zebra":2}`, `{"red":0.001}`}, {`{"red":2,"ostrich":2}`, `{"red":3}`}},
	asked:  []string{`10`, `1`},
}

var dates = values{
	shown:  []string{`"2020-01-15"`, `"2020-03-01"`, `"2020-06-01T12:00:00Z"`, ``, `"2020-03-01"`, `["2020-09-09","2020-01-15"]`, `"2020-12-31"`},
	hidden: [2][]string{{`"1970-01-02"`, `"2200-01-01"`, `"2020-03-01"`, ``}, {`"2020-02-02"`, `"2020-07-07"`, `"2020-03-01"`, ``}},
	asked:  []string{`"2020-03-01"`, `"1970-01-02"`, `"2030-01-01"`, `"2020-03-01||/M"`, `"now"`, `"no date"`, `1583020800000`, `"1960"`},
}

var flags = values{
	shown:  []string{`true`, `true`, `false`, ``, `"true"`},
	hidden: [2][]string{{`false`, `true`, ``}, {`true`, `false`, ``}},
	asked:  []string{`true`, `false`, `"x"`},
}

var ips = values{
	shown:  []string{`"10.0.0.1"`, `"10.0.0.7"`, `"192.168.1.1"`, ``, `"10.0.0.1"`, `"2001:db8::1"`},
	hidden: [2][]string{{`"0.0.0.1"`, `"255.255.255.254"`, `"10.0.0.1"`, ``}, {`"10.0.0.2"`, `"10.0.0.3"`, `"10.0.0.1"`, ``}},
	asked:  []string{`"10.0.0.1"`, `"10.0.0.0/24"`, `"255.255.255.254"`, `"x"`},
}

var blobs = values{
	shown:  []string{`"cmVk"`, ``, `"Zm94"`},
	hidden: [2][]string{{`"emVicmE="`, ``}, {`"b3N0cmljaA=="`, ``}},
	asked:  []string{`"cmVk"`, `"emVicmE="`},
}

func ranges(from, to, low, high, within string) *values {
	text := func(from, to string) string { return `{"gte":` + from + `,"lt":` + to + `}` }
	return &values{
		shown:  []string{text(from, to), text(from, within), ``, text(within, to)},
		hidden: [2][]string{{text(low, high), text(low, from), ``, text(to, high)}, {text(from, within), text(within, to), ``, text(from, to)}},
		asked:  []string{from, to, within, low, high},
	}
}

var places = values{
	shown:  []string{`"1,1"`, `{"lat":2,"lon":3}`, ``, `[5,4]`, `"1,1"`, `"-10,20"`},
	hidden: [2][]string{{`"89,179"`, `"-89,-179"`, `"1,1"`, ``}, {`"1,2"`, `"2,2"`, `"1,1"`, ``}},
	asked:  []string{`"1,1"`, `"0,0"`, `"89,179"`},
}

var shapes = values{
	shown: []string{`{"type":"point","coordinates":[1,1]}`, ``, `{"type":"envelope","coordinates":[[0,3],[3,0]]}`, `{"type":"linestring","coordinates":[[0,0],[9,9]]}`},
	hidden: [2][]string{{`{"type":"point","coordinates":[179,89]}`, `{"type":"envelope","coordinates":[[-170,80],[170,-80]]}`, ``},
		{`{"type":"point","coordinates":[2,2]}`, `{"type":"envelope","coordinates":[[1,2],[2,1]]}`, ``}},
	asked: []string{`"1,1"`},
}

var objects = values{
	shown: []string{`{"k":"red","n":10<,"secret":"x">}`, `{"k":"fox","n":20}`, ``, `[{"k":"red","n":30,"deep":[{"k":"red"}]},{"k":"blue","n":5<,"secret":"z">}]`},
	hidden: [2][]string{{`{"k":"zebra","n":-2147483648<,"secret":"s">}`, `[{"k":"red","n":2147483647},{"k":"rex"},{"k":"a"}]`, ``, `{"k":"zz","deep":[{"k":"q"}]}`},
		{`{"k":"ostrich","n":12<,"secret":"t">}`, `[{"k":"red","n":44},{"k":"mid"},{"k":"b"}]`, ``, `{"k":"kk","deep":[{"k":"w"}]}`}},
	asked: []string{`"red"`, `"zebra"`, `"fox"`},
}

var queries = values{
	shown:  []string{`{"term":{"a_keyword":"red"}}`, ``},
	hidden: [2][]string{{`{"match_all":{}}`, ``}, {`{"term":{"a_keyword":"fox"}}`, ``}},
	asked:  []string{`"red"`},
}

// inner are fields below others that can be asked for by their own names.
var inner = []field{
	{"text.raw", "keyword", anywhere, "", &terms},
	{"text.secret", "keyword", anywhere, "", &terms},
	{"typing._2gram", "text", anywhere, "", &words},
	{"typing._index_prefix", "text", anywhere, "", &words},
	{"object.k", "keyword", anywhere, "", &terms},
	{"object.n", "number", anywhere, "", numbers("-2147483648", "2147483647")},
	{"object.secret", "keyword", anywhere, "", &terms},
	{"nested.k", "keyword", anywhere, "", &terms},
	{"nested.n", "number", anywhere, "", numbers("-2147483648", "2147483647")},
	{"nested.secret", "keyword", anywhere, "", &terms},
	{"flat.k", "keyword", noES, "", &terms},
	{"ranks.red", "rank", anywhere, "", &positives},
}

// on reports whether the engine knows the field.
func (f *field) on(kind testbed.Kind) bool {
	return !slices.Contains(strings.Fields(f.not), string(kind))
}

// askable returns the fields that requests name on an engine.
func askable(kind testbed.Kind) []field {
	all := append(slices.Clone(fields), inner...)
	all = slices.DeleteFunc(all, func(f field) bool { return !f.on(kind) })
	for i := range all {
		switch {
		case all[i].values != nil:
		case all[i].class == "text":
			all[i].values = &words
		default:
			all[i].values = &terms
		}
	}
	return all
}
