package source

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"guard/indexresolver"
	"guard/internal/esjson"
)

// The two answers are read as they come: of each index is kept what is used, and what
// stands in many of them is kept once.

// aliasAnswer are the aliases of each index, sorted by name.
type aliasAnswer map[string][]indexresolver.Membership

// aliases reads the answer to aliasTarget.
func (r *reader) aliases(ctx context.Context, k *kept) (aliasAnswer, error) {
	var out aliasAnswer
	err := r.stream(ctx, aliasTarget, func(s *esjson.Stream) error {
		out = aliasAnswer{}
		return readAliases(s, k, out)
	})
	return out, err
}

func readAliases(s *esjson.Stream, k *kept, out aliasAnswer) error {
	return s.Object(func(index string) error {
		list, err := readMemberships(s, k)
		out[k.text(index)] = list
		return in("index", index, err)
	})
}

// in says where in an answer err has come up.
func in(kind, name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot read %s %q: %w", kind, name, err)
}

// readMemberships reads what stands of one index in the list of aliases.
func readMemberships(s *esjson.Stream, k *kept) (list []indexresolver.Membership, err error) {
	err = s.Object(func(key string) error {
		if key != "aliases" {
			return s.Skip()
		}
		return s.Object(func(alias string) error {
			m, err := readMembership(s, k)
			m.Alias = k.text(alias)
			list = append(list, m)
			return in("alias", alias, err)
		})
	})
	slices.SortFunc(list, func(a, b indexresolver.Membership) int { return strings.Compare(a.Alias, b.Alias) })
	return slices.Clip(list), err
}

func readMembership(s *esjson.Stream, k *kept) (m indexresolver.Membership, err error) {
	err = s.Object(func(key string) (err error) {
		switch key {
		case "filter":
			m.Filter, err = readFilter(s, k)
		case "index_routing":
			m.IndexRouting, err = readText(s, k)
		case "search_routing":
			m.SearchRouting, err = readText(s, k)
		case "is_hidden":
			m.Hidden, err = readBool(s)
		default:
			err = s.Skip()
		}
		return err
	})
	return m, err
}

// readFilter reads a query as it stands there: it is judged when it is used.
func readFilter(s *esjson.Stream, k *kept) ([]byte, error) {
	if kind, err := s.Peek(); err != nil || kind != esjson.Object {
		return nil, wrongKind("a filter", kind, err)
	}
	raw, err := s.Raw()
	if err != nil {
		return nil, err
	}
	if !json.Valid(raw) {
		return nil, fmt.Errorf("a filter is no JSON: %.100q", raw)
	}
	return k.filter(raw), nil
}

func wrongKind(what string, kind esjson.Kind, err error) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("%s is %s", what, kind)
}

func readText(s *esjson.Stream, k *kept) (string, error) {
	text, err := s.Text()
	return k.text(text), err
}

func readBool(s *esjson.Stream) (bool, error) {
	raw, err := s.Raw()
	if err != nil {
		return false, err
	}
	switch string(raw) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("%.100q; want true or false", raw)
}

func readNumber(s *esjson.Stream) (uint64, error) {
	raw, err := s.Raw()
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(string(raw), 10, 64)
}

// readTexts reads a list of strings.
func readTexts(s *esjson.Stream, k *kept) (list []string, err error) {
	err = s.Array(func() error {
		text, err := readText(s, k)
		list = append(list, text)
		return err
	})
	return list, err
}

// state reads the answer to stateTarget. Its aliases are held against those of the
// other answer, which was read after the state before, if that is not nil. With doubts the
// two need not be of one moment.
func (r *reader) state(ctx context.Context, k *kept, aliases aliasAnswer, before *clusterState, doubts bool) (*clusterState, error) {
	var out *clusterState
	err := r.stream(ctx, stateTarget, func(s *esjson.Stream) error {
		out = &clusterState{counts: map[uint64]struct{}{}, doubts: doubts, streamDoubts: doubts}
		d := stateDecoder{s, k, aliases, before, out}
		return d.top()
	})
	if err != nil {
		return nil, err
	}
	if doubts && out.ClusterUUID != before.ClusterUUID {
		return nil, errUnsteady
	}
	return out, out.check(stateTarget)
}

