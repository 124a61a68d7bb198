package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"strings"
)

// plot is a picture of results.
type plot struct {
	file, title string
	*canvas
	png bool // there is one of pixels as well
}

func (c *comparison) plots() []plot {
	return []plot{
		{file: "benchmark-cpu", title: "CPU time of the proxy for a request, by proxy and size of the answer", canvas: c.plotCPU()},
		{file: "benchmark-latency", title: "Latency at a fixed rate, by percentile, proxy and size of the answer", canvas: c.plotLatency()},
	}
}

// colours of the columns differ also for who sees few colours (after Okabe and Ito).
var colours = map[string]string{
	bareName: "#777777", nginxName: "#009e73", haproxyName: "#56b4e9",
	unrestrictedName: "#e69f00", limitedName: "#f0c419", documentsName: "#cc79a7", filteredName: "#d55e00",
}

// canvas is a picture that is being drawn, in SVG and in pixels and without anything from
// elsewhere.
type canvas struct {
	bytes.Buffer
	pixels raster
}

func newCanvas(width, height float64, title string) *canvas {
	c := &canvas{pixels: newRaster(width, height)}
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" font-family="sans-serif" font-size="12">`+"\n",
		width, height, width, height)
	fmt.Fprintf(c, "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n", escaped(title))
	return c
}

// svg returns the picture as a file.
func (c *canvas) svg() []byte { return append(bytes.Clone(c.Bytes()), "</svg>\n"...) }

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder takes all
	return b.String()
}

func (c *canvas) text(x, y float64, anchor, style, s string) {
	fmt.Fprintf(c, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" %s>%s</text>\n", x, y, anchor, style, escaped(s))
	fill := "#000000"
	if style == grey {
		fill = greyText
	}
	c.pixels.text(x, y, anchor, fill, style == bold, s)
}

func (c *canvas) bar(x, y, width, height float64, fill string) {
	fmt.Fprintf(c, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", x, y, width, height, fill)
	c.pixels.bar(x, y, width, height, fill)
}

func (c *canvas) line(x1, y1, x2, y2 float64, stroke string) {
	fmt.Fprintf(c, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x1, y1, x2, y2, stroke)
	c.pixels.line(x1, y1, x2, y2, 1, stroke)
}

// path draws a line through points, which are pairs of x and y.
func (c *canvas) path(points [][2]float64, stroke string) {
	texts := make([]string, len(points))
	for i, p := range points {
		texts[i] = fmt.Sprintf("%.1f,%.1f", p[0], p[1])
	}
	fmt.Fprintf(c, "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", strings.Join(texts, " "), stroke)
	for i, p := range points {
		fmt.Fprintf(c, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"%s\"/>\n", p[0], p[1], stroke)
		c.pixels.line(p[0], p[1], p[0], p[1], 5, stroke)
		if i > 0 {
			c.pixels.line(points[i-1][0], points[i-1][1], p[0], p[1], 2, stroke)
		}
	}
}

const (
	bold     = `font-weight="bold"`
	greyText = "#666666"
	grey     = `fill="` + greyText + `"`
	gridline = "#e4e4e4"
)

// plotCPU draws a bar for each column and size: the median, with a line from the least to
// the most of the rounds. Each size has a scale of its own.
func (c *comparison) plotCPU() *canvas {
	const left, width, right, step, gap = 140.0, 430.0, 170.0, 20.0, 46.0
	panel := float64(len(c.Columns))*step + gap
	p := newCanvas(left+width+right, panel*float64(len(sizes))+10, "CPU µs for a request")
	for k, z := range sizes {
		top := panel*float64(k) + 30
		p.text(left, top-10, "start", bold, "Answer of "+z.name+": CPU µs for a request")
		spreads, most := make([]spread, len(c.Columns)), 0.0
		for i, column := range c.Columns {
			spreads[i] = over(c.Rounds[z.name][column], cpu)
			most = max(most, spreads[i].high)
		}
		x := func(v float64) float64 { return left + width*v/max(most, 1) }
		for i, s := range spreads {
			y := top + float64(i)*step
			p.text(left-8, y+13, "end", "", c.Columns[i])
			p.bar(left, y+2, x(s.median)-left, step-4, colours[c.Columns[i]])
			p.line(x(s.low), y+step/2, x(s.high), y+step/2, "#222222")
			p.line(x(s.low), y+6, x(s.low), y+step-6, "#222222")
			p.line(x(s.high), y+6, x(s.high), y+step-6, "#222222")
			p.text(x(s.high)+6, y+14, "start", grey, s.whole())
		}
		p.line(left, top, left, top+float64(len(spreads))*step, "#222222")
	}
	return p
}

// plotLatency draws a line for each column and size, through the medians of the rounds.
// The percentiles stand as far apart as they have nines, the latencies by their logarithm.
func (c *comparison) plotLatency() *canvas {
	const left, width, right, height, gap = 70.0, 460.0, 170.0, 190.0, 66.0
	p := newCanvas(left+width+right, (height+gap)*float64(len(sizes))+10, "Latency in µs by percentile")
	for k, z := range sizes {
		top := (height+gap)*float64(k) + 32
		p.text(left, top-12, "start", bold, fmt.Sprintf("Answer of %s: latency in µs at %d requests a second", z.name, c.Settings.rate(z)))
		least, most := math.Inf(1), 0.0
		for _, column := range c.Columns {
			for i := range percentiles {
				v := over(c.Rounds[z.name][column], at(i)).median
				least, most = min(least, v), max(most, v)
			}
		}
		scale := logScale(least, most)
		y := func(v float64) float64 { return top + height - height*scale.share(v) }
		for _, tick := range scale.ticks {
			p.line(left, y(tick), left+width, y(tick), gridline)
			p.text(left-6, y(tick)+4, "end", grey, fmt.Sprintf("%.0f", tick))
		}
		nines := func(i int) float64 { return -math.Log10(1 - percentiles[i]/100) }
		first, last := nines(0), nines(len(percentiles)-1)
		x := func(i int) float64 { return left + width*(nines(i)-first)/(last-first) }
		for i, percent := range percentiles {
			p.line(x(i), top, x(i), top+height, gridline)
			p.text(x(i), top+height+16, "middle", grey, fmt.Sprintf("p%v", percent))
		}
		for i, column := range c.Columns {
			points := make([][2]float64, len(percentiles))
			for j := range percentiles {
				points[j] = [2]float64{x(j), y(over(c.Rounds[z.name][column], at(j)).median)}
			}
			p.path(points, colours[column])
			p.bar(left+width+16, top+float64(i)*18, 12, 12, colours[column])
			p.text(left+width+34, top+float64(i)*18+10, "start", "", column)
		}
	}
	return p
}

// scaled is a logarithmic axis.
type scaled struct {
	low, high float64
	ticks     []float64
}

// logScale makes an axis from below least to above most, with ticks at 1, 2 and 5.
func logScale(least, most float64) scaled {
	least = max(least, 1)
	most = max(most, 2*least)
	var s scaled
	for decade := math.Pow(10, math.Floor(math.Log10(least))); s.high < most; decade *= 10 {
		for _, v := range []float64{decade, 2 * decade, 5 * decade} {
			if v <= least {
				s.low, s.ticks = v, s.ticks[:0]
			}
			if s.high < most {
				s.high, s.ticks = v, append(s.ticks, v)
			}
		}
	}
	return s
}

// share is where v stands between the ends of the axis.
func (s scaled) share(v float64) float64 {
	v = min(max(v, s.low), s.high)
	return math.Log(v/s.low) / math.Log(s.high/s.low)
}
