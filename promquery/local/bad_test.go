package local

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bhsize/bhsize/promquery"
)

// write puts text into a file of its own.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "history.om")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func compressed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// refused opens path and wants an error that names it and holds every part.
func refused(t *testing.T, path string, parts ...string) {
	t.Helper()
	db, err := Open(t.Context(), path)
	if err == nil {
		t.Errorf("%s: opened", path)
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		return
	}
	for _, part := range append(parts, path) {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q lacks %q", err, part)
		}
	}
}

func TestBadText(t *testing.T) {
	const good = "# TYPE c counter\nc_total 1 10\nc_total 2 20\n"
	whole := compressed(t, good[:17]+"c_total 1 10\n# EOF\n")
	for _, c := range []struct {
		why, text string
		want      []string
	}{
		{"nothing at all", "", []string{"is empty"}},
		{"only the end", "# EOF\n", []string{"holds no samples"}},
		{"cut after a line", good, []string{":3: ", "without # EOF"}},
		{"cut within a line", good + "c_total 3 3", []string{"without # EOF"}},
		{"a scrape", "# TYPE c counter\nc_total 1\n# EOF\n", []string{":2: ", "no timestamp", "folder of TSDB blocks"}},
		{"not a number", good + "c_total x 30\n# EOF\n", []string{":4: ", "not OpenMetrics"}},
		{"a time that is none", good + "c_total 1 later\n# EOF\n", []string{":4: ", "not OpenMetrics"}},
		{"milliseconds for seconds", "c 1 1794268800000000\n# EOF\n", []string{":1: ", "out of range"}},
		{"the same time twice", good + "c_total 3 20\n# EOF\n", []string{":4: ", "same time"}},
		{"backwards", good + "c_total 3 15\n# EOF\n", []string{":4: ", "older than the one before"}},
		{"joined files", good + "# EOF\n" + good + "# EOF\n", []string{":5: ", "after the closing # EOF"}},
		{"an empty line", good + "\nc_total 3 30\n# EOF\n", []string{":4: ", "not OpenMetrics"}},
		{"a label twice", "c{a=\"1\",a=\"2\"} 1 10\n# EOF\n", []string{":1: ", `"a" stands twice`}},
		{"one series in two spellings", "c{a=\"1\",b=\"2\"} 1 10\nc{b=\"2\",a=\"1\"} 2 10\n# EOF\n", []string{":2: ", "same time"}},
		{"JSON", `{"status":"success"}` + "\n", []string{":1: ", "not OpenMetrics"}},
		{"binary", "\x00\x01\x02\xff\n\xfe\n", []string{":1: ", "not OpenMetrics"}},
		{"an endless line", strings.Repeat("a", 2<<20), []string{":1: ", "longer than"}},
		{"gzip cut short", whole[:len(whole)-12], []string{"gzip", "ends early"}},
		{"gzip with a flipped bit", whole[:20] + string(whole[20]^0x40) + whole[21:], []string{"gzip"}},
		{"a gzip header only", whole[:4], []string{"gzip", "ends early"}},
	} {
		t.Run(c.why, func(t *testing.T) { refused(t, write(t, c.text), c.want...) })
	}
}

// What comes late in a long file must be found at its line, behind batches.
func TestLineNumbersAcrossBatches(t *testing.T) {
	var b strings.Builder
	b.WriteString("# HELP c Help.\n# TYPE c counter\n")
	for range 3 * batchSize / 40 {
		fmt.Fprintf(&b, "c_total{dependency=\"payments\",at=\"%d\"} 1 10\n", b.Len())
	}
	lines := strings.Count(b.String(), "\n")
	refused(t, write(t, b.String()+"c_total 1 \n# EOF\n"), fmt.Sprintf("history.om:%d: ", lines+1))
}

