package schema

import "bytes"

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

func isBlank(b []byte) bool { return len(bytes.Trim(b, " \t")) == 0 }

// lineStart returns the offset of the first character of the line of at.
func (e *editor) lineStart(at int) int {
	start := bytes.LastIndexByte(e.src.text[:at], '\n') + 1
	if start == 0 {
		_, start = e.src.body()
	}
	return min(start, at)
}

// lineEnd returns where the line after that of at starts.
func (e *editor) lineEnd(at int) int {
	i := bytes.IndexByte(e.src.text[at:], '\n')
	if i < 0 {
		return len(e.src.text)
	}
	return at + i + 1
}

// eol returns the line end that is in use around an offset.
func (e *editor) eol(at int) string {
	text := e.src.text
	i := bytes.IndexByte(text[at:], '\n')
	if i >= 0 {
		i += at
	} else {
		i = bytes.LastIndexByte(text, '\n')
	}
	if i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// restOfLine returns where the next line starts, and whether nothing but white
// space, and a comment where that may go too, is left on this one.
func (e *editor) restOfLine(at int, comment bool) (next int, alone bool) {
	next = e.lineEnd(at)
	rest := bytes.TrimLeft(bytes.TrimRight(e.src.text[at:next], "\r\n"), " \t")
	return next, len(rest) == 0 || comment && rest[0] == '#'
}

// scalarSpan returns the text of a scalar, without its quotes. It is not ok for
// what is not on one line: block scalars, folded and multi-line ones.
func (e *editor) scalarSpan(n *node) (start, end int, ok bool) {
	text := e.src.text
	if n.at >= len(text) || n.kind > stringKind {
		return 0, 0, false
	}
	switch text[n.at] {
	case '"', '\'':
		end, ok := quotedEnd(text, n.at)
		return n.at + 1, end - 1, ok
	case '|', '>', '*', '&', '!', '{', '[', '#':
		return 0, 0, false
	}
	end = e.plainEnd(n.at)
	return n.at, end, end > n.at
}

// plainEnd returns where an unquoted one-line scalar ends. The brackets that
// end it in flow style are in no number, duration, date or word that the
// schema knows, so they end it everywhere.
func (e *editor) plainEnd(at int) int {
	text := e.src.text
	i := at
	for i < len(text) && !bytes.ContainsRune([]byte("\r\n,[]{}"), rune(text[i])) {
		if text[i] == '#' && i > at && isSpace(text[i-1]) || bytes.HasPrefix(text[i:], []byte("//")) {
			break
		}
		i++
	}
	return at + len(bytes.TrimRight(text[at:i], " \t"))
}

// quotedEnd returns the offset behind the closing quote of a one-line text.
func quotedEnd(text []byte, at int) (int, bool) {
	quote := text[at]
	for i := at + 1; i < len(text) && text[i] != '\n' && text[i] != '\r'; i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			i++
		case text[i] == quote && quote == '\'' && i+1 < len(text) && text[i+1] == quote:
			i++
		case text[i] == quote:
			return i + 1, true
		}
	}
	return 0, false
}

// valueEnd returns the offset behind a value.
func (e *editor) valueEnd(n *node) (int, bool) {
	text := e.src.text
	switch {
	case n.at >= len(text):
		return 0, false
	case text[n.at] == '*':
		return e.plainEnd(n.at), true
	case n.kind <= stringKind:
		_, end, ok := e.scalarSpan(n)
		if ok && (text[n.at] == '"' || text[n.at] == '\'') {
			end++
		}
		return end, ok
	case n.flow:
		return bracketEnd(text, n.at)
	}
	end, ok := 0, false
	for _, item := range n.items {
		end, ok = e.valueEnd(item)
	}
	for _, f := range n.fields {
		if at, good := e.valueEnd(f.value); good && !f.merged {
			end, ok = max(end, at), true
		}
	}
	return end, ok
}

// bracketEnd returns the offset behind the bracket that closes the one at at.
// Quotes are skipped; a comment in between is not understood.
func bracketEnd(text []byte, at int) (int, bool) {
	depth := 0
	for i := at; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, true
			}
		case '"', '\'':
			end, ok := quotedEnd(text, i)
			if !ok {
				return 0, false
			}
			i = end - 1
		case '#':
			return 0, false
		}
	}
	return 0, false
}
