package synth

import (
	"bufio"
	"io"
	"strconv"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
)

// WriteOpenMetrics writes the history as OpenMetrics text, series by series, as
// `promtool tsdb create-blocks-from openmetrics` and promquery/local read it.
func (h *History) WriteOpenMetrics(w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	family := ""
	for _, s := range h.Series() {
		if s.Family != family {
			family = s.Family
			out.WriteString("# TYPE " + family + " " + s.kind() + "\n") // bufio keeps the error for Flush
		}
		prefix := s.text()
		for t, v := range s.Samples() {
			line := append(out.AvailableBuffer(), prefix...)
			line = strconv.AppendFloat(line, v, 'f', -1, 64)
			line = appendSeconds(append(line, ' '), t)
			out.Write(append(line, '\n'))
		}
	}
	out.WriteString("# EOF\n")
	return out.Flush()
}

func (s Series) kind() string {
	if s.Family == s.pair.config.Naming.Histogram {
		return "histogram"
	}
	return "counter"
}

// text is the series up to the value, with a blank behind it.
func (s Series) text() string {
	var b strings.Builder
	b.WriteString(s.Labels.Get(model.MetricNameLabel))
	sep := "{"
	s.Labels.Range(func(l labels.Label) {
		if l.Name == model.MetricNameLabel {
			return
		}
		b.WriteString(sep + l.Name + `="` + escaper.Replace(l.Value) + `"`)
		sep = ","
	})
	b.WriteString("} ")
	return b.String()
}

var escaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// appendSeconds writes milliseconds as seconds, without a float in between.
func appendSeconds(line []byte, t int64) []byte {
	line = strconv.AppendInt(line, t/1000, 10)
	if ms := t % 1000; ms != 0 {
		line = append(line, '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10))
	}
	return line
}
