package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"guard/test/testbed"
)

// cluster is what operations cost on real nodes: on an open one, through guard in front of
// it, and on one with the security plugin inside.
type cluster struct {
	On     surroundings
	Rounds int
	Conns  int
	Slice  time.Duration // a cell is measured for so long, in each round
	Heap   string        // of each node
	Node   string        // the version of both
	Took   time.Duration // all of it
	Worlds []clusterWorld
}

// clusterWorld is what was measured with so many indices.
type clusterWorld struct {
	Indices int
	Cells   []clusterCell
}

// clusterCell is one operation in one column, round by round.
type clusterCell struct {
	Operation, Side string
	User            string // none on the open node
	Rounds          []looped
}

// The sides that are compared.
const (
	openSide    = "open node"
	guardSide   = "guard + open node"
	securedSide = "secured node"
)

// clusterBreadth says how much is measured on real nodes.
type clusterBreadth struct {
	worlds        []int // numbers of indices, growing
	conns         int
	warmup, slice time.Duration
	before        time.Duration // a cell, in a round before the first that is not kept; 0: there is none
	patternsFrom  int           // so many indices a world has at least for a pattern of 2 %
	heap          string
	fullSpeed     bool // of the nodes; they start later
}

// wholeCluster is the one that is documented.
var wholeCluster = clusterBreadth{
	worlds: []int{10, 100, 1000}, conns: 4, warmup: 250 * time.Millisecond, slice: 1500 * time.Millisecond, before: time.Second,
	patternsFrom: 100, heap: "1g", fullSpeed: true,
}

// operations are those of the matrix that a world of so many indices has.
func (b clusterBreadth) operations(indices int) (list []operation) {
	for _, o := range operations {
		if !o.aliases && (o.name != twoPercent || indices >= b.patternsFrom) {
			list = append(list, o)
		}
	}
	return list
}

// column is one way to a node, for one user.
type column struct {
	side string
	user member
	addr string
	pids []int // node, and guard where it stands before it
}

func (c column) String() string {
	if c.user.name == "" {
		return c.side
	}
	return c.side + ", " + c.user.name
}

// clusterAll starts nodes and guard, and measures.
func (o *order) clusterAll(ctx context.Context, m *machine, w io.Writer) (c *cluster, err error) {
	// Nobody has a core of its own: a node needs both.
	defer func(pinned bool) { m.pinned = pinned }(m.pinned)
	m.pinned = false
	began, b := time.Now(), o.nodes
	c = &cluster{On: m.look(), Rounds: o.rounds(planRounds), Conns: b.conns, Slice: b.slice, Heap: b.heap}
	fmt.Fprintln(w, "bench: building guard")
	binary, err := m.buildGuard(ctx, false)
	if err != nil {
		return nil, err
	}
	security, err := m.clusterPolicy()
	if err != nil {
		return nil, err
	}
	n, err := b.startNodes(ctx, security)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err = errors.Join(err, n.stop()); err != nil {
			c = nil // half of it is nothing
		}
	}()
	c.Node = "OpenSearch " + n.open.Version
	guard, err := m.startGuardWith(ctx, binary, hostOf(n.open), security, "")
	if err != nil {
		return nil, err
	}
	columns := columnsOf(n, guard)
	made := 0
	for _, indices := range b.worlds {
		fmt.Fprintf(w, "bench: cluster: making %s indices on both nodes\n", grouped(indices-made))
		if err := n.grow(ctx, made, indices); err != nil {
			return nil, err
		}
		made = indices
		world, err := b.measure(ctx, m, &n, columns, indices, c.Rounds, w)
		if err != nil {
			return nil, fmt.Errorf("%s indices: %w", grouped(indices), err)
		}
		c.Worlds = append(c.Worlds, world)
	}
	c.Took = time.Since(began).Round(time.Second)
	return c, nil
}

func hostOf(n *testbed.Node) string { return strings.TrimPrefix(n.URL, "http://") }

// columnsOf are all ways, in the order in which they are shown.
func columnsOf(n nodes, guard process) []column {
	list := []column{{side: openSide, addr: hostOf(n.open), pids: []int{n.open.PID()}}}
	for _, u := range clusterUsers() {
		list = append(list,
			column{side: guardSide, user: u, addr: guard.addr, pids: []int{n.open.PID(), guard.pid}},
			column{side: securedSide, user: u, addr: hostOf(n.secured), pids: []int{n.secured.PID()}})
	}
	return list
}

// measure is all rounds in one world. A round measures each operation in all columns, one
// after the other; who begins moves on by one, so that what disturbs meets all alike.
func (b clusterBreadth) measure(ctx context.Context, m *machine, n *nodes, columns []column, indices, rounds int, w io.Writer) (clusterWorld, error) {
	world := clusterWorld{Indices: indices}
	list := b.operations(indices)
	for _, o := range list {
		for _, c := range columns {
			world.Cells = append(world.Cells, clusterCell{Operation: o.name, Side: c.side, User: c.user.name})
		}
	}
	for round := -1; round < rounds; round++ {
		slice := b.slice
		if round < 0 {
			slice = b.before
		} else {
			fmt.Fprintf(w, "bench: cluster: %s indices, round %d of %d\n", grouped(indices), round+1, rounds)
		}
		if slice == 0 {
			continue
		}
		if err := n.renew(ctx, existing(bulkIndices, indices)); err != nil {
			return world, err
		}
		for i, o := range list {
			for k := range columns {
				at := (k + max(round, 0) + i) % len(columns)
				l := b.loop(o, columns[at], indices, slice)
				found, err := m.loop(ctx, l)
				if err != nil {
					return world, fmt.Errorf("%s, %s: %w", o.name, columns[at], err)
				}
				if cell := &world.Cells[i*len(columns)+at]; round >= 0 {
					cell.Rounds = append(cell.Rounds, found)
				}
			}
		}
	}
	return world, nil
}

// loop is what is sent for a cell.
func (b clusterBreadth) loop(o operation, c column, indices int, slice time.Duration) loop {
	body, user := clusterBody, ""
	if o.items > 0 {
		body = string(o.bulk(indices))
	}
	if c.user.name != "" {
		user = c.user.login()
	}
	return loop{
		Addr: c.addr, Request: o.httpRequest(user, body), Want: []byte(o.answers(indices, c.user)), Conns: b.conns, PIDs: c.pids,
		Warmup: b.warmup, Slice: slice, Limit: slice + 30*time.Second,
	}
}

// loop waits until the request is answered rightly, and measures it in a process of its own.
func (m *machine) loop(ctx context.Context, l loop) (found looped, err error) {
	if err := l.await(ctx); err != nil {
		return found, err
	}
	err = m.told(ctx, "loop", l.Limit, l, &found)
	return found, err
}

// cell returns one cell, or nil if it was not measured.
func (v *clusterWorld) cell(operation, side, user string) *clusterCell {
	i := slices.IndexFunc(v.Cells, func(c clusterCell) bool {
		return c.Operation == operation && c.Side == side && c.User == user
	})
	if i < 0 {
		return nil
	}
	return &v.Cells[i]
}