// A TYPE line holds for all batches of its family: it decides how le is read.
func TestTypeHoldsAcrossBatches(t *testing.T) {
	var b strings.Builder
	b.WriteString("# TYPE h histogram\n")
	for i := range 3 * batchSize / 20 {
		fmt.Fprintf(&b, "h_bucket{le=\"5\"} 1 %d\n", i)
	}
	db := open(t, write(t, b.String()+"# EOF\n"))
	if n := len(db.data.(*memory).series); n != 1 {
		t.Errorf("%d series of one bucket, want 1", n)
	}
}

func TestLimits(t *testing.T) {
	text := "a 1 10\na 1 20\nb 1 10\n# EOF\n"
	for _, c := range []struct {
		set  func(*limits)
		want string
	}{
		{func(l *limits) { l.bytes = 10 }, "MiB of text"},
		{func(l *limits) { l.samples = 2 }, "more than 2 samples"},
		{func(l *limits) { l.series = 1 }, "more than 1 series"},
		{func(l *limits) { l.names = 1 }, "of names"},
	} {
		l := defaultLimits
		c.set(&l)
		_, err := readOpenMetrics(t.Context(), "x", strings.NewReader(text), l)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q in it", err, c.want)
		}
	}
	if _, err := readOpenMetrics(t.Context(), "x", strings.NewReader(text), defaultLimits); err != nil {
		t.Errorf("within the limits: %v", err)
	}
}

// zeros is a gzip bomb's payload: a line that never ends, or lines without end.
type zeros struct{ line string }

func (z zeros) Read(p []byte) (int, error) {
	n := 0
	for n+len(z.line) <= len(p) {
		n += copy(p[n:], z.line)
	}
	return n, nil
}

func TestEndlessInputIsBounded(t *testing.T) {
	l := defaultLimits
	l.bytes = 32 << 20
	for _, line := range []string{"# HELP a b\n", "a"} {
		if _, err := readOpenMetrics(t.Context(), "x", zeros{line}, l); err == nil {
			t.Errorf("endless %q was read to its end", line)
		}
	}
}

func TestOpenIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := readOpenMetrics(ctx, "x", zeros{"# HELP a b\n"}, defaultLimits); err == nil || !strings.Contains(err.Error(), "cancel") {
		t.Errorf("error %v, want a cancelled context", err)
	}
}

