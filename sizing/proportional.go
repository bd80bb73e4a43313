package sizing

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
)

// Proportional splits total by weights, by largest remainder (Hamilton's
// method): each gets floor(total x weight / sum), and what is left goes one
// each to the largest remainders, to the first of equal ones. No weights, none
// above 0, and a negative number are errors.
//
// It is for callers of this package that share a pool out by weight. The
// commands make room with PlanCuts, which knows what each permit is worth; the
// tests hold the two against each other's reference values.
func Proportional(weights []int, total int) ([]int, error) {
	if total < 0 {
		return nil, fmt.Errorf("%d permits to split: give a number of at least 0", total)
	}
	sum := new(big.Int)
	for _, w := range weights {
		if w < 0 {
			return nil, fmt.Errorf("weight %d is negative: give a number of at least 0", w)
		}
		sum.Add(sum, big.NewInt(int64(w)))
	}
	if sum.Sign() == 0 {
		return nil, errors.New("no weight is above 0: there is nothing to split by")
	}
	parts := make([]int, len(weights))
	remainders := make([]*big.Int, len(weights))
	left := total
	for i, w := range weights {
		share := new(big.Int).Mul(big.NewInt(int64(w)), big.NewInt(int64(total)))
		share, remainders[i] = share.QuoRem(share, sum, new(big.Int))
		parts[i] = int(share.Int64())
		left -= parts[i]
	}
	for _, i := range byRemainder(remainders)[:left] {
		parts[i]++
	}
	return parts, nil
}

// byRemainder returns the indices from the largest remainder to the smallest.
func byRemainder(remainders []*big.Int) []int {
	order := make([]int, len(remainders))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(remainders[j].Cmp(remainders[i]), cmp.Compare(i, j))
	})
	return order
}
