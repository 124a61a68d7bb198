package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"guard/indexresolver"
	"guard/internal/esjson"
)

// Managed services, and proxies before a cluster, forbid its state. Its lists of names,
// aliases, mappings, settings and streams tell the same, but for which of two such pictures
// is the newer one, and whether all are of one moment. So a picture counts when two in a row
// are equal, and is held against the lists as often as is allowed.
//
// Most of the lists are answered by the elected master, whichever node is asked; the names
// are the node's own. Where the two differ the picture is none.

// The targets that are asked instead of the state.
const (
	resolveTarget  = "/_resolve/index/*?expand_wildcards=all"
	mappingTarget  = "/_mapping?expand_wildcards=all"
	settingsTarget = "/_settings/index.uuid,index.hidden,index.sort.field*,index.analysis.analyzer.*?expand_wildcards=all"
	streamTarget   = "/_data_stream"
)

// lists is the picture that was made of the lists last, and how they looked.
type lists struct {
	print    string // hash of the answers
	contents *indexresolver.Contents
	count    uint64    // of pictures
	refused  error     // why the state is not read; nil if it is
	until    time.Time // when it is asked for again
}

// errMixed tells that the lists are of different moments.
var errMixed = errors.New("the lists of the cluster do not fit together")

// fromLists makes a picture of the lists, or returns nil if they tell what is still seen.
func (r *reader) fromLists(ctx context.Context, seen *stamp, old *indexresolver.State) (*indexresolver.Contents, stamp, error) {
	mine := seen != nil && seen.listed
	if mine && r.lists.print != "" {
		print, err := r.printLists(ctx)
		if err != nil {
			return nil, stamp{}, err
		}
		if print == r.lists.print {
			return nil, *seen, nil
		}
	}
	k := newKept(old)
	var before *indexresolver.Contents
	why := errUnsteady
	for range maxTries {
		c, print, err := r.readLists(ctx, k)
		switch {
		case errors.Is(err, errMixed):
			before, why = nil, err
			continue
		case err != nil:
			return nil, stamp{}, err
		case mine && sameContents(c, r.lists.contents): // in another order
			r.lists.print = print
			return nil, *seen, nil
		case before == nil || !sameContents(c, before):
			before, why = c, errUnsteady
			continue
		}
		r.lists.count++
		r.lists.print, r.lists.contents = print, c
		c.StateUUID, c.Version = print, r.lists.count
		return c, stamp{ClusterUUID: c.ClusterUUID, StateUUID: print, Version: r.lists.count, listed: true}, nil
	}
	return nil, stamp{}, why
}

func sameContents(a, b *indexresolver.Contents) bool {
	return b != nil && a.ClusterUUID == b.ClusterUUID && a.Engine == b.Engine &&
		reflect.DeepEqual(a.Indices, b.Indices) && reflect.DeepEqual(a.DataStreams, b.DataStreams)
}

