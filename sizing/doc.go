// Package sizing is the arithmetic of bulkheads: how many permits a dependency
// needs, what they cost in shed calls, and whether all of them fit the pool.
//
// Everything here is pure: no input or output, no clock, no state. Quantities
// that people write down (rates, durations, ratios) are exact rationals read
// from decimal text, because a permit count is a ceiling and binary floating
// point moves ceilings: 50/s x 140 ms is 7, not 8. Probabilities and measured
// means are float64, and no NaN, infinity or negative value passes unchecked.
//
// Units: rates per second, durations in seconds, offered load in erlangs (rate
// x mean time that a permit is held). Queue formulas count time in mean holds,
// and say so.
package sizing
