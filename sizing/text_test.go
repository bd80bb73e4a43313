package sizing

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestParseNumber(t *testing.T) {
	for _, tc := range []struct{ in, want, reason string }{
		{"12", "12", "whole"},
		{"0.05", "1/20", "exact, unlike float64"},
		{".5", "1/2", "no whole part"},
		{"5.", "5", "no fraction"},
		{"1.5e3", "1500", "exponent"},
		{"1E-2", "1/100", "capital exponent"},
		{"+7", "7", "sign"},
		{"-7", "-7", "negative: the caller's to judge"},
		{"007", "7", "leading zeros are not octal"},
	} {
		if got := must[*big.Rat](t)(ParseNumber(tc.in)); got.Cmp(rat(t, tc.want)) != 0 {
			t.Errorf("ParseNumber(%q) is %v, want %s: %s", tc.in, got, tc.want, tc.reason)
		}
	}
	for _, tc := range []struct{ in, want, reason string }{
		{"", "missing", "empty"},
		{"NaN", "not a decimal", "not a number"},
		{"Inf", "not a decimal", "infinite"},
		{"-inf", "not a decimal", "infinite"},
		{"0x10", "not a decimal", "hexadecimal"},
		{"0b1", "not a decimal", "binary"},
		{"1_000", "not a decimal", "digit separator"},
		{"1/3", "not a decimal", "a fraction is a rational, but no decimal text"},
		{"1p4", "not a decimal", "binary exponent"},
		{".", "not a decimal", "no digit"},
		{"1e", "not a decimal", "no exponent"},
		{"1e5.5", "not a decimal", "broken exponent"},
		{"1e1e1", "not a decimal", "two exponents"},
		{"--1", "not a decimal", "two signs"},
		{" 1", "not a decimal", "blank"},
		{"1,5", "not a decimal", "comma"},
		{"\u0663", "not a decimal", "digits of other scripts"},
		{"1e65", "exponent beyond 64", "too large"},
		{"1e-999999999", "exponent beyond 64", "would take a gigabyte"},
		{"1e99999999999999999999", "exponent beyond 64", "beyond int"},
		{strings.Repeat("9", 200), "too long", "too long"},
	} {
		_, err := ParseNumber(tc.in)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("ParseNumber(%q): %v, want %q: %s", tc.in, err, tc.want, tc.reason)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for _, tc := range []struct{ in, want, reason string }{
		{"250ms", "1/4", "exact"},
		{"1.5s", "3/2", "fraction"},
		{"14d", "1209600", "days"},
		{"2w", "1209600", "weeks"},
		{"3h", "10800", "hours"},
		{"5m", "300", "m is minutes"},
		{"10us", "1/100000", "micro"},
		{"10\u00b5s", "1/100000", "micro sign"},
		{"10\u03bcs", "1/100000", "greek mu"},
		{"1ns", "1/1000000000", "nano"},
		{"0s", "0", "none"},
		{"1e3ms", "1", "exponent"},
	} {
		if got := must[*big.Rat](t)(ParseDuration(tc.in)); got.Cmp(rat(t, tc.want)) != 0 {
			t.Errorf("ParseDuration(%q) is %v, want %s: %s", tc.in, got, tc.want, tc.reason)
		}
	}
	for _, tc := range []struct{ in, want, reason string }{
		{"400", "400 has no unit: 400ms or 400s?", "a bare number"},
		{"0.4", "0.4 has no unit: 0.4ms or 0.4s?", "a bare fraction"},
		{"", "not a duration", "empty"},
		{"ms", "not a duration", "no number"},
		{"1m30s", "not a duration", "two units"},
		{"1 s", "not a duration", "blank"},
		{"5M", `unknown unit "M"`, "capital"},
		{"5min", `unknown unit "min"`, "unknown"},
		{"5\u00b5", `unknown unit`, "micro alone"},
		{"-5s", "negative", "negative"},
		{"PT0.01S", "not a duration", "ISO 8601"},
		{"Infs", "not a duration", "infinite"},
		{"1e99s", "not a duration", "absurd"},
		{"5" + strings.Repeat("s", 10000), "unknown unit", "a long unit makes a short message"},
	} {
		_, err := ParseDuration(tc.in)
		if err == nil || !strings.Contains(err.Error(), tc.want) || len(err.Error()) > 300 {
			t.Errorf("ParseDuration(%q): %v, want %q: %s", tc.in, err, tc.want, tc.reason)
		}
	}
}

func TestParseRatio(t *testing.T) {
	for _, tc := range []struct{ in, want string }{{"20%", "1/5"}, {"0.2", "1/5"}, {"0.01%", "1/10000"}, {"150%", "3/2"}, {"0", "0"}} {
		if got := must[*big.Rat](t)(ParseRatio(tc.in)); got.Cmp(rat(t, tc.want)) != 0 {
			t.Errorf("ParseRatio(%q) is %v, want %s", tc.in, got, tc.want)
		}
	}
	for _, in := range []string{"", "%", "20 %", "-1%", "NaN", "20%%", "1e99", strings.Repeat("1", 500)} {
		_, err := ParseRatio(in)
		wantError(t, err, "write one such as 20% or 0.2")
	}
}

func TestParseHeadroom(t *testing.T) {
	for _, tc := range []struct{ in, want, reason string }{
		{"2", "x2", "factor"},
		{"33%", "x1.33", "margin"},
		{"0%", "x1", "no margin"},
		{"150%", "x2.5", "a margin above the demand itself"},
		{"auto", "auto", "by the target shed"},
		{"x1.5", "x1.5", "what String writes"},
	} {
		if got := must[Headroom](t)(ParseHeadroom(tc.in)); got.String() != tc.want {
			t.Errorf("ParseHeadroom(%q) is %v, want %s: %s", tc.in, got, tc.want, tc.reason)
		}
	}
	if got := (Headroom{}).String(); got != "none" {
		t.Errorf("the zero value is %q", got)
	}
	for _, tc := range []struct{ in, want string }{
		{"0.9", "below the demand"}, {"-5%", "below the demand"}, {"", "none of"}, {"Auto", "none of"}, {"x33%", "none of"}, {"NaN", "none of"},
	} {
		_, err := ParseHeadroom(tc.in)
		wantError(t, err, tc.want)
	}
}

func TestRoundUp(t *testing.T) {
	for _, tc := range []struct {
		x      float64
		digits int
		want   string
		reason string
	}{
		{0.05, 3, "0.05", "0.05 is a little more in binary"},
		{15.000000000000002, 3, "15", "noise"},
		{48.213, 3, "48.3", "up"},
		{0.30000000000000004, 3, "0.3", "0.1 + 0.2"},
		{99.91, 3, "100", "carries"},
		{0.0999999999999999, 3, "0.1", "noise below"},
		{1234567, 3, "1240000", "above the digits"},
		{0, 3, "0", "nothing"},
		{1.001, 1, "2", "one digit"},
		{1.23456789012, 12, "1.23456789012", "all digits"},
		{5e-324, 3, "4.95e-324", "smallest"},
		{math.MaxFloat64, 3, "1.8e308", "largest"},
	} {
		if got := must[*big.Rat](t)(RoundUp(tc.x, tc.digits)); got.Cmp(rat(t, tc.want)) != 0 {
			t.Errorf("RoundUp(%v, %d) is %s, want %s: %s", tc.x, tc.digits, FormatNumber(got), tc.want, tc.reason)
		}
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), -1} {
		_, err := RoundUp(x, 3)
		wantError(t, err, "measured value")
	}
	for _, digits := range []int{0, -1, 13} {
		_, err := RoundUp(1, digits)
		wantError(t, err, "significant digits")
	}
}

func TestRoundUpProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 5000 {
		x := math.Exp(rng.Float64()*100 - 50)
		got := must[*big.Rat](t)(RoundUp(x, 3))
		if f := Float(got); f < x*(1-5.1e-12) || f > x*1.01001 {
			t.Fatalf("RoundUp(%v) is %v", x, f)
		}
		again := must[*big.Rat](t)(RoundUp(Float(got), 3))
		if again.Cmp(got) != 0 {
			t.Fatalf("RoundUp(%v) is %v, and rounded again %v", x, got, again)
		}
	}
}

func TestFormatNumber(t *testing.T) {
	for _, tc := range []struct{ in, want, reason string }{
		{"1/20", "0.05", "terminates"},
		{"30", "30", "whole"},
		{"-3/2", "-1.5", "negative"},
		{"1/3", "0.333333", "does not terminate"},
		{"2000/3", "666.667", "does not terminate"},
		{"10000000/3", "3333333", "no exponent above a million"},
		{"1/30000000", "3.33333e-08", "small"},
		{"1/1000000000000", "0.000000000001", "12 places"},
		{"1/10000000000000", "1e-13", "13 places"},
		{"1e40", "1" + strings.Repeat("0", 40), "exact, however long"},
		{"3e6/3000001", "1", "rounds to a whole number"},
	} {
		x, ok := new(big.Rat).SetString(tc.in)
		if !ok {
			x = big.NewRat(3e6, 3000001)
		}
		if got := FormatNumber(x); got != tc.want {
			t.Errorf("FormatNumber(%s) is %s, want %s: %s", tc.in, got, tc.want, tc.reason)
		}
	}
	if got := FormatNumber(nil); got != "unknown" {
		t.Errorf("FormatNumber(nil) is %q", got)
	}
	if got := Float(nil); !math.IsNaN(got) {
		t.Errorf("Float(nil) is %v, want NaN: an absent number is not 0", got)
	}
}

