package promquery

import (
	"fmt"
	"slices"
	"strings"
)

// Of what a server remarks on its answers, so many distinct ones are kept, and
// so many told apart to say how many more there were.
const (
	maxNotes    = 20
	maxDistinct = 10_000
)

// notes are the distinct remarks of a server, which every chunk repeats.
type notes struct {
	kept []string
	seen map[string]bool
}

func (n *notes) add(all []string) {
	if n.seen == nil {
		n.seen = map[string]bool{}
	}
	for _, text := range all {
		if text = clip(text); n.seen[text] || len(n.seen) >= maxDistinct {
			continue
		}
		n.seen[text] = true
		if len(n.kept) < maxNotes {
			n.kept = append(n.kept, text)
		}
	}
}

// texts are those that were kept, in the order in which they came, and how many
// were not.
func (n *notes) texts() []string {
	more := len(n.seen) - len(n.kept)
	switch {
	case more == 0:
		return n.kept
	case len(n.seen) >= maxDistinct:
		return append(n.kept, fmt.Sprintf("warnings that are not shown: %d or more", more))
	}
	return append(n.kept, fmt.Sprintf("warnings that are not shown: %d", more))
}

// infoPrefix starts what Prometheus calls an info: a hint about the query, not
// about the data.
const infoPrefix = "PromQL info: "

// warnings are those that were kept and are no infos.
func (n *notes) warnings() []string {
	return slices.DeleteFunc(slices.Clone(n.kept), func(text string) bool { return strings.HasPrefix(text, infoPrefix) })
}
