package diag

import (
	"strconv"
	"strings"
	"unicode"
)

// Plain makes text from outside (label values, names, a server's messages)
// safe for a terminal: control characters, bidirectional overrides and invalid
// bytes are shown as escapes instead of acting.
func Plain(s string) string {
	if !strings.ContainsFunc(s, unsafe) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == unicode.ReplacementChar:
			b.WriteString(escapeByte(s[i]))
		case unsafe(r):
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func unsafe(r rune) bool { return r == unicode.ReplacementChar || Acts(r) }

// Acts says whether a character does something on a terminal besides standing there.
func Acts(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) ||
		r == '\u2028' || r == '\u2029'
}

// escapeByte shows a byte that is no valid UTF-8; a real U+FFFD starts with 0xef.
func escapeByte(b byte) string {
	if b == 0xef {
		return "\uFFFD"
	}
	return `\x` + strconv.FormatUint(uint64(b), 16)
}
