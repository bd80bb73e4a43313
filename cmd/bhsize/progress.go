package main

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// patience is how long a silent command is comfortable.
const patience = time.Second

// progress returns a callback that draws a bar on stderr once the work has
// taken over a second, and a function that clears it. Off a terminal both do
// nothing.
func (e *env) progress(what string) (step func(done, total int), clear func()) {
	if !e.live {
		return nil, func() {}
	}
	var bar *progressbar.ProgressBar
	began := time.Now()
	step = func(done, total int) {
		if bar == nil && time.Since(began) > patience {
			bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(e.err), progressbar.OptionSetDescription(what),
				progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30), progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true))
		}
		if bar != nil {
			_ = bar.Set(done)
		}
	}
	return step, func() {
		if bar != nil {
			_ = bar.Clear()
		}
	}
}
