package report

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/bhsize/bhsize/sizing"
)

// unknown stands where a value is not known; it is never a guess.
const unknown = "-"

const timeLayout = "2006-01-02 15:04"

func number(r *big.Rat) string {
	if r == nil {
		return unknown
	}
	if text := sizing.FormatNumber(r); len(text) <= longest {
		return text
	}
	return strconv.FormatFloat(sizing.Float(r), 'g', 6, 64)
}

// longest is how many digits of a number a reader is asked to take in.
const longest = 15

func short(r *big.Rat) string {
	if r == nil {
		return unknown
	}
	return strconv.FormatFloat(sizing.Float(r), 'g', 3, 64)
}

func seconds(r *big.Rat) string {
	if r == nil {
		return unknown
	}
	return sizing.FormatDuration(r)
}

// approxSeconds shows a time that is not exact, to 3 digits.
func approxSeconds(x float64) string {
	r, err := sizing.RoundUp(x, 3)
	if err != nil {
		return unknown
	}
	return sizing.FormatDuration(r)
}

// nearSeconds shows a time that is not exact, to the nearest of 3 digits.
func nearSeconds(x float64) string {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', 3, 64))
	if !ok {
		return unknown
	}
	return sizing.FormatDuration(r)
}

func integer(n *int) string {
	if n == nil {
		return unknown
	}
	return strconv.Itoa(*n)
}

func float(x *float64) string {
	if x == nil {
		return unknown
	}
	return strconv.FormatFloat(*x, 'g', 3, 64)
}

// probability as a percentage to two digits, three from 10 % on. A tiny one is
// not spelt out, since nobody reads zeros.
func probability(p *float64) string {
	switch {
	case p == nil || math.IsNaN(*p):
		return unknown
	case *p == 0:
		return "0 %"
	case *p < 1e-6:
		return "<0.0001 %"
	}
	digits := 2
	if *p >= 0.1 {
		digits = 3
	}
	text := strconv.FormatFloat(*p*100, 'g', digits, 64)
	if strings.Contains(text, "e-") {
		text = strconv.FormatFloat(*p*100, 'f', 5, 64)
	}
	return text + " %"
}

func percent(p *float64) string {
	if p == nil {
		return unknown
	}
	return strconv.FormatFloat(*p*100, 'f', 0, 64) + " %"
}

// change is now -> then with a sign; unknown when there is nothing to compare.
func change(now, then *int) string {
	if then == nil {
		return unknown
	}
	if now == nil {
		return "new"
	}
	if *now == *then {
		return "0"
	}
	return fmt.Sprintf("%+d", *then-*now)
}

func at(t time.Time) string { return t.UTC().Format(timeLayout) + " UTC" }

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
