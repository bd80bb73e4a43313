package sizing

import "errors"

// ShedOverWindow returns the share of all calls of a window that is shed, sum
// r_i B(r_i s, c) / sum r_i, from the rates of its slots in calls per second
// and the mean hold s in seconds. A mean rate over a long window hides the
// shedding of its peaks; this does not. No rates, or none above 0, is an error.
func ShedOverWindow(rates []float64, hold float64, c int) (float64, error) {
	if err := firstError(checkNumber("mean hold", hold), checkPermits(c)); err != nil {
		return 0, err
	}
	peak := 0.0
	for _, r := range rates {
		if err := checkNumber("rate", r); err != nil {
			return 0, err
		}
		peak = max(peak, r)
	}
	if peak == 0 {
		return 0, errors.New("no slot of the window has calls: there is nothing to shed")
	}
	var shed, calls float64
	for _, r := range rates {
		b, err := ErlangB(r*hold, c)
		if err != nil {
			return 0, err
		}
		shed += r / peak * b
		calls += r / peak
	}
	return shed / calls, nil
}
