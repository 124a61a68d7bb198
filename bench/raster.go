package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"strconv"
	"strings"
)

// raster is the same picture as a canvas, in pixels.
type raster struct{ *image.RGBA }

// fine is how many pixels stand for one unit of a canvas.
const fine = 2

func newRaster(width, height float64) raster {
	r := raster{image.NewRGBA(image.Rect(0, 0, int(width*fine), int(height*fine)))}
	r.bar(0, 0, width, height, "#ffffff")
	return r
}

// png returns the picture as a file.
func (r raster) png() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, r); err != nil {
		panic("BUG: a picture in memory can't be written: " + err.Error())
	}
	return b.Bytes()
}

// colourOf reads "#rrggbb".
func colourOf(s string) color.RGBA {
	n, err := strconv.ParseUint(strings.TrimPrefix(s, "#"), 16, 24)
	if err != nil {
		panic(fmt.Sprintf("BUG: colour %q; want #rrggbb", s))
	}
	return color.RGBA{uint8(n >> 16), uint8(n >> 8), uint8(n), 255} //nolint:gosec // G115: the three bytes of n
}

func (r raster) bar(x, y, width, height float64, fill string) {
	c := colourOf(fill)
	for py := int(y * fine); py < int((y+height)*fine); py++ {
		for px := int(x * fine); px < int((x+width)*fine); px++ {
			r.SetRGBA(px, py, c)
		}
	}
}

// line draws a line with round ends; one without a length is a dot.
func (r raster) line(x1, y1, x2, y2, width float64, stroke string) {
	c, half := colourOf(stroke), width*fine/2
	x1, y1, x2, y2 = x1*fine, y1*fine, x2*fine, y2*fine
	dx, dy := x2-x1, y2-y1
	for py := int(min(y1, y2) - half - 1); float64(py) <= max(y1, y2)+half+1; py++ {
		for px := int(min(x1, x2) - half - 1); float64(px) <= max(x1, x2)+half+1; px++ {
			cx, cy := float64(px)+0.5, float64(py)+0.5
			along := 0.0
			if length := dx*dx + dy*dy; length > 0 {
				along = min(max(((cx-x1)*dx+(cy-y1)*dy)/length, 0), 1)
			}
			r.blend(px, py, c, half+0.5-math.Hypot(cx-x1-along*dx, cy-y1-along*dy))
		}
	}
}

// blend covers a share of a pixel.
func (r raster) blend(x, y int, c color.RGBA, share float64) {
	share = min(share, 1)
	if share <= 0 || !(image.Point{X: x, Y: y}).In(r.Rect) {
		return
	}
	old := r.RGBAAt(x, y)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a)*(1-share) + float64(b)*share)) }
	r.SetRGBA(x, y, color.RGBA{mix(old.R, c.R), mix(old.G, c.G), mix(old.B, c.B), 255})
}

// glyphs are the printable characters of ASCII, 5 columns each, the top row in the lowest
// bit. The library has no letters.
var glyphs = func() []byte {
	table, err := hex.DecodeString(strings.Join([]string{
		"0000000000" + "00005f0000" + "0007000700" + "147f147f14" + "242a7f2a12" + "2313086462" + "3649562050" + "0008070300",
		"001c224100" + "0041221c00" + "2a1c7f1c2a" + "08083e0808" + "0080703000" + "0808080808" + "0000606000" + "2010080402",
		"3e5149453e" + "00427f4000" + "7249494946" + "2141494d33" + "1814127f10" + "2745454539" + "3c4a494931" + "4121110907",
		"3649494936" + "464949291e" + "0000140000" + "0040340000" + "0008142241" + "1414141414" + "0041221408" + "0201590906",
		"3e415d594e" + "7c1211127c" + "7f49494936" + "3e41414122" + "7f4141413e" + "7f49494941" + "7f09090901" + "3e41415173",
		"7f0808087f" + "00417f4100" + "2040413f01" + "7f08142241" + "7f40404040" + "7f021c027f" + "7f0408107f" + "3e4141413e",
		"7f09090906" + "3e4151215e" + "7f09192946" + "2649494932" + "03017f0103" + "3f4040403f" + "1f2040201f" + "3f4038403f",
		"6314081463" + "0304780403" + "6159494d43" + "007f414141" + "0204081020" + "004141417f" + "0402010204" + "4040404040",
		"0003070800" + "2054547840" + "7f28444438" + "3844444428" + "384444287f" + "3854545418" + "00087e0902" + "18a4a49c78",
		"7f08040478" + "00447d4000" + "2040403d00" + "7f10284400" + "00417f4000" + "7c04780478" + "7c08040478" + "3844444438",
		"fc18242418" + "18242418fc" + "7c08040408" + "4854545424" + "04043f4424" + "3c4040207c" + "1c2040201c" + "3c4030403c",
		"4428102844" + "4c9090907c" + "4464544c44" + "0008364100" + "0000770000" + "0041360800" + "0201020402",
	}, ""))
	if err != nil {
		panic("BUG: glyphs: " + err.Error())
	}
	return table
}()

// text writes what is ASCII; "µ" is written as u, what else is not as "-".
func (r raster) text(x, y float64, anchor, fill string, bold bool, s string) {
	const advance, size = 6, 1.0 // units of the canvas: a character, and a dot of it
	s = strings.ReplaceAll(s, "µ", "u")
	switch n := float64(len([]rune(s))) * advance; anchor {
	case "end":
		x -= n
	case "middle":
		x -= n / 2
	}
	for _, letter := range s {
		if letter < ' ' || letter > '~' {
			letter = '-'
		}
		for column, bits := range glyphs[5*(letter-' '):][:5] {
			for row := range 8 {
				if bits>>row&1 == 0 {
					continue
				}
				width := size
				if bold {
					width = 1.5 * size
				}
				r.bar(math.Round(x)+float64(column), math.Round(y)-7+float64(row), width, size, fill)
			}
		}
		x += advance
	}
}
