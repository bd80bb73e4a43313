package schema

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// hintParts are what YAML writes without quotes, in a message or a fix: keys of the examples,
// days, percentages, durations, and the words that stand for text. What is in
// quotes comes first, so that it is left alone.
var hintParts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"(?:[^"\\]|\\.)*"` +
		`|\b(?:version|name|outbound|payments|size|permits|queue|timeout|length|headroom|budget|ratio|min_per_second|retries|max_attempts|min|max): ` +
		`|\b(?:none|auto)\b|\b(?:label|value)[\]}]` +
		`|\b[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:]+Z)?` +
		`|-?\b[0-9][0-9.eE+-]*(?:%|(?:ns|us|ms|s|m|h|d|w)\b)`)
})

// hint writes a text, whose examples are YAML, in the style of the file, so that
// they can be copied into it.
func (s style) hint(fix string) string {
	if !s.quoteText {
		return fix
	}
	return hintParts().ReplaceAllStringFunc(fix, func(part string) string {
		key, isKey := strings.CutSuffix(part, ": ")
		switch {
		case part[0] == '"', isKey && !s.quoteKeys:
			return part
		case isKey:
			return strconv.Quote(key) + ": "
		}
		word := strings.TrimRight(part, "]}")
		return strconv.Quote(word) + part[len(word):]
	})
}

// key writes the name of a field in the style of the file.
func (s style) key(name string) string {
	if s.quoteKeys {
		return strconv.Quote(name)
	}
	return name
}
