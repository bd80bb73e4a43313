package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/bhsize/bhsize/promquery"
)

// Presets lists presets; standard is the one that is asked for where none is named.
func Presets(w io.Writer, all []promquery.Preset, standard string, width int) error {
	g := grid{titles: []string{"PRESET", "COUNTER", "HISTOGRAM", "UNIT", "DEPENDENCY LABEL", "COUNTS", "FOR"}, left: map[int]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true}}
	for _, p := range all {
		name := p.Name
		if name == standard {
			name += " (default)"
		}
		s := p.Series
		g.rows = append(g.rows, []string{name, s.CounterName(), s.Histogram, s.Unit, strings.Join(s.Dependency, ", "), string(s.Level) + "s", p.About})
	}
	_, err := fmt.Fprintln(w, g.render(width))
	return err
}
