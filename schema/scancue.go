package schema

import (
	"bytes"
	"fmt"

	"cuelang.org/go/cue/scanner"
	"cuelang.org/go/cue/token"
)

// Limits on the text of a CUE file, far above what data needs. The parser, the
// walks over its tree and the evaluator all recurse, and not for brackets only:
// a chain of labels, of selectors or of operators nests as deep as it is long.
const (
	maxCUESource  = 256 << 10
	maxCUETokens  = 50_000
	maxCUENesting = 3 * maxDepth // a level of data is a label, a colon and a bracket
)

// scanCUE refuses, token by token and so in the memory of one, what the parser
// should not be given.
func scanCUE(src *source, body []byte, base int) []Problem {
	s := &cueScan{src: src, body: body, base: base, open: []frame{{}}}
	if len(body) > maxCUESource {
		return s.fail(0, fmt.Sprintf("a CUE file has at most %d bytes (256 KiB), and this one %d", maxCUESource, len(body)), "split the file, or write it as YAML")
	}
	s.scanner.Init(token.NewFile(src.name, 0, len(body)), body, s.failed, scanner.ScanComments)
	for tokens := 0; s.problems == nil; tokens++ {
		at := s.next()
		if bytes.HasPrefix(body[at:], []byte("@")) { // the scanner recurses within it
			return s.fail(at, "attributes are not allowed", "remove it; a bulkhead file is data")
		}
		if tokens > maxCUETokens {
			return s.fail(at, fmt.Sprintf("the file has more than %d words and signs", maxCUETokens), "split the file, or write it as YAML")
		}
		_, tok, _ := s.scanner.Scan()
		if tok == token.EOF {
			break
		}
		s.take(at, tok)
	}
	return s.problems
}

// frame is an open bracket, the whole file being the first, and how many tokens
// there were in it since the last comma: no more than its tree can be deep there.
type frame struct {
	closer token.Token
	tokens int
}

type cueScan struct {
	src      *source
	body     []byte
	base     int
	scanner  scanner.Scanner
	open     []frame
	nesting  int // tokens of all open frames
	problems []Problem
}

// next returns the offset at which the next token starts.
func (s *cueScan) next() int {
	at := s.scanner.Offset()
	return at + len(s.body[at:]) - len(bytes.TrimLeft(s.body[at:], " \t\r\n"))
}

// take counts one token.
func (s *cueScan) take(at int, tok token.Token) {
	top := &s.open[len(s.open)-1]
	switch tok {
	case token.COMMENT:
		return
	case token.INTERPOLATION:
		s.fail(at, "interpolation is not allowed", "write the values out; a bulkhead file is data")
		return
	case token.COMMA:
		s.nesting, top.tokens = s.nesting-top.tokens, 0
		return
	case token.RPAREN, token.RBRACK, token.RBRACE:
		if tok != top.closer {
			s.fail(at, fmt.Sprintf("not valid CUE: %q closes nothing that is open", tok.String()), "correct the CUE")
			return
		}
		s.nesting -= top.tokens
		s.open = s.open[:len(s.open)-1]
		return
	}
	top.tokens++
	if s.nesting++; s.nesting > maxCUENesting || len(s.open) > maxDepth {
		s.fail(at, fmt.Sprintf("values are nested more than %d deep, or an expression has more than %d parts", maxDepth, maxCUENesting), "flatten the file, and write values out")
		return
	}
	if closer := map[token.Token]token.Token{token.LPAREN: token.RPAREN, token.LBRACK: token.RBRACK, token.LBRACE: token.RBRACE}[tok]; closer != 0 {
		s.open = append(s.open, frame{closer: closer})
	}
}

// failed takes an error of the scanner.
func (s *cueScan) failed(pos token.Pos, message string, args []any) {
	s.fail(pos.Offset(), "not valid CUE: "+clip(fmt.Sprintf(message, args...)), "correct the CUE")
}

// fail keeps the first problem.
func (s *cueScan) fail(at int, message, fix string) []Problem {
	if s.problems == nil {
		s.problems = []Problem{s.src.problem(RuleSyntax, s.base+at, message, fix)}
	}
	return s.problems
}
