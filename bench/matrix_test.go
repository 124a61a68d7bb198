package main

import (
	"bytes"
	"image/color"
	"image/png"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMatrix measures small worlds: every cell is checked to be what its name says.
func TestMatrix(t *testing.T) {
	var out bytes.Buffer
	o := order{
		settings: settings{Rounds: 2, Conns: 1, Requests: 1, Rate: 1, Paced: 1},
		breadth: breadth{
			worlds: []world{{indices: 10}, {indices: 100}, {indices: 1000}, {indices: 100, aliases: 250, once: true}},
			births: 10 * time.Millisecond, slice: time.Millisecond, passes: 2,
		},
		only: matrixOnly, out: t.TempDir(),
	}
	if err := o.bench(t.Context(), &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	x := written(t, o.out).Matrix
	if x == nil || len(x.Worlds) != len(o.breadth.worlds) {
		t.Fatalf("%+v; want all worlds", x)
	}
	for i := range x.Worlds {
		v, w := &x.Worlds[i], o.breadth.worlds[i]
		rounds := o.Rounds
		if w.once {
			rounds = 1
		}
		if v.Births == 0 || len(v.Visible) != rounds || len(v.Live) != rounds || len(v.Peak) != rounds {
			t.Errorf("%s: %+v; want births and heaps of each round", v.Name, v)
		}
		if w.indices >= 1000 && v.Swap[0] <= v.Live[0] {
			t.Errorf("%s: %v MiB with two states; want more than %v with one", v.Name, v.Swap[0], v.Live[0])
		}
		for _, p := range operations {
			for _, u := range members() {
				c := v.cell(p.name, u.name)
				if c == nil && p.aliases && w.aliases == 0 {
					continue
				}
				if c == nil || len(c.Micros) != rounds || c.Micros[0] <= 0 || c.CPU[0] <= 0 || c.Longest[0] < c.Micros[0] || p.cold != (len(c.Cold) == rounds) {
					t.Errorf("%s, %s by %s: nothing was measured: %+v", v.Name, p.name, u.name, c)
				}
			}
		}
	}
}

// sampleMatrix has two worlds: whatever is done takes ten times as long in the larger one.
func sampleMatrix() *matrix {
	x := &matrix{Rounds: 3, Born: time.Second}
	for k, w := range []world{{indices: 10}, {indices: 30}, {indices: 1000}, {indices: 1000, aliases: 5000, once: true}} {
		v := worldResult{
			Name: w.String(), Indices: w.indices, Aliases: w.aliases, Births: 12,
			Visible: []float64{20, 10, 300}, Work: []float64{9, 8, 10}, Live: []float64{200, 201, 202}, Swap: []float64{400, 401, 402}, Peak: []float64{900, 901, 902},
		}
		for _, o := range operations {
			if o.aliases && w.aliases == 0 {
				continue
			}
			for i, u := range members() {
				own := float64(1+i) * []float64{1, 3, 10, 20}[k]
				v.Cells = append(v.Cells, cellResult{
					User: u.name, Operation: o.name, Micros: []float64{own, 2 * own, 4 * own}, CPU: []float64{own, own, own},
					Longest: []float64{100, 200 + own, 400}, Cold: []float64{9000, 1000, 2000}, Allocs: float64(i), Bytes: 1000 * float64(i),
				})
			}
		}
		x.Worlds = append(x.Worlds, v)
	}
	return x
}

// TestWriteMatrix holds that worlds are compared round by round, and that a target is met
// only if the user who costs most meets it.
func TestWriteMatrix(t *testing.T) {
	var b strings.Builder
	if err := (results{Matrix: sampleMatrix()}).write(&b); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		"3 rounds, an index born every 1s.",
		"Search, one index, µs for a plan; CPU, allocations and bytes with 1,000 indices:",
		"| user | 10 indices | 1,000 indices | 1,000 indices, 5,000 aliases | 1,000 : 10 | CPU µs | allocations | bytes |",
		"| DLS | 12.0 (6.0–24.0) | 120 (60–240) | 240 (120–480) | 10.00 (10.00–10.00) | 60.0 (60.0–60.0) | 5 | 5,000 |",
		"Search, one alias, µs for a plan; CPU, allocations and bytes with 1,000 indices, 5,000 aliases:",
		"| 1,000 indices | 12 | 20.0 (10.0–300.0) | 9.0 (8.0–10.0) | 270 (100–400) | 201.0 (200.0–202.0) | 401.0 (400.0–402.0) | 901 (900–902) |",
		"| search, one index, 1,000 indices (1,000 roles) | 1 µs | 140 (70–280) µs | **no** |",
		"| search, one index, allocations (1,000 roles) | 0 | 6.00 (6.00–6.00) | **no** |",
		"| search, one index, 1,000 : 10 indices (full privileges) | 1.5 × | 10.0 (10.0–10.0) × | **no** |",
		"| search, 20 % of the indices, first plan (full privileges) | 5 ms | 2.00 (1.00–9.00) ms | yes |",
		"| 1,000 indices: decided on after it was learnt of | 100 ms | 20.0 (10.0–300.0) ms | yes |",
		"| 1,000 indices, 1,000 roles: live heap with the next state | 256 MiB | 401 (400–402) MiB | **no** |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the tables lack %q:\n%s", want, b.String())
		}
	}
}