type stateDecoder struct {
	*esjson.Stream
	kept    *kept
	aliases aliasAnswer
	before  *clusterState
	out     *clusterState
}

// counted adds a hash of what changes with the aliases of one thing, and reports whether it
// was the same before the list of aliases was read. The sum is there because all come in
// any order.
func (d *stateDecoder) counted(hash uint64) bool {
	d.out.counts[hash] = struct{}{}
	d.out.aliasChanges += hash
	if d.before == nil {
		return false
	}
	_, ok := d.before.counts[hash]
	return ok
}

// doubted is what is known of an alias that may have changed since the list of aliases was
// read, or while: the state tells its name, and nobody what it is. So whoever keeps one index
// or alias changing makes nobody wait for the rest of the cluster.
func doubted(alias string, read []indexresolver.Membership) (m indexresolver.Membership) {
	if i := slices.IndexFunc(read, func(m indexresolver.Membership) bool { return m.Alias == alias }); i >= 0 {
		m = read[i]
	}
	m.Alias, m.Filter = alias, unreadable
	return m
}

func (d *stateDecoder) top() error {
	met := false
	err := d.Object(func(key string) (err error) {
		switch key {
		case "cluster_uuid":
			d.out.ClusterUUID, err = d.Text()
		case "state_uuid":
			d.out.StateUUID, err = d.Text()
		case "version":
			d.out.Version, err = readNumber(d.Stream)
		case "metadata":
			met = true
			err = d.metadata()
		default:
			err = d.Skip()
		}
		return err
	})
	if err == nil && !met {
		return fmt.Errorf("the answer to %s has no metadata", stateTarget)
	}
	return err
}

// metadata reads the member of this name. A cluster without indices has no member
// "indices" there, as the filter leaves out what is empty.
func (d *stateDecoder) metadata() error {
	return d.Object(func(key string) error {
		switch key {
		case "cluster_coordination":
			return d.Object(func(key string) (err error) {
				if key != "term" {
					return d.Skip()
				}
				d.out.term, err = readNumber(d.Stream)
				return err
			})
		case "indices":
			return d.Object(func(name string) error { return in("index", name, d.index(name)) })
		case "data_stream":
			raw, err := d.Raw()
			if err != nil {
				return err
			}
			err = json.Unmarshal(raw, &d.out.Metadata.DataStreams)
			if len(d.out.Metadata.DataStreams.Aliases) > 0 && d.counted(maphash.Bytes(hashSeed, raw)) { // no index counts their changes
				d.out.streamDoubts = false
			}
			return err
		default:
			return d.Skip()
		}
	})
}