func TestFormatDuration(t *testing.T) {
	for _, tc := range []struct{ in, want, reason string }{
		{"0.05", "50ms", "below a second"},
		{"1.5", "1.5s", "at least 1 in seconds"},
		{"0.00025", "250us", "below a millisecond"},
		{"0", "0s", "nothing"},
		{"90", "90s", "below two minutes"},
		{"119.5", "119.5s", "below two minutes"},
		{"120", "2m", "two minutes"},
		{"150", "150s", "no whole minutes"},
		{"5400", "90m", "no whole hours"},
		{"7200", "2h", "whole hours"},
		{"1209600", "14d", "whole days"},
		{"129600", "36h", "no whole days"},
		{"1/3", "333.333ms", "does not terminate"},
		{"1e-9", "1ns", "smallest unit"},
		{"1e-10", "0.1ns", "below the smallest unit"},
		{"1.0000000000001", "1000.0000000001ms", "exact only in a smaller unit"},
	} {
		if got := FormatDuration(rat(t, tc.in)); got != tc.want {
			t.Errorf("FormatDuration(%s) is %s, want %s: %s", tc.in, got, tc.want, tc.reason)
		}
	}
	if got := FormatDuration(nil); got != "unknown" {
		t.Errorf("FormatDuration(nil) is %q", got)
	}
}

func FuzzParseNumber(f *testing.F) {
	for _, s := range []string{"0", "1.5e3", "-0.05", "1e64", "9999999999999999999999", "1e-64", ".", "0x1p4"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		x, err := ParseNumber(s)
		if err != nil {
			return
		}
		text := FormatNumber(x)
		if len(text) > maxNumberText {
			return
		}
		back, err := ParseNumber(text)
		if err != nil {
			t.Fatalf("ParseNumber(FormatNumber(%q)): %v", s, err)
		}
		checkRoundTrip(t, s, x, back)
	})
}

func FuzzParseDuration(f *testing.F) {
	for _, s := range []string{"250ms", "1.5s", "14d", "2w", "10\u00b5s", "0.1ns", "400", "1m30s", "1.00000000001h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		x, err := ParseDuration(s)
		if err != nil {
			return
		}
		text := FormatDuration(x)
		if len(text) > maxNumberText {
			return
		}
		back, err := ParseDuration(text)
		if err != nil {
			t.Fatalf("ParseDuration(FormatDuration(%q) = %q): %v", s, text, err)
		}
		checkRoundTrip(t, s, x, back)
	})
}

// checkRoundTrip wants the same value back, or one within 6 digits where 12
// places cannot hold it.
func checkRoundTrip(t *testing.T, s string, x, back *big.Rat) {
	if x.Cmp(back) == 0 {
		return
	}
	nano := new(big.Rat).Mul(x, big.NewRat(1e9, 1))
	_, exact := formatExact(x)
	_, exactNano := formatExact(nano)
	miss := new(big.Rat).Sub(x, back)
	miss.Abs(miss.Quo(miss, x))
	if exact && exactNano || miss.Cmp(big.NewRat(1, 100000)) > 0 {
		t.Fatalf("%q is %v and comes back as %v", s, x, back)
	}
}

func FuzzParseRatio(f *testing.F) {
	for _, s := range []string{"20%", "0.2", "1e-3%", "-1%"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		x, err := ParseRatio(s)
		if err == nil && x.Sign() < 0 {
			t.Fatalf("ParseRatio(%q) is %v", s, x)
		}
	})
}

func FuzzParseHeadroom(f *testing.F) {
	for _, s := range []string{"2", "33%", "auto", "x1.5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, err := ParseHeadroom(s)
		if err != nil {
			return
		}
		if h.Auto != (h.Factor == nil) || !h.Auto && h.Factor.Cmp(ratInt(1)) < 0 {
			t.Fatalf("ParseHeadroom(%q) is %v", s, h)
		}
		if text := h.String(); len(text) < maxNumberText {
			if _, err := ParseHeadroom(text); err != nil {
				t.Fatalf("ParseHeadroom(%q), from %q: %v", text, s, err)
			}
		}
	})
}
