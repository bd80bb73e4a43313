package diag

import "regexp"

// Secrets in addresses: the user part of a URL, and the values of its query.
var (
	userInfo   = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*:/{1,2})[^/\s"'@]+@`)
	bareInfo   = regexp.MustCompile(`(^|[\s"'=])[^/\s"'@:]+:[^/\s"'@]+@`)
	queryValue = regexp.MustCompile(`([?&#][A-Za-z0-9_.-]+=)[^&\s"'#]+`)
)

// Redact hides what may be a secret in text that holds addresses: names and
// passwords before an @, and the values of query parameters.
func Redact(s string) string {
	s = userInfo.ReplaceAllString(s, "${1}***@")
	s = bareInfo.ReplaceAllString(s, "${1}***@")
	return queryValue.ReplaceAllString(s, "${1}***")
}

// secretLine tells a line that names an address: only there is Redact applied
// to a user's own text, so that an @ elsewhere stays readable.
var secretLine = regexp.MustCompile(`(?i)://|url["']?\s*:`)

// RedactLine hides secrets in a line of a file.
func RedactLine(line string) string {
	if !secretLine.MatchString(line) {
		return line
	}
	return Redact(line)
}
