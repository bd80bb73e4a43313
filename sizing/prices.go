package sizing

// prices tells what one permit less costs a compartment: rate x the rise in
// Erlang B, in shed attempts a second. It is asked for falling numbers of
// permits and keeps a block of Erlang B below the last one, so that memory does
// not grow with the permits.
type prices struct {
	a, rate float64
	from    int       // the number of permits that block[0] is for
	block   []float64 // B(a,from), B(a,from+1), ...
}

const priceBlock = 1024

// of returns the price of going from so many permits to one less. Permits lie
// in 1 to MaxPermits, and a is checked.
func (p *prices) of(permits int) float64 {
	if permits-1 < p.from || permits-p.from >= len(p.block) {
		p.fill(permits)
	}
	i := permits - p.from
	return p.rate * (p.block[i-1] - p.block[i])
}

// fill makes the block end at permits. It starts from one evaluation of Erlang
// B and climbs by the recurrence.
func (p *prices) fill(permits int) {
	p.from = max(0, permits-priceBlock)
	b := erlangB(p.a, float64(p.from))
	p.block = append(p.block[:0], b)
	for k := p.from + 1; k <= permits; k++ {
		b = nextB(p.a, b, float64(k))
		p.block = append(p.block, b)
	}
}
