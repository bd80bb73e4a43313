package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const history = "../../examples/checkout/history"

// TestExitCodes: findings, broken input and a broken server are told apart, in
// every output format alike.
func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const head = "version: 1\nservice: s\nprometheus: {window: 2d}\npools: {p: {size: 100, reserved: 10}}\nbulkheads:\n"
	payments := "  payments: {match: {destination_service: [payments.prod.svc.cluster.local]}, permits: 15}\n"
	fits, over := write("fits.yaml", head+payments), write("over.yaml", head+payments+"  x: {permits: 80}\n")
	narrow := write("narrow.yaml", strings.Replace(head, "size: 100", "size: 15", 1)+payments)
	gone := write("gone.yaml", strings.Replace(head, "size: 100", "size: 15", 1)+payments+"  gone: {}\n")
	bad := write("bad.yaml", head+"  payments: {permits: 0}\n")
	tests := []struct {
		args string
		code int
		why  string
	}{
		{"recommend -f " + fits + " --prometheus " + history, 0, "9 permits of 90"},
		{"recommend -f " + fits + " --prometheus " + history + " --strict", 1, "two days of data are of low confidence"},
		{"recommend -f " + narrow + " --prometheus " + history, 1, "9 permits of 5"},
		{"recommend -f " + narrow + " --prometheus " + history + " -o json", 1, "the format does not change the code"},
		{"recommend -f " + narrow + " --prometheus " + history + " -o markdown", 1, "the format does not change the code"},
		{"recommend -f " + narrow + " --prometheus " + history + " --explain payments", 1, "nor does what is shown"},
		{"recommend -f " + gone + " --prometheus " + history, 3, "3 beats 1: one has no series, the other does not fit"},
		{"recommend -f " + bad + " --prometheus " + history, 2, "an invalid file"},
		{"recommend -f " + over + " --prometheus " + history, 3, "an overcommitted file is not invalid here: mending it is the job; x has no series"},
		{"recommend -f " + fits + " --prometheus http://127.0.0.1:1", 3, "nobody answers"},
		{"recommend -f " + fits + " --no-such-flag", 2, "usage"},
		{"lint " + fits, 0, "nothing to find"},
		{"lint " + over, 1, "95 of 90 permits"},
		{"lint " + bad, 1, "for lint all that is wrong inside a file is a finding"},
		{"lint " + filepath.Join(dir, "none.yaml"), 2, "a path that cannot be read"},
		{"size --rps 300 --p99 50ms", 0, "no pool, so nothing to fit"},
		{"size --rps 300 --p99 50ms --pool 20", 1, "30 of 20"},
		{"size --rps x", 2, "usage"},
	}
	for _, tt := range tests {
		var stdout, stderr bytes.Buffer
		if code := run(context.Background(), strings.Fields(tt.args), &stdout, &stderr); code != tt.code {
			t.Errorf("bhsize %s: exit %d, want %d: %s\n%s", strings.ReplaceAll(tt.args, dir+"/", ""), code, tt.code, tt.why, stderr.String())
		}
		if tt.code == 2 && stdout.Len() > 0 {
			t.Errorf("bhsize %s: a usage error printed results: %s", tt.args, stdout.String())
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { cancel() }))
	defer server.Close()
	path := filepath.Join(t.TempDir(), "bulkhead.yaml")
	const text = "version: 1\nservice: s\npools: {p: {size: 100}}\nbulkheads: {payments: {permits: 15}}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	code := run(ctx, []string{"recommend", "-f", path, "--prometheus", server.URL, "--write"}, &stdout, &stderr)
	after, err := os.ReadFile(path)
	if code != exitInterrupted || stdout.Len() > 0 || err != nil || string(after) != text {
		t.Errorf("exit %d, stdout %q, file %q, %v; want 130, nothing printed, nothing written\n%s", code, stdout.String(), after, err, stderr.String())
	}
}

// TestFullDisk: results that cannot be written are an error, not a success.
func TestFullDisk(t *testing.T) {
	for _, args := range []string{"version", "schema", "size --rps 1 --p99 1s", "recommend -f ../../examples/checkout/bulkhead.yaml -o json", "recommend -f ../../examples/checkout/bulkhead.yaml --diff"} {
		var stderr bytes.Buffer
		if code := run(context.Background(), strings.Fields(args), fullDisk{}, &stderr); code == exitFine || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("bhsize %s on a full disk: exit %d, said %q", args, code, stderr.String())
		}
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestWriteKeepsModeAndLink: the file is replaced behind its link, with its mode.
func TestWriteKeepsModeAndLink(t *testing.T) {
	dir := t.TempDir()
	src, err := os.ReadFile("../../examples/checkout/bulkhead.yaml")
	if err != nil {
		t.Fatal(err)
	}
	real, link := filepath.Join(dir, "real.yaml"), filepath.Join(dir, "link.yaml")
	if err := errors.Join(os.WriteFile(real, src, 0o640), os.Chmod(real, 0o640), os.Symlink("real.yaml", link)); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if code := run(context.Background(), []string{"recommend", "-f", link, "--prometheus", history, "--write"}, &stdout, &stderr); code != exitFine {
		t.Fatalf("exit %d: %s", code, stderr.String())
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("%v, %v: the link is gone", info, err)
	}
	if info, err = os.Stat(real); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v: want the mode 0640 kept", info, err)
	}
	after, err := os.ReadFile(real)
	if err != nil || bytes.Equal(after, src) {
		t.Error("the file behind the link was not written")
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 2 {
		t.Errorf("%v, %v: a temporary file was left behind", left, err)
	}
}