func TestBadFolders(t *testing.T) {
	block := func(t *testing.T) string { return blockOf(t, t.TempDir()) }
	remove := func(name string) func(*testing.T) (string, []string) {
		return func(t *testing.T) (string, []string) {
			b := block(t)
			if err := os.RemoveAll(filepath.Join(b, name)); err != nil {
				t.Fatal(err)
			}
			return filepath.Dir(b), []string{filepath.Base(b), "copy it again"}
		}
	}
	edit := func(name string, change func([]byte) []byte, want ...string) func(*testing.T) (string, []string) {
		return func(t *testing.T) (string, []string) {
			b := block(t)
			text, err := os.ReadFile(filepath.Join(b, name))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(b, name), change(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return filepath.Dir(b), append(want, filepath.Base(b))
		}
	}
	half := func(b []byte) []byte { return b[:len(b)/2] }
	none := func([]byte) []byte { return nil }
	for _, c := range []struct {
		why  string
		make func(*testing.T) (string, []string)
	}{
		{"no such path", func(t *testing.T) (string, []string) {
			return filepath.Join(t.TempDir(), "no"), []string{"no such file"}
		}},
		{"a device", func(*testing.T) (string, []string) { return os.DevNull, []string{"neither a file nor a folder"} }},
		{"an empty folder", func(t *testing.T) (string, []string) { return t.TempDir(), []string{"holds no TSDB block"} }},
		{"a folder of something else", func(*testing.T) (string, []string) { return metricsDir, []string{"holds no TSDB block"} }},
		{"only a log", func(t *testing.T) (string, []string) {
			dir := t.TempDir()
			addWAL(t, dir)
			return dir, []string{"write-ahead log", "snapshot"}
		}},
		{"no meta.json", func(t *testing.T) (string, []string) {
			dir, _ := remove("meta.json")(t)
			return dir, []string{"half a block", "move it out"}
		}},
		{"no index", remove("index")},
		{"no chunks", remove("chunks")},
		{"meta.json cut", edit("meta.json", half, "damaged")},
		{"index cut", edit("index", half, "damaged")},
		{"index empty", edit("index", none, "damaged")},
		{"chunks empty", edit("chunks/000001", none, "damaged")},
		{"another version", edit("meta.json", func(b []byte) []byte {
			return bytes.ReplaceAll(b, []byte(`"version": 1`), []byte(`"version": 9`))
		}, "version 9", "not supported")},
	} {
		t.Run(c.why, func(t *testing.T) {
			path, want := c.make(t)
			refused(t, path, want...)
		})
	}
}

func addWAL(t *testing.T, dir string) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(dir, "wal"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "wal", "00000000"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A flipped byte anywhere is at worst an error, in Open or in a query.
func TestDamagedBlocksDoNotPanic(t *testing.T) {
	b := blockOf(t, t.TempDir())
	for _, name := range []string{"index", "chunks/000001", "meta.json"} {
		path := filepath.Join(b, name)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(good); i += 1 + len(good)/200 {
			bad := bytes.Clone(good)
			bad[i] ^= 0xff
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			tryAll(t, filepath.Dir(b))
		}
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// tryAll opens a history and reads all of it; errors are fine.
func tryAll(t *testing.T, path string) {
	t.Helper()
	db, err := Open(t.Context(), path)
	if err != nil {
		return
	}
	r := promquery.Range{Start: dataStart, End: dataEnd, Step: time.Minute}
	if _, _, err := db.QueryRange(t.Context(), `{__name__=~".+"}`, r); err != nil {
		t.Logf("query: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Logf("close: %v", err)
	}
}

// The data directory of a running server: what is left unread is said, and
// nothing is written.
func TestDataDirectoryStaysUntouched(t *testing.T) {
	dir := t.TempDir()
	blockOf(t, dir)
	addWAL(t, dir)
	for _, extra := range []string{"chunks_head", "01ARZ3NDEKTSV4RRFFQ69G5FAV.tmp-for-creation", "snapshots"} {
		if err := os.Mkdir(filepath.Join(dir, extra), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	late := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(dir, "wal", "00000000"), late, late); err != nil {
		t.Fatal(err)
	}
	before := listing(t, dir)
	db := open(t, dir)
	if w := db.Warnings(); len(w) != 1 || !strings.Contains(w[0], "2026-11-10T00:15:00Z") {
		t.Errorf("warnings %q, want one that says where the blocks end", w)
	}
	tryAll(t, dir)
	if after := listing(t, dir); after != before {
		t.Errorf("the folder changed from\n%s\nto\n%s", before, after)
	}
}

// An old log is one that the blocks already cover.
func TestNoWarningForAnOldLog(t *testing.T) {
	dir := t.TempDir()
	blockOf(t, dir)
	addWAL(t, dir)
	early := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(dir, "wal", "00000000"), early, early); err != nil {
		t.Fatal(err)
	}
	if w := open(t, dir).Warnings(); w != nil {
		t.Errorf("warnings %q, want none", w)
	}
}

func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		b.WriteString(path + " " + info.Mode().String() + " " + info.ModTime().String() + " " + time.Duration(info.Size()).String() + "\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Two blocks that hold the same samples answer as one does.
func TestOverlappingBlocks(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	blockOf(t, one)
	blockOf(t, two)
	blockOf(t, two)
	r := promquery.Range{Start: dataStart, End: dataEnd, Step: 15 * time.Second}
	const expr = `sum by (dependency) (rate(calls_total[1m]))`
	want, _, err := open(t, one).QueryRange(t.Context(), expr, r)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := open(t, two).QueryRange(t.Context(), expr, r)
	if err != nil {
		t.Fatal(err)
	}
	if want.String() != got.String() {
		t.Errorf("got %v, want %v", got, want)
	}
}
