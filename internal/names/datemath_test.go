package names

import (
	"strings"
	"testing"
	"time"
)

// noon is the instant of the examples in the clusters' documentation.
var noon = time.Date(2024, time.March, 22, 12, 0, 0, 0, time.UTC)

func TestDateMath(t *testing.T) {
	f := func(expr, want string) {
		t.Helper()
		got, err := Expr(expr).DateMath(noon)
		if err != nil || string(got) != want {
			t.Errorf("%q is %q, %v; want %q", expr, got, err, want)
		}
	}
	// Documented examples.
	f("<logstash-{now/d}>", "logstash-2024.03.22")
	f("<logstash-{now/M}>", "logstash-2024.03.01")
	f("<logstash-{now/M{yyyy.MM}}>", "logstash-2024.03")
	f("<logstash-{now/M-1M{yyyy.MM}}>", "logstash-2024.02")
	f("<logstash-{now/d{yyyy.MM.dd|+12:00}}>", "logstash-2024.03.23")
	f(`<elastic\{ON\}-{now/M}>`, "elastic{ON}-2024.03.01")

	// Not date math.
	f("logs", "logs")
	f("logs-{now/d}", "logs-{now/d}")
	f("-<logs-{now/d}>", "-<logs-{now/d}>")
	f("<logs", "<logs")

	// Computed first, expanded later.
	f("<logs*>", "logs*")
	f("<logs-{now/d}*>", "logs-2024.03.22*")
	f("<-logs>", "-logs")
	f("<_all>", "_all")
	f("<<a>>", "<a>")
	f(`<x\>`, "x")
	f(`<x-{now\/d{yy\yy}}>`, "x-2024")
	f(`<x-{now\\/d{yyyy}}>`, `x-\2024`)
	f(`<x\\y\a>`, `x\ya`)

	// Units and rounding.
	f("<x-{now/y}>", "x-2024.01.01")
	f("<x-{now/w}>", "x-2024.03.18")
	f("<x-{now/h{HH.mm}}>", "x-12.00")
	f("<x-{now-30m/h{HH.mm}}>", "x-11.00")
	f("<x-{now+90s/m{HH.mm.ss}}>", "x-12.01.00")
	f("<x-{now+1s/s{ss}}>", "x-01")
	f("<x-{now+d}>", "x-2024.03.23")
	f("<x-{now-1y}>", "x-2023.03.22")
	f("<x-{now+1w}>", "x-2024.03.29")
	f("<x-{now+9d+1M}>", "x-2024.04.30") // the month has no 31st
	f("<x-{now-22d-1y}>", "x-2023.02.28")
	f("<x-{now-2H{HH}}>", "x-10")
	f("<{now/d}-{now/M{MM}}>", "2024.03.22-03")

	// Zones.
	f("<x-{now/d{yyyy.MM.dd|-13:00}}>", "x-2024.03.21")
	f("<x-{now/h{HH|Europe/Berlin}}>", "x-13")
	f("<x-{now+10d/h{HH|Europe/Berlin}}>", "x-13")  // a day keeps the clock over the change to summer time
	f("<x-{now+240h/h{HH|Europe/Berlin}}>", "x-14") // hours do not
	f("<x-{now/h{HH|CET}}>", "x-13")
	f("<x-{now/h{HH|UTC+9}}>", "x-21")
	f("<x-{now/h{HH.mm|GMT+05:30}}>", "x-17.00") // rounded to the hour there
	f("<x-{now/h{HH|Z}}>", "x-12")
	f("<x-{now/h{HH|+5}}>", "x-17")
	f("<x-{now{HH.mm|+0530}}>", "x-17.30")
	f("<x-{now{HH.mm.ss|-01:02:03}}>", "x-10.57.57")

	// Formats.
	f("<x-{now/d{yy}}>", "x-24")
	f("<x-{now/d{y}}>", "x-2024")
	f("<x-{now/d{yyyyy}}>", "x-02024")
	f("<x-{now/d{uu.M.d}}>", "x-24.3.22")
	f("<x-{now/d{YYYY.ww}}>", "x-2024.12")
	f("<x-{now/w{YYYY-'w'w}}>", "x-2024-w12")
	f("<x-{now/d{yyyy-DDD}}>", "x-2024-082")
	f("<x-{now/d{QQ}}>", "x-01")
	f("<x-{now/h{hh.KK.kk.h}}>", "x-12.00.12.12")
	f("<x-{now{SSS}}>", "x-000")
	f("<x-{now/d{'lit'yyyy''MM}}>", "x-lit2024'03")
	f("<x-{now/d{basic_date}}>", "x-20240322")
	f("<x-{now/d{week_date}}>", "x-2024-W12-5")
	f("<x-{now/d{8yyyy}}>", "x-2024")
	f("<x-{now/d{é}}>", "x-é")
}

