package diag

import (
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	tests := []struct{ in, want, why string }{
		{"http://user:hunter2@host:9090/x", "http://***@host:9090/x", "user and password"},
		{"https://hunter2@host", "https://***@host", "a token as the user"},
		{"http://host/p?token=hunter2&x=hunter2", "http://host/p?token=***&x=***", "values of the query"},
		{"usr:hunter2@127.0.0.1:9090", "***@127.0.0.1:9090", "without a scheme"},
		{"http:/usr:hunter2@h", "http:/***@h", "a slash too few"},
		{`"http://u:hunter2@h" is not`, `"http://***@h" is not`, "in quotes"},
		{"http://host:9090", "http://host:9090", "nothing to hide"},
		{"mail me@example.org", "mail me@example.org", "no address of a server"},
	}
	for _, tt := range tests {
		if got := Redact(tt.in); got != tt.want || strings.Contains(got, "hunter2") {
			t.Errorf("Redact(%q) = %q, want %q: %s", tt.in, got, tt.want, tt.why)
		}
	}
}

// TestSnippetHidesSecrets: the line of a finding may hold an address.
func TestSnippetHidesSecrets(t *testing.T) {
	got := unstyled(snippet(Position{"a", 1, 40}, func(string) []byte { return []byte("prometheus: {url: 'http://u:hunter2@h', presett: istio}") }))
	if strings.Contains(got, "hunter2") || !strings.Contains(got, "presett") {
		t.Errorf("got %q, want the line without the password", got)
	}
	for _, plain := range []string{"  owner: team@example.org", "  errors: 'code=~\"5..\"'"} {
		if RedactLine(plain) != plain {
			t.Errorf("RedactLine changed %q, which names no address", plain)
		}
	}
}
