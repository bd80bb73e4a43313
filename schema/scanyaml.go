package schema

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxYAMLSigns bounds what the parser builds a tree of, at some 500 bytes a
// value. It is more than the values of a file, as text and comments have commas
// too.
const maxYAMLSigns = 2 * maxSize

// scanYAML refuses what the parser refuses without a place, and what it would
// build too large a tree of: nothing becomes a value without one of the signs
// counted here.
func scanYAML(src *source) *Problem {
	text, signs := src.text, 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if size == 1 && isYAMLSign(text, i) {
			signs++
		}
		switch {
		case signs > maxYAMLSigns:
			p := src.problem(RuleRange, i, fmt.Sprintf("the file has more than %d commas, colons, dashes and brackets", maxYAMLSigns), "split the file")
			return &p
		case r >= 0x80 && r < 0xa0 && r != '\u0085' || r == 0xfffe || r == 0xffff:
			p := src.problem(RuleSyntax, i, fmt.Sprintf("control character U+%04X", r), fmt.Sprintf(`remove it, or write "\u%04X" in double quotes`, r))
			return &p
		}
		i += size
	}
	return nil
}

// isYAMLSign says whether a byte may start or part values: brackets and commas,
// and colons, dashes and question marks before a space or the like.
func isYAMLSign(text []byte, i int) bool {
	switch text[i] {
	case ',', '[', '{':
		return true
	case ':', '-', '?':
		return i+1 == len(text) || text[i+1] >= utf8.RuneSelf || strings.IndexByte(" \t\r\n,[]{}\"'", text[i+1]) >= 0 || i > 0 && strings.IndexByte("\"']}", text[i-1]) >= 0
	}
	return false
}