// index reads what stands of one index in the state.
func (d *stateDecoder) index(name string) error {
	x := indexresolver.Index{Name: name, Mapping: []byte("{}"), Aliases: d.aliases[name]}
	var (
		state   string
		listed  []string
		changes uint64
	)
	err := d.Object(func(key string) (err error) {
		switch key {
		case "state":
			state, err = readText(d.Stream, d.kept)
		case "aliases":
			listed, err = readTexts(d.Stream, d.kept)
		case "aliases_version":
			changes, err = readNumber(d.Stream)
		case "mappings":
			x.Mapping, err = readTypedMapping(d.Stream, d.kept)
		case "settings":
			err = within(d.Stream, func(key string) error {
				if key != "index" {
					return d.Skip()
				}
				return readSettings(d.Stream, d.kept, &x)
			})
		default:
			err = d.Skip()
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case state != "open" && state != "close":
		return fmt.Errorf("state %q is unknown; want open or close", state)
	}
	x.Closed = state == "close"
	slices.Sort(listed)
	same := d.counted(maphash.Comparable(hashSeed, [3]string{name, x.UUID, strconv.FormatUint(changes, 10)}))
	switch {
	case d.out.doubts && !same:
		read := x.Aliases
		x.Aliases = nil
		for _, alias := range listed {
			x.Aliases = append(x.Aliases, doubted(alias, read))
		}
	case d.out.unequal == nil && !slices.EqualFunc(listed, x.Aliases, func(a string, m indexresolver.Membership) bool { return a == m.Alias }):
		d.out.unequal = fmt.Errorf("cannot read index %q: its aliases are %q in the state and %q in the list of aliases", name, listed, aliasNames(x.Aliases))
	}
	d.out.indices = append(d.out.indices, x)
	return nil
}

// hashSeed is that of all hashes of this process.
var hashSeed = maphash.MakeSeed()

func aliasNames(list []indexresolver.Membership) []string {
	out := []string{}
	for _, m := range list {
		out = append(out, m.Alias)
	}
	return out
}

// readTypedMapping reads a mapping that stands under the name of its type.
func readTypedMapping(s *esjson.Stream, k *kept) ([]byte, error) {
	mapping, types := []byte("{}"), 0
	err := s.Object(func(string) (err error) {
		types++
		mapping, err = readMapping(s, k)
		return err
	})
	if err == nil && types > 1 {
		return nil, fmt.Errorf("it has %d mapping types; want one", types)
	}
	return mapping, err
}

func readMapping(s *esjson.Stream, k *kept) ([]byte, error) {
	raw, err := s.Raw()
	if err != nil {
		return nil, err
	}
	return k.mapping(raw)
}

// within reads an object; anything else is skipped, as clusters check few of the settings.
func within(s *esjson.Stream, f func(key string) error) error {
	if kind, err := s.Peek(); err != nil || kind != esjson.Object {
		return errOr(err, s.Skip)
	}
	return s.Object(f)
}

func errOr(err error, next func() error) error {
	if err != nil {
		return err
	}
	return next()
}

// readSettings reads the settings of an index, without the prefix "index".
func readSettings(s *esjson.Stream, k *kept, x *indexresolver.Index) error {
	return within(s, func(key string) (err error) {
		switch key {
		case "uuid":
			x.UUID, err = s.Text()
		case "hidden":
			var hidden string
			hidden, err = readText(s, k)
			x.Hidden = hidden == "true"
		case "sort":
			err = within(s, func(key string) error {
				if key != "field" {
					return s.Skip()
				}
				x.Sort, err = readSettingList(s, k)
				return err
			})
		case "analysis":
			err = within(s, func(key string) error {
				if key != "analyzer" {
					return s.Skip()
				}
				return within(s, func(name string) error {
					x.Analyzers = append(x.Analyzers, k.text(name))
					return s.Skip()
				})
			})
			slices.Sort(x.Analyzers)
		default:
			err = s.Skip()
		}
		return err
	})
}

// readSettingList reads a setting with several values as it was set: a list of them, or one
// text with commas between them.
func readSettingList(s *esjson.Stream, k *kept) ([]string, error) {
	kind, err := s.Peek()
	switch {
	case err == nil && kind == esjson.Array:
		return readTexts(s, k)
	case err != nil || kind != esjson.String:
		return nil, wrongKind("a list of fields", kind, err)
	}
	text, err := s.Text()
	if err != nil {
		return nil, err
	}
	var list []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, k.text(part))
		}
	}
	return list, nil
}

// knows returns an error if the list of aliases has an index with aliases that the state
// lacks: then the state is not whole. With doubts it may be gone meanwhile.
func (s *clusterState) knows(aliases aliasAnswer) error {
	if s.doubts {
		return nil
	}
	known := make(map[string]struct{}, len(s.indices))
	for i := range s.indices {
		known[s.indices[i].Name] = struct{}{}
	}
	for name, list := range aliases {
		if _, ok := known[name]; !ok && len(list) > 0 && s.Metadata.DataStreams.Streams[name].Indices == nil {
			return fmt.Errorf("cannot read index %q: it has the aliases %q and is not in the state", name, aliasNames(list))
		}
	}
	return nil
}
