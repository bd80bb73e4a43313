package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bhsize/bhsize/internal/realtest"
)

const (
	exampleFile    = "../../examples/checkout/bulkhead.yaml"
	exampleTight   = "../../examples/checkout/tight.bulkhead.yaml"
	exampleHistory = "../../examples/checkout/history"
	exampleEnd     = "2026-11-12T00:00:00Z"
)

// answer is all that a run gives.
type answer struct {
	Code           int
	Stdout, Stderr string
}

// recommendFrom runs recommend on a file, with the place to ask.
func recommendFrom(t *testing.T, where, file string, args ...string) answer {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), append([]string{"recommend", "-f", file, "--prometheus", where, "--end", exampleEnd}, args...), &stdout, &stderr)
	return answer{code, stdout.String(), stderr.String()}
}

// TestRealPrometheus asks a real server, which promtool has filled with the
// history of the example, and the embedded engine, which reads it in the
// repository: the answers are the same, to the byte. Servers older than
// prometheus/prometheus#13725, such as Debian's 2.42, extrapolate further where
// a counter appears within a window, so those of the example exist throughout.
func TestRealPrometheus(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short, and the history takes a while to load")
	}
	binary, data := realtest.Program(t, "prometheus"), backfill(t)
	server := startPrometheus(t, binary, data)
	t.Run("same answers", func(t *testing.T) { testSameAnswers(t, server.url) })
	t.Run("same refusals", func(t *testing.T) { testSameRefusals(t, server.url) })
	t.Run("not the API", func(t *testing.T) {
		refused(t, recommendFrom(t, server.url+"/graph", exampleFile), "404")
	})
	server.stop(t)
	t.Run("server down", func(t *testing.T) {
		refused(t, recommendFrom(t, server.url, exampleFile), "cannot reach "+server.url)
	})
	t.Run("query too expensive", func(t *testing.T) {
		strict := startPrometheus(t, binary, data, "--query.max-samples=1000")
		refused(t, recommendFrom(t, strict.url, exampleFile), "too many samples")
	})
}

func testSameAnswers(t *testing.T, url string) {
	for name, args := range map[string][]string{
		"table":             {exampleFile, "-o", "table"},
		"markdown":          {exampleFile, "-o", "markdown"},
		"json":              {exampleFile, "-o", "json"},
		"explain payments":  {exampleFile, "--explain", "payments"},
		"explain ledger":    {exampleFile, "--explain", "ledger"},
		"diff":              {exampleFile, "--diff"},
		"one day":           {exampleFile, "-o", "json", "--window", "1d"},
		"does not fit":      {exampleTight, "-o", "table"},
		"does not fit json": {exampleTight, "-o", "json"},
	} {
		t.Run(name, func(t *testing.T) {
			server := recommendFrom(t, url, args[0], args[1:]...)
			embedded := recommendFrom(t, exampleHistory, args[0], args[1:]...)
			if server.Stdout == "" || server.Code > exitFindings {
				t.Fatalf("exit %d and no answer of the server: %s", server.Code, server.Stderr)
			}
			if diff := cmp.Diff(embedded, server); diff != "" {
				t.Errorf("embedded engine (-), server (+):\n%s", diff)
			}
		})
	}
}

func testSameRefusals(t *testing.T, url string) {
	for name, c := range map[string]struct{ old, new, want string }{
		"selector does not parse": {`="checkout"'`, `="checkout'`, "does not parse"},
		"no such metric":          {"preset: istio", "preset: istio\n  series: {counter: no_such_total}", "no_such_total"},
		"selector matches none":   {`="checkout"'`, `="nobody"'`, "nobody"},
		"one without traffic":     {"[ledger.prod.", "[nowhere.prod.", "could not be sized: ledger"},
	} {
		t.Run(name, func(t *testing.T) {
			file := exampleWith(t, c.old, c.new)
			server, embedded := recommendFrom(t, url, file), recommendFrom(t, exampleHistory, file)
			if diff := cmp.Diff(embedded, server); diff != "" {
				t.Errorf("embedded engine (-), server (+):\n%s", diff)
			}
			if server.Code < exitUsage || !strings.Contains(server.Stderr, c.want) {
				t.Errorf("exit %d, %q: want a failure that says %q", server.Code, server.Stderr, c.want)
			}
		})
	}
}