func TestDateMathRefuses(t *testing.T) {
	f := func(expr, wantErr string) {
		t.Helper()
		got, err := Expr(expr).DateMath(noon)
		if err == nil || !strings.Contains(err.Error(), wantErr) {
			t.Errorf("%q is %q, %v; want an error with %q", expr, got, err, wantErr)
		}
		if got != "" {
			t.Errorf("%q failed and still gave %q", expr, got)
		}
	}
	f("<>", "nothing captured")
	f("<x-{now/d>", "open ended")
	f("<x-{now/d{yyyy}>", "open ended")
	f("<x-{now/d{yyyy}q}>", "[now/d{yyyy}q]. missing closing")
	f("<x-{now/d{yyyy{MM}}}>", "[x-{now/d{yyyy{MM}}}>]. invalid character in placeholder at position [14]")
	f("<x-{now/d{}}>", "missing date format")
	f("<x-{now/d{|+02:00}}>", "No date pattern")
	f("<x-{now/h{HH|}}>", "missing time zone")
	f("<x-now/d}>", "[x-now/d}>]. invalid character at position [8]")
	f(`<x-{now/d{yyyy\}}>`, "open ended")
	f(`<x𝄞}>`, "position [4]") // the clusters count in UTF-16
	f("<x-{}>", "cannot parse empty date")
	f("<x-{2020.01.01||/M}>", "does not start with")
	f("<x-{ now}>", "does not start with")
	f("<x-{nowx}>", "operator not supported for date math [x]")
	f("<x-{now /d}>", "operator not supported for date math [ /d]")
	f("<x-{now+}>", "truncated date math [+]")
	f("<x-{now/d+1}>", "truncated date math [/d+1]")
	f("<x-{now/2d}>", "rounding")
	f("<x-{now+1q}>", "unit [q] not supported for date math [+1q]")
	f("<x-{now/ö}>", "unit [ö] not supported for date math [/ö]")
	f("<x-{now+99999999999999999999d}>", "too large")
	f("<x-{now+1000001d}>", "too large")
	f("<x-{now-3000y}>", "cannot be part of a name")
	f("<x-{now+8000y}>", "cannot be part of a name")
	f("<x-{now/d{MMM}}>", "gives text")
	f("<x-{now/d{HHH}}>", "gives text")
	f("<x-{now/d{E}}>", "letter 'E'")
	f("<x-{now/d{xxxx.ww}}>", "letter 'x'")
	f("<x-{now/d{bogus}}>", "letter 'b'")
	f("<x-{now/d{epoch_millis}}>", `date format "epoch_millis"`)
	f("<x-{now/d{SSSSSSSSSS}}>", "too many letters")
	f("<x-{now/d{'lit}}>", "unclosed quote")
	f("<x-{now/d{yyyy[MM]}}>", "reserved character")
	f("<x-{now/d{yyyy#}}>", "reserved character")
	f("<x-{now/d{yyyy||MM}}>", "unknown time zone") // what follows a bar is a zone
	f("<x-{now/h{HH|bogus}}>", "unknown time zone")
	f("<x-{now/h{HH|Local}}>", "unknown time zone")
	f("<x-{now/h{HH|../../etc/passwd}}>", "unknown time zone")
	f("<x-{now/h{HH|+18:01}}>", "out of range")
	f("<x-{now/h{HH|+1:2}}>", "cannot read time zone")
}

// FuzzDateMath holds: no panic, no date math left in a result that was computed, and
// text without a placeholder means itself.
func FuzzDateMath(f *testing.F) {
	f.Add("logs-{now/d{yyyy.MM.dd|+02:00}}")
	f.Add(`a\{b\}`)
	f.Add("{now-1M/w{YYYY'W'ww}}")
	f.Fuzz(func(t *testing.T, inner string) {
		got, err := Expr("<" + inner + ">").DateMath(noon)
		switch {
		case err != nil:
			if got != "" {
				t.Fatalf("%q failed and gave %q", inner, got)
			}
		case got == "":
			t.Fatalf("%q gives an empty name", inner)
		case !strings.ContainsAny(inner, `{}\`) && string(got) != inner:
			t.Fatalf("%q means %q", inner, got)
		}
	})
}