func TestNames(t *testing.T) {
	f := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
	f(indexName(0), "index_a0")
	f(indexName(4), "index_e0")
	f(indexName(5), "index_a1")
	f(indexName(granted(0)), "index_a0")
	f(indexName(granted(1)), "index_b0")
	f(indexName(granted(19)), "index_b9")
	f(aliasName(6, 0), "alias_b1")
	f(aliasName(6, 2), "alias_b1_2")
	f(grouped(7), "7")
	f(grouped(1000), "1,000")
	f(grouped(1234567), "1,234,567")
	aliases := 0
	for _, x := range (world{indices: 100, aliases: 250}).contents(3).Indices {
		aliases += len(x.Aliases)
	}
	if aliases != 253 {
		t.Errorf("%d aliases; want 250 and those of three indices that were born", aliases)
	}
}

func TestDecades(t *testing.T) {
	f := func(least, most float64, ticks ...float64) {
		t.Helper()
		if s := decades(least, most); !slices.Equal(s.ticks, ticks) || s.low != ticks[0] || s.high != ticks[len(ticks)-1] {
			t.Errorf("%v to %v: %+v; want %v", least, most, s, ticks)
		}
	}
	f(10, 1000, 10, 100, 1000)
	f(12, 99, 10, 100)
	f(10, 10, 10, 100)
	f(0.5, 2, 0.1, 1, 10)
}

// TestRaster holds that a picture in pixels shows what was drawn.
func TestRaster(t *testing.T) {
	c := newCanvas(100, 50, "title")
	c.bar(10, 10, 20, 10, "#ff0000")
	c.path([][2]float64{{50, 5}, {90, 45}}, "#0072b2")
	c.text(2, 40, "start", bold, "H")
	p, err := png.Decode(bytes.NewReader(c.pixels.png()))
	if err != nil {
		t.Fatal(err)
	}
	f := func(x, y int, want color.RGBA) {
		t.Helper()
		if got := color.RGBAModel.Convert(p.At(x*fine, y*fine)); got != want {
			t.Errorf("at %d, %d: %v; want %v", x, y, got, want)
		}
	}
	white := color.RGBA{255, 255, 255, 255}
	f(5, 5, white)
	f(20, 15, color.RGBA{255, 0, 0, 255})
	f(31, 15, white)
	f(70, 25, color.RGBA{0, 0x72, 0xb2, 255})
	f(80, 25, white)
	f(2, 36, color.RGBA{0, 0, 0, 255}) // the left leg of the letter
	f(4, 34, white)
}

// stand makes a world that nobody was decided by yet.
func stand(b *testing.B, w world) *standing {
	b.Helper()
	l, err := newLaw(members())
	if err != nil {
		b.Fatal(err)
	}
	p, err := l.compile()
	if err != nil {
		b.Fatal(err)
	}
	s, err := w.stand(p)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkMatrix is for profiles of one cell: no index is born.
func BenchmarkMatrix(b *testing.B) {
	for _, w := range []world{{indices: 10}, {indices: 100_000}} {
		s := stand(b, w)
		for _, o := range operations {
			for _, u := range members() {
				if o.aliases {
					continue
				}
				b.Run(strings.NewReplacer(" ", "-", ",", "", "%", "percent").Replace(o.name+"/"+u.name+"/"+w.String()), func(b *testing.B) {
					c := newCell(u, o, w, s.snapshot.Load())
					if err := c.check(s.snapshot.Load()); err != nil {
						b.Fatal(err)
					}
					before := ownCPU(b)
					b.ReportAllocs()
					for b.Loop() {
						if err := c.plan(s.snapshot.Load()); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(micros(ownCPU(b)-before)/float64(b.N), "CPU-µs/op")
				})
			}
		}
	}
}

// BenchmarkFirstPlan is a plan under a policy that nobody was decided by yet, in a large world.
func BenchmarkFirstPlan(b *testing.B) {
	s := stand(b, world{indices: 100_000})
	l, err := newLaw(members())
	if err != nil {
		b.Fatal(err)
	}
	for _, o := range operations {
		for _, u := range members() {
			if !o.cold {
				continue
			}
			b.Run(strings.NewReplacer(" ", "-", ",", "", "%", "percent").Replace(o.name+"/"+u.name), func(b *testing.B) {
				var took time.Duration
				for b.Loop() {
					d, err := coldPlan(l, u, o, s)
					if err != nil {
						b.Fatal(err)
					}
					took += d
				}
				b.ReportMetric(micros(took)/1000/float64(b.N), "plan-ms/op")
			})
		}
	}
}

// ownCPU tells also on a busy machine what something costs.
func ownCPU(b *testing.B) time.Duration {
	b.Helper()
	d, err := cpuTime(os.Getpid())
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// BenchmarkBirth is how long it takes until a new index is decided on.
func BenchmarkBirth(b *testing.B) {
	for _, w := range []world{{indices: 10}, {indices: 100_000}, {indices: 100_000, aliases: 100_000}} {
		b.Run(fileName(w.String()), func(b *testing.B) {
			s := stand(b, w)
			first := newBirth(s)
			before := ownCPU(b)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.bear(first); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(micros(ownCPU(b)-before)/float64(b.N), "CPU-µs/op")
		})
	}
}