// printLists is a look that builds nothing: the hash of all answers. Nodes that give what
// they list in another order each time look as if they had changed.
func (r *reader) printLists(ctx context.Context) (string, error) {
	sum := sha256.New()
	for _, target := range []string{rootTarget, resolveTarget, aliasTarget, mappingTarget, settingsTarget, streamTarget} {
		answer := sha256.New()
		err := r.ask(ctx, target, func(body io.Reader) error {
			answer.Reset()
			_, err := io.Copy(answer, body)
			return err
		})
		if target == streamTarget && isRefused(err) {
			err = nil
			answer.Reset()
		}
		if err != nil {
			return "", err
		}
		sum.Write(answer.Sum(nil))
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// listReader reads the lists once, and hashes them as printLists does.
type listReader struct {
	*reader
	*kept
	sum     hash.Hash
	out     *indexresolver.Contents
	at      map[string]int      // where the index of that name is in out
	aliases map[string][]string // of each index, as the names tell
	told    map[string]int      // in how many lists an index came
	joined  aliasAnswer         // the aliases of each data stream
}

func (r *reader) readLists(ctx context.Context, k *kept) (*indexresolver.Contents, string, error) {
	l := &listReader{reader: r, kept: k, sum: sha256.New(), out: &indexresolver.Contents{}}
	for _, step := range []func(context.Context) error{l.root, l.resolved, l.memberships, l.mappings, l.settings, l.streams} {
		if err := step(ctx); err != nil {
			return nil, "", err
		}
	}
	for i := range l.out.Indices {
		x := &l.out.Indices[i]
		if l.told[x.Name] != 2 || x.UUID == "" || !slices.Equal(l.aliases[x.Name], aliasNames(x.Aliases)) {
			return nil, "", fmt.Errorf("%w: index %q came in %d of 2 lists, with uuid %q and the aliases %q and %q", errMixed, x.Name, l.told[x.Name], x.UUID, l.aliases[x.Name], aliasNames(x.Aliases))
		}
	}
	withStreamAliases(l.out, l.joined)
	return l.out, hex.EncodeToString(l.sum.Sum(nil)), nil
}

// walk is stream, and hashes the answer. What walk builds is begun anew by begin.
func (l *listReader) walk(ctx context.Context, target string, begin func(), walk func(*esjson.Stream) error) error {
	answer := sha256.New()
	err := l.ask(ctx, target, func(body io.Reader) error {
		answer.Reset()
		begin()
		s := esjson.NewStream(io.TeeReader(body, answer), maxValue)
		if err := walk(s); err != nil {
			return err
		}
		return s.End()
	})
	if target == streamTarget && isRefused(err) {
		answer.Reset()
		l.sum.Write(answer.Sum(nil))
		return err
	}
	l.sum.Write(answer.Sum(nil))
	return err
}

func (l *listReader) root(ctx context.Context) error {
	var version, distribution string
	err := l.walk(ctx, rootTarget, func() { version, distribution = "", indexresolver.Elasticsearch.String() }, func(s *esjson.Stream) error {
		return s.Object(func(key string) (err error) {
			switch key {
			case "cluster_uuid":
				l.out.ClusterUUID, err = s.Text()
			case "version":
				err = s.Object(func(key string) (err error) {
					switch key {
					case "number":
						version, err = s.Text()
					case "distribution":
						distribution, err = s.Text()
					default:
						err = s.Skip()
					}
					return err
				})
			default:
				err = s.Skip()
			}
			return err
		})
	})
	if err != nil {
		return err
	}
	if l.out.ClusterUUID == "" || l.out.ClusterUUID == "_na_" {
		return fmt.Errorf("the answer to %s names no cluster: cluster_uuid %q", rootTarget, l.out.ClusterUUID)
	}
	l.out.Engine, err = indexresolver.ParseEngine(distribution, version)
	return err
}

// resolved reads the names: indices with their aliases and whether they are closed, and
// data streams.
func (l *listReader) resolved(ctx context.Context) error {
	begin := func() { l.out.Indices, l.out.DataStreams, l.aliases = nil, nil, map[string][]string{} }
	err := l.walk(ctx, resolveTarget, begin, func(s *esjson.Stream) error {
		return s.Object(func(key string) error {
			switch key {
			case "indices":
				return s.Array(func() error { return l.resolvedIndex(s) })
			case "data_streams":
				return s.Array(func() error { return l.resolvedStream(s) })
			default:
				return s.Skip()
			}
		})
	})
	if err != nil {
		return err
	}
	slices.SortFunc(l.out.Indices, func(a, b indexresolver.Index) int { return strings.Compare(a.Name, b.Name) })
	l.at, l.told = make(map[string]int, len(l.out.Indices)), make(map[string]int, len(l.out.Indices))
	for i := range l.out.Indices {
		l.at[l.out.Indices[i].Name] = i
	}
	if len(l.at) != len(l.out.Indices) {
		return fmt.Errorf("%w: %d names for %d indices", errMixed, len(l.at), len(l.out.Indices))
	}
	sortStreams(l.out.DataStreams)
	return nil
}

func sortStreams(list []indexresolver.DataStream) {
	slices.SortFunc(list, func(a, b indexresolver.DataStream) int { return strings.Compare(a.Name, b.Name) })
}

func (l *listReader) resolvedIndex(s *esjson.Stream) error {
	var (
		x                   indexresolver.Index
		aliases, attributes []string
	)
	err := s.Object(func(key string) (err error) {
		switch key {
		case "name":
			x.Name, err = readText(s, l.kept)
		case "aliases":
			aliases, err = readTexts(s, l.kept)
		case "attributes":
			attributes, err = readTexts(s, l.kept)
		default:
			err = s.Skip()
		}
		return err
	})
	if err != nil {
		return err
	}
	x.Closed = slices.Contains(attributes, "closed")
	if x.Closed == slices.Contains(attributes, "open") {
		return fmt.Errorf("cannot read index %q: attributes %q; want open or closed", x.Name, attributes)
	}
	slices.Sort(aliases)
	if aliases == nil {
		aliases = []string{}
	}
	l.aliases[x.Name] = aliases
	l.out.Indices = append(l.out.Indices, x)
	return nil
}

func (l *listReader) resolvedStream(s *esjson.Stream) error {
	var d indexresolver.DataStream
	err := s.Object(func(key string) (err error) {
		switch key {
		case "name":
			d.Name, err = readText(s, l.kept)
		case "backing_indices":
			d.Indices, err = readTexts(s, l.kept)
		default:
			err = s.Skip()
		}
		return err
	})
	l.out.DataStreams = append(l.out.DataStreams, d)
	return err
}

// memberships reads the aliases with what they say about their indices.
func (l *listReader) memberships(ctx context.Context) error {
	var answer aliasAnswer
	err := l.walk(ctx, aliasTarget, func() { answer = aliasAnswer{} }, func(s *esjson.Stream) error {
		return readAliases(s, l.kept, answer)
	})
	if err != nil {
		return err
	}
	l.joined = aliasAnswer{}
	for name, list := range answer {
		i, ok := l.at[name]
		switch {
		case ok:
			l.out.Indices[i].Aliases = list
		case len(list) == 0:
		case slices.ContainsFunc(l.out.DataStreams, func(d indexresolver.DataStream) bool { return d.Name == name }):
			l.joined[name] = list
		default:
			return fmt.Errorf("%w: %q has aliases and is no index", errMixed, name)
		}
	}
	return nil
}

// each reads a list that has one member for each index, and in it one of the given name.
func (l *listReader) each(ctx context.Context, target, member string, f func(*esjson.Stream, *indexresolver.Index) error) error {
	var told []string
	err := l.walk(ctx, target, func() { told = nil }, func(s *esjson.Stream) error {
		return s.Object(func(name string) error {
			i, ok := l.at[name]
			if !ok {
				return fmt.Errorf("%w: %q is in %s and is no index", errMixed, name, target)
			}
			told = append(told, name)
			return in("index", name, s.Object(func(key string) error {
				if key != member {
					return s.Skip()
				}
				return f(s, &l.out.Indices[i])
			}))
		})
	})
	for _, name := range told {
		l.told[name]++
	}
	return err
}

func (l *listReader) mappings(ctx context.Context) error {
	return l.each(ctx, mappingTarget, "mappings", func(s *esjson.Stream, x *indexresolver.Index) (err error) {
		x.Mapping, err = readMapping(s, l.kept)
		return err
	})
}

func (l *listReader) settings(ctx context.Context) error {
	return l.each(ctx, settingsTarget, "settings", func(s *esjson.Stream, x *indexresolver.Index) error {
		x.UUID, x.Hidden, x.Sort, x.Analyzers = "", false, nil, nil // of a node that was asked before
		return within(s, func(key string) error {
			if key != "index" {
				return s.Skip()
			}
			return readSettings(s, l.kept, x)
		})
	})
}

// streams reads which data streams are hidden. Clusters that have none refuse the question.
func (l *listReader) streams(ctx context.Context) error {
	var list []indexresolver.DataStream
	err := l.walk(ctx, streamTarget, func() { list = nil }, func(s *esjson.Stream) error {
		return s.Object(func(key string) error {
			if key != "data_streams" {
				return s.Skip()
			}
			return s.Array(func() error {
				d, err := readStream(s, l.kept)
				list = append(list, d)
				return err
			})
		})
	})
	if err != nil {
		if isRefused(err) {
			return nil // what the names tell of them is enough
		}
		return err
	}
	sortStreams(list)
	if !slices.EqualFunc(list, l.out.DataStreams, func(a, b indexresolver.DataStream) bool {
		return a.Name == b.Name && slices.Equal(a.Indices, b.Indices)
	}) {
		return fmt.Errorf("%w: the data streams are %v and %v", errMixed, list, l.out.DataStreams)
	}
	l.out.DataStreams = list
	return nil
}

func readStream(s *esjson.Stream, k *kept) (d indexresolver.DataStream, err error) {
	err = s.Object(func(key string) (err error) {
		switch key {
		case "name":
			d.Name, err = readText(s, k)
		case "hidden":
			d.Hidden, err = readBool(s)
		case "indices":
			err = s.Array(func() error {
				return s.Object(func(key string) error {
					if key != "index_name" {
						return s.Skip()
					}
					name, err := readText(s, k)
					d.Indices = append(d.Indices, name)
					return err
				})
			})
		default:
			err = s.Skip()
		}
		return err
	})
	return d, err
}
