package main

import (
	"fmt"
	"io"
	"math"
	"slices"
)

func (x *matrix) write(w io.Writer) {
	fmt.Fprintf(w, "%s %d rounds, an index born every %v.\n\n", x.On, x.Rounds, x.Born)
	for _, o := range operations {
		x.writeOperation(w, o.name)
	}
	fmt.Fprint(w, "What the worlds hold, and what the birth of an index does (the longest of each round):\n\n")
	x.writeWorlds(w)
	fmt.Fprintln(w)
	writeTargets(w, x.goals())
	fmt.Fprintln(w)
}

// writeOperation shows one operation, a row for each user.
func (x *matrix) writeOperation(w io.Writer, name string) {
	worlds := x.shown(name)
	if len(worlds) == 0 {
		return
	}
	small, large := x.ends()
	head := []string{"user"}
	for _, v := range worlds {
		head = append(head, v.Name)
	}
	if small.cell(name, thousandRoles) != nil {
		head = append(head, fmt.Sprintf("%s : %s", grouped(large.Indices), grouped(small.Indices)))
	} else {
		large = worlds[len(worlds)-1]
	}
	fmt.Fprintf(w, "%s, µs for a plan; CPU, allocations and bytes with %s:\n\n", capital(name), large.Name)
	table(w, append(head, "CPU µs", "allocations", "bytes")...)
	for _, u := range members() {
		cells := []string{u.name}
		for _, v := range worlds {
			cells = append(cells, short(spreadOf(v.cell(name, u.name).Micros)))
		}
		if s := small.cell(name, u.name); s != nil {
			cells = append(cells, ratio(large.cell(name, u.name).Micros, s.Micros).shown(2))
		}
		c := large.cell(name, u.name)
		row(w, append(cells, short(spreadOf(c.CPU)), fmt.Sprint(c.Allocs), grouped(int(c.Bytes)))...)
	}
	fmt.Fprintln(w)
}

// writeWorlds shows what the worlds hold and how the next state comes.
func (x *matrix) writeWorlds(w io.Writer) {
	table(w, "world", "born", "decided on within ms", "CPU ms of that", "slowest plan on one index, µs", "live heap, MiB", "with the next state", "heap peak, MiB")
	for i := range x.Worlds {
		v := &x.Worlds[i]
		row(w, v.Name, fmt.Sprint(v.Births), spreadOf(v.Visible).String(), spreadOf(v.Work).String(), spreadOf(v.pauses()).whole(),
			spreadOf(v.Live).String(), spreadOf(v.Swap).String(), spreadOf(v.Peak).whole())
	}
}

// shown are the worlds of a table: of those without aliases one in each decade.
func (x *matrix) shown(operation string) (list []*worldResult) {
	for i := range x.Worlds {
		v := &x.Worlds[i]
		if decade := math.Log10(float64(v.Indices)); v.cell(operation, thousandRoles) != nil && decade == math.Trunc(decade) {
			list = append(list, v)
		}
	}
	return list
}

// ends are the smallest and the largest world without aliases.
func (x *matrix) ends() (small, large *worldResult) {
	for i := range x.Worlds {
		v := &x.Worlds[i]
		if v.Aliases > 0 {
			continue
		}
		if small == nil || v.Indices < small.Indices {
			small = v
		}
		if large == nil || v.Indices > large.Indices {
			large = v
		}
	}
	return small, large
}

// cell returns one cell, or nil if it is not measured in v.
func (v *worldResult) cell(operation, user string) *cellResult {
	i := slices.IndexFunc(v.Cells, func(c cellResult) bool { return c.Operation == operation && c.User == user })
	if i < 0 {
		return nil
	}
	return &v.Cells[i]
}

// pauses are the longest times that a plan on one index took, of all users.
func (v *worldResult) pauses() []float64 {
	longest := make([]float64, len(v.Live))
	for _, c := range v.Cells {
		for i, l := range c.Longest {
			if c.Operation == oneIndex {
				longest[i] = max(longest[i], l)
			}
		}
	}
	return longest
}

// ratio compares two cells round by round.
func ratio(of, to []float64) spread {
	var list []float64
	for i := range min(len(of), len(to)) {
		list = append(list, of[i]/to[i])
	}
	return spreadOf(list)
}

// short leaves out digits that tell nothing.
func short(s spread) string {
	switch {
	case s.median < 10:
		return s.shown(2)
	case s.median < 100:
		return s.shown(1)
	}
	return s.whole()
}

func capital(s string) string { return string(s[0]-'a'+'A') + s[1:] }

// worst returns the user whose value is the largest, and the value.
func worst(users []member, f func(user string) spread) (name string, most spread) {
	for _, u := range users {
		if s := f(u.name); name == "" || s.median > most.median {
			name, most = u.name, s
		}
	}
	return name, most
}

// goals are the targets of the plans, each for the user who costs most.
func (x *matrix) goals() (list []goal) {
	small, large := x.ends()
	add := func(what, unit string, most float64, f func(user string) spread) {
		user, s := worst(members(), f)
		list = append(list, goal{fmt.Sprintf("%s (%s)", what, user), fmt.Sprintf("%v %s", most, unit), short(s) + " " + unit, s.median <= most})
	}
	times := func(operation string, most float64) {
		add(fmt.Sprintf("%s, %s", operation, large.Name), "µs", most,
			func(user string) spread { return spreadOf(large.cell(operation, user).Micros) })
	}
	flat := func(operation string) {
		add(fmt.Sprintf("%s, %s : %s indices", operation, grouped(large.Indices), grouped(small.Indices)), "×", 1.5,
			func(user string) spread {
				return ratio(large.cell(operation, user).Micros, small.cell(operation, user).Micros)
			})
	}
	cold := func(operation string) {
		add(operation+", first plan", "ms", 5, func(user string) spread {
			return over(large.cell(operation, user).Cold, func(v float64) float64 { return v / 1000 })
		})
	}
	times(oneIndex, 1)
	add(oneIndex+", allocations", "", 0, func(user string) spread { return spreadOf([]float64{large.cell(oneIndex, user).Allocs}) })
	flat(oneIndex)
	times(twoPercent, 10)
	times(fifth, 50)
	cold(twoPercent)
	cold(fifth)
	times(thousandBulk, 100)
	flat(tenBulk)
	flat(thousandBulk)
	return append(list, large.goals()...)
}

// goals are the targets of a world as a whole.
func (v *worldResult) goals() []goal {
	visible, live, swap := spreadOf(v.Visible), spreadOf(v.Live), spreadOf(v.Swap)
	return []goal{
		{v.Name + ": decided on after it was learnt of", "100 ms", short(visible) + " ms", visible.median <= 100},
		{v.Name + ", 1,000 roles: live heap", "256 MiB", short(live) + " MiB", live.median <= 256},
		{v.Name + ", 1,000 roles: live heap with the next state", "256 MiB", short(swap) + " MiB", swap.median <= 256},
	}
}
