package schema

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

var yamlLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^yaml: line (\d+): `) })

// yamlSyntax places a syntax error. The parser names at most the line on which
// what it was reading began, which may be far above; the text up to the line
// that is wrong is good YAML, and that is how it is found.
func yamlSyntax(src *source, err error) Problem {
	text, line := err.Error(), 1
	if m := yamlLine().FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
	}
	text = strings.TrimPrefix(yamlLine().ReplaceAllString(text, ""), "yaml: ")
	fix := "correct the YAML here, or on the line before"
	if bad, found := firstBadLine(src); found {
		line = bad
	} else {
		fix = "correct the YAML from this line on"
	}
	if strings.Contains(text, "cannot start any token") {
		fix = "indent with spaces, and put text that starts with a special character in quotes"
	}
	start := src.lines[max(0, min(line, len(src.lines))-1)]
	rest := src.text[start:]
	start += len(rest) - len(bytes.TrimLeft(rest, " \t"))
	return src.problem(RuleSyntax, start, "not valid YAML: "+clip(text), fix)
}

// maxSearched bounds the text that is parsed once per line, in bytes.
const maxSearched = 32 << 10

// firstBadLine is the first line with text behind the longest part of the file,
// cut at a line, that is good YAML: below it nothing makes it good again.
func firstBadLine(src *source) (line int, found bool) {
	if len(src.text) > maxSearched || len(src.lines) > 1000 {
		return 0, false
	}
	for n := len(src.lines) - 1; n >= 0; n-- {
		if goodYAML(src.text[:src.lines[n]]) {
			return firstText(src, n+1), true
		}
	}
	return 0, false
}

func goodYAML(text []byte) bool {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var doc yaml.Node
		switch err := dec.Decode(&doc); {
		case errors.Is(err, io.EOF):
			return true
		case err != nil:
			return false
		}
	}
}

// firstText skips empty lines and comments from a line on.
func firstText(src *source, line int) int {
	for n := line; n <= len(src.lines); n++ {
		end := len(src.text)
		if n < len(src.lines) {
			end = src.lines[n]
		}
		if text := bytes.TrimSpace(src.text[src.lines[n-1]:end]); len(text) > 0 && text[0] != '#' {
			return n
		}
	}
	return line
}
