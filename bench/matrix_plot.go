package main

import (
	"fmt"
	"math"
)

// userColours are those of the members in their order, told apart also by who sees few
// colours (after Okabe and Ito).
var userColours = []string{"#777777", "#0072b2", "#009e73", "#56b4e9", "#e69f00", "#d55e00", "#cc79a7"}

func (x *matrix) plots() []plot {
	return []plot{{file: "benchmark-matrix", title: "Plans a second by the number of indices, by operation and user", canvas: x.plotThroughput(), png: true}}
}

// plotThroughput draws a line for each user and operation, through the medians of the
// rounds, at each a line from the least to the most. Both axes are logarithmic.
func (x *matrix) plotThroughput() *canvas {
	const left, width, right, height, gap = 80.0, 460.0, 180.0, 180.0, 66.0
	worlds := x.plain()
	var drawn []operation
	for _, o := range operations {
		if !o.aliases {
			drawn = append(drawn, o)
		}
	}
	p := newCanvas(left+width+right, (height+gap)*float64(len(drawn))+10, "Plans a second by the number of indices")
	across := decades(float64(worlds[0].Indices), float64(worlds[len(worlds)-1].Indices))
	for k, o := range drawn {
		top := (height+gap)*float64(k) + 32
		p.text(left, top-12, "start", bold, capital(o.name)+": plans a second by the number of indices")
		up := throughputs(worlds, o.name)
		px := func(v float64) float64 { return left + width*across.share(v) }
		py := func(v float64) float64 { return top + height - height*up.share(v) }
		p.grid(across, func(v float64) (x1, y1, x2, y2 float64) { return px(v), top, px(v), top + height }, func(v float64) {
			p.text(px(v), top+height+16, "middle", grey, grouped(int(v)))
		})
		p.grid(up, func(v float64) (x1, y1, x2, y2 float64) { return left, py(v), left + width, py(v) }, func(v float64) {
			p.text(left-6, py(v)+4, "end", grey, plainNumber(v))
		})
		for i, u := range members() {
			var points [][2]float64
			for _, v := range worlds {
				if c := v.cell(o.name, u.name); c != nil {
					points = append(points, [2]float64{px(float64(v.Indices)), py(throughput(c).median)})
				}
			}
			p.path(points, userColours[i])
			for _, v := range worlds {
				if c := v.cell(o.name, u.name); c != nil {
					s := throughput(c)
					p.line(px(float64(v.Indices)), py(s.low), px(float64(v.Indices)), py(s.high), userColours[i])
				}
			}
			p.bar(left+width+16, top+float64(i)*18, 12, 12, userColours[i])
			p.text(left+width+34, top+float64(i)*18+10, "start", "", u.name)
		}
	}
	return p
}

// grid draws a line for each tick, with what names it.
func (c *canvas) grid(s scaled, line func(v float64) (x1, y1, x2, y2 float64), name func(v float64)) {
	for _, v := range s.ticks {
		x1, y1, x2, y2 := line(v)
		c.line(x1, y1, x2, y2, gridline)
		name(v)
	}
}

// plain are the worlds without aliases, by their number of indices.
func (x *matrix) plain() (list []*worldResult) {
	for i := range x.Worlds {
		if x.Worlds[i].Aliases == 0 {
			list = append(list, &x.Worlds[i])
		}
	}
	return list
}

// throughputs is the axis that an operation needs.
func throughputs(worlds []*worldResult, operation string) scaled {
	least, most := math.Inf(1), 0.0
	for _, v := range worlds {
		for i := range v.Cells {
			if c := &v.Cells[i]; c.Operation == operation {
				s := throughput(c)
				least, most = min(least, s.low), max(most, s.high)
			}
		}
	}
	return decades(least, most)
}

// throughput is how many plans one core makes in a second.
func throughput(c *cellResult) spread {
	s := spreadOf(c.Micros)
	return spread{median: 1e6 / s.median, low: 1e6 / s.high, high: 1e6 / s.low}
}

// decades makes an axis of whole decades.
func decades(least, most float64) scaled {
	s := scaled{low: math.Pow(10, math.Floor(math.Log10(least)))}
	for v := s.low; s.high < most || len(s.ticks) < 2; v *= 10 {
		s.high, s.ticks = v, append(s.ticks, v)
	}
	return s
}

// plainNumber writes a tick.
func plainNumber(v float64) string {
	if v < 1 {
		return fmt.Sprint(v)
	}
	return grouped(int(math.Round(v)))
}
