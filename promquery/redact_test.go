package promquery

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestRedact(t *testing.T) {
	for address, want := range map[string]string{
		"http://localhost:9090":               "http://localhost:9090",
		"https://user:pass@host:9090/prefix/": "https://host:9090/prefix/",
		"https://SECRETKEY@host/prefix":       "https://host/prefix",
		"https://host/prefix?token=SECRET":    "https://host/prefix",
		"https://host?token=SECRET#SECRET":    "https://host",
		"https://host/a%2Fb/?x#y":             "https://host/a%2Fb/",
		"https://user:pass@[::1]:9090/":       "https://[::1]:9090/",
		"http://user:SECRET@h\x7f":            "(an address that does not parse)",
		"http://user:SEC/RET@host":            "(an address that does not parse)",
		"localhost:9090":                      "localhost:9090",
		"user:pass@host:9090":                 "host:9090",
		"SECRETKEY@host":                      "host",
		"host?token=SECRET":                   "host",
		"host#SECRET":                         "host",
		"SECRET@KEY@host":                     "host",
		"":                                    "",
	} {
		if got := Redact(address); got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
		if got := Redact(Redact(address)); !strings.HasPrefix(want, "(") && got != want {
			t.Errorf("%q: a second time %q", address, got)
		}
	}
}

func TestScrub(t *testing.T) {
	for text, want := range map[string]string{
		`Get "https://u:SECRET@host:9090/x?token=SECRET": refused`:   `Get "https://host:9090/x": refused`,
		"see https://SECRET@host, or https://host/y?a=SECRET#b then": "see https://host, or https://host/y then",
		"http://host:9090/a: connection refused":                     "http://host:9090/a: connection refused",
		"what? an @ and a # are no URL":                              "what? an @ and a # are no URL",
		"":                                                           "",
	} {
		if got := scrub(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// secrets are addresses of one server that hold a secret.
func secrets(address string) []string {
	host := address[strings.Index(address, "@")+1:]
	return []string{"http://" + host + "?token=SECRET", "http://" + host + "/p?token=SECRET#SECRET",
		"http://SECRETKEY@" + host, "http://user:" + password + "@" + host + "/?apikey=SECRET"}
}

// Whatever fails, and however: what the address holds beyond scheme, host and
// path is in no layer of the error.
func TestNoErrorHoldsASecret(t *testing.T) {
	echo := func(w http.ResponseWriter, r *http.Request) {
		user, pass, _ := r.BasicAuth()
		asJSON(http.StatusBadRequest, fmt.Sprintf(`{"status":"error","errorType":"bad_data","error":"bad http://%s:%s@%s%s here"}`, user, pass, r.Host, r.URL))(w, r)
	}
	plain := func(w http.ResponseWriter, r *http.Request) {
		answer(http.StatusBadGateway, "text/plain", "no upstream for http://"+r.Host+r.URL.String())(w, r)
	}
	for why, handler := range map[string]http.HandlerFunc{
		"a bad query that quotes the URL": echo,
		"a proxy that quotes the URL":     plain,
		"an endless redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.String(), http.StatusTemporaryRedirect)
		},
		"a redirect elsewhere":           redirectTo(http.StatusFound, "https://SECRETKEY@login.example/sso?token=SECRET"),
		"a redirect to another scheme":   redirectTo(http.StatusTemporaryRedirect, "gopher://SECRETKEY@h/x?token=SECRET"),
		"a redirect that does not parse": locate("http://user:" + password + "@[h/?token=SECRET"),
		"a redirect to nowhere":          locate(""),
		"a connection that breaks":       cutShort,
		"no JSON":                        answer(http.StatusOK, "text/html", "<html>"),
		"a refusal":                      answer(http.StatusForbidden, "text/plain", "no"),
		"too slow":                       blocked(t),
	} {
		for _, address := range append(secrets(serve(t, handler)), secrets("http://x@127.0.0.1:1")...) {
			timeout := time.Minute
			if why == "too slow" {
				timeout = 20 * time.Millisecond
			}
			_, _, err := newTestHTTP(t, address, timeout).QueryRange(t.Context(), "up", someRange)
			if err == nil {
				t.Errorf("%s: no error", why)
			}
			discreet(t, why, err)
		}
	}
}

// locate redirects to a text that http.Redirect would not write.
func locate(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusPermanentRedirect)
	}
}

// discreet wants no secret in any layer of an error.
func discreet(t *testing.T, why string, err error) {
	t.Helper()
	for ; err != nil; err = errors.Unwrap(err) {
		for _, s := range []string{"SECRET", password, "user", "token", "apikey"} {
			if strings.Contains(err.Error(), s) {
				t.Errorf("%s: %q holds %q", why, err, s)
			}
		}
	}
}

func TestCancelledHoldsNoSecret(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, address := range secrets("http://x@127.0.0.1:1") {
		_, _, err := newTestHTTP(t, address, time.Minute).QueryRange(ctx, "up", someRange)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want context.Canceled", err)
		}
		discreet(t, "cancelled", err)
	}
}

func TestAddressesHoldNoSecret(t *testing.T) {
	for _, address := range []string{"SECRETKEY@host", "user:" + password + "@host", "host?token=SECRET", "ftp://SECRETKEY@host/?token=SECRET",
		"http://user:" + password + "@host:port", "http://user:" + password + "@/x"} {
		_, err := NewHTTP(address, time.Minute, nil)
		if err == nil {
			t.Errorf("%q was accepted", address)
		}
		discreet(t, address, err)
	}
}

// The key goes to the server all the same.
func TestSecretsAreSent(t *testing.T) {
	var got string
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.URL.Query().Get("token")
		asJSON(http.StatusOK, emptyMatrix)(w, r)
	})
	if _, _, err := newTestHTTP(t, secrets(address)[0], time.Minute).QueryRange(t.Context(), "up", someRange); err != nil || got != "SECRET" {
		t.Errorf("the server got token %q, error %v", got, err)
	}
}