// exampleWith is the example's file with one thing changed.
func exampleWith(t *testing.T, old, new string) string {
	t.Helper()
	src, err := os.ReadFile(exampleFile)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(src), old) != 1 {
		t.Fatalf("%s does not hold %q once", exampleFile, old)
	}
	path := filepath.Join(t.TempDir(), "bulkhead.yaml")
	if err := os.WriteFile(path, []byte(strings.Replace(string(src), old, new, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// refused wants nothing printed, exit code 3 and a message that says want.
func refused(t *testing.T, got answer, want string) {
	t.Helper()
	if got.Code != exitUnsized || got.Stdout != "" || !strings.Contains(got.Stderr, want) {
		t.Errorf("got %+v, want exit %d, nothing on stdout and a message with %q", got, exitUnsized, want)
	}
}

// backfill makes a data folder of the example's history, as its users would.
func backfill(t *testing.T) string {
	t.Helper()
	promtool, goCommand := realtest.Program(t, "promtool"), realtest.Program(t, "go")
	dir := t.TempDir()
	text, data := filepath.Join(dir, "history.om"), filepath.Join(dir, "data")
	mustRun(t, goCommand, "run", "../../examples/checkout/generate", "-openmetrics", text)
	// Without the (hidden) flag it reads the text once for every two hours.
	mustRun(t, promtool, "tsdb", "create-blocks-from", "--max-block-duration=96h", "openmetrics", "--quiet", text, data)
	if err := os.Remove(text); err != nil { // 450 MB
		t.Fatal(err)
	}
	return data
}

func mustRun(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// prometheus is a running server.
type prometheus struct {
	url    string
	cmd    *exec.Cmd
	log    string        // path of its output
	exited chan struct{} // closed when the process has ended
}

// startPrometheus starts a server on a free loopback port and waits until it is
// ready. It ends with the test at the latest.
func startPrometheus(t *testing.T, binary, data string, flags ...string) *prometheus {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(config, []byte("global: {scrape_interval: 1h}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	flags = append([]string{"--config.file=" + config, "--storage.tsdb.path=" + data, "--storage.tsdb.retention.time=100y"}, flags...)
	for try := 1; ; try++ {
		// Between finding the port free and using it, somebody else may take it.
		p := launch(t, binary, filepath.Join(dir, fmt.Sprintf("log.%d", try)), freeAddress(t), flags)
		if p.becomesReady() {
			return p
		}
		p.stop(t)
		out, _ := os.ReadFile(p.log) // shown as far as it can be read
		t.Logf("try %d: %s did not become ready:\n%s", try, binary, out)
		if try == 3 {
			t.Fatal("no server")
		}
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func launch(t *testing.T, binary, log, address string, flags []string) *prometheus {
	t.Helper()
	out, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close() // the process has its own
	p := &prometheus{url: "http://" + address, cmd: exec.Command(binary, append(flags, "--web.listen-address="+address)...), log: log, exited: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // how it ended says its log
		close(p.exited)
	}()
	t.Cleanup(func() { p.stop(t) })
	return p
}

// becomesReady waits for the server for a minute, or until its process ends.
func (p *prometheus) becomesReady() bool {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	late := time.After(time.Minute)
	client := http.Client{Timeout: 5 * time.Second}
	for {
		select {
		case <-p.exited:
			return false
		case <-late:
			return false
		case <-tick.C:
			resp, err := client.Get(p.url + "/-/ready")
			if err != nil {
				continue
			}
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return true
			}
		}
	}
}

// stop ends the process, and waits until it is gone.
func (p *prometheus) stop(t *testing.T) {
	t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // an error says that it has ended already
	select {
	case <-p.exited:
	case <-time.After(20 * time.Second):
		t.Errorf("prometheus (pid %d) did not end within 20 s of SIGTERM", p.cmd.Process.Pid)
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
}
