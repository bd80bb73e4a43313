package promquery

// QuantileOf is buckets.quantile for tests that need the embedded engine,
// which imports this package.
func QuantileOf(bounds, counts []float64, q, seconds float64) Quantile {
	b := buckets{}
	for i, bound := range bounds {
		b.addBound(bound, counts[i])
	}
	return b.quantile(q, seconds)
}
