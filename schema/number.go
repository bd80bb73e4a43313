package schema

import (
	"math/big"
	"strings"

	"github.com/bhsize/bhsize/sizing"
)

// maxDigits bounds the text of a number, and so the memory that it takes.
const maxDigits = 60

// setNumber makes n the number that text stands for, in decimal. What is not a
// number that a computer should be given (NaN, an infinity, 1e400) is wild.
func setNumber(n *node, text string) {
	n.kind, n.text = numberKind, text
	plain := strings.ReplaceAll(strings.TrimPrefix(text, "+"), "_", "")
	if len(plain) > maxDigits {
		n.wild = true
		return
	}
	if i, ok := new(big.Int).SetString(plain, 0); ok {
		n.text, n.whole = i.String(), true
		return
	}
	if _, err := sizing.ParseNumber(plain); err != nil {
		n.wild = true
		return
	}
	n.text = plain
	if mantissa, exponent, ok := strings.Cut(strings.ToLower(plain), "e"); ok {
		n.wild = strings.Trim(mantissa, "+-0.") != "" && len(strings.Trim(exponent, "+-0")) > 2
	}
}
