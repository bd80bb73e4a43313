package promquery

import (
	"errors"
	"net/url"
	"regexp"
	"strings"

	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
)

// Redact returns an address for people to read: scheme, host, port and path. A
// user is left out like a password, and a query too: both hold keys.
func Redact(address string) string {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return "(an address that does not parse)"
	case u.Host == "": // no URL of a server, as localhost:9090; it may be meant as one
		address, _, _ = strings.Cut(address, "?")
		address, _, _ = strings.Cut(address, "#")
		return address[strings.LastIndex(address, "@")+1:]
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}

// What may hold a key in a URL that stands in somebody else's text.
var (
	userinfo = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^\s/?#"']*@`)
	urlQuery = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://[^\s?#"']*)[?#][^\s"']*`)
)

// scrub takes users, passwords and queries out of the URLs in a text.
func scrub(text string) string {
	return urlQuery.ReplaceAllString(userinfo.ReplaceAllString(text, "$1"), "$1")
}

// bare is the cause of an error of net/http, without the URL that it puts before
// every one: it is long, and holds what Redact leaves out.
func bare(err error) error {
	var ue *url.Error
	for errors.As(err, &ue) {
		err = ue.Err
	}
	return err
}

// scrubbed is what the server said, for all who unwrap it. It is cut only
// then: half a secret is one too.
func scrubbed(e *v1.Error) *v1.Error {
	return &v1.Error{Type: v1.ErrorType(clip(string(e.Type))), Msg: clip(scrub(e.Msg)), Detail: clip(scrub(e.Detail))}
}
