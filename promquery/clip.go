package promquery

import "strings"

// maxText is how many characters of a text from outside are kept.
const maxText = 200

// clip bounds a text from outside, and frees what it was cut from.
func clip(text string) string {
	n := 0
	for i := range text {
		if n++; n > maxText {
			return strings.Clone(text[:i]) + "..."
		}
	}
	return text
}

func clipAll(lists ...[]string) []string {
	var all []string
	for _, list := range lists {
		for _, text := range list {
			all = append(all, clip(text))
		}
	}
	return all
}
