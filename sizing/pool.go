package sizing

import (
	"errors"
	"fmt"
	"math"
	"math/big"
)

// Pool is what several bulkheads draw on, per process.
type Pool struct {
	Size       int
	Reserved   int      // kept for operations: health checks, migrations, admin
	Overcommit *big.Rat // ratio of a declared overcommit, at least 1; nil: 1
}

// Available returns how many permits the pool can back: floor((size - reserved)
// x ratio). More reserved than there is, a size below 1, and a ratio below 1
// are errors.
func (p Pool) Available() (int, error) {
	if err := p.check(); err != nil {
		return 0, err
	}
	if p.Size < 1 {
		return 0, fmt.Errorf("pool size is %d: give at least 1", p.Size)
	}
	if p.Reserved > p.Size {
		return 0, fmt.Errorf("reserved is %d, more than the pool size %d: lower it", p.Reserved, p.Size)
	}
	return floor(new(big.Rat).Mul(ratInt(p.Size-p.Reserved), p.ratio()))
}

// SizeFor returns the smallest size for which Available is at least permits,
// with reserved and overcommit as they are: reserved + ceil(permits/ratio), at
// least 1.
func (p Pool) SizeFor(permits int) (int, error) {
	if err := p.check(); err != nil {
		return 0, err
	}
	if permits < 0 {
		return 0, fmt.Errorf("permits is %d: give a number of at least 0", permits)
	}
	n, err := Ceil(new(big.Rat).Quo(ratInt(permits), p.ratio()))
	if err != nil {
		return 0, err
	}
	size, err := add(p.Reserved, n)
	return max(size, 1), err
}

func (p Pool) check() error {
	if p.Reserved < 0 {
		return fmt.Errorf("reserved is %d: give a number of at least 0", p.Reserved)
	}
	if p.ratio().Cmp(ratInt(1)) < 0 {
		return fmt.Errorf("overcommit ratio is %s: give at least 1, or leave it out", FormatNumber(p.Overcommit))
	}
	return nil
}

func (p Pool) ratio() *big.Rat {
	if p.Overcommit == nil {
		return ratInt(1)
	}
	return p.Overcommit
}

// ThreadsNeeded returns the smallest pool on which so many threads, each
// holding up to k connections at once, cannot deadlock: threads x (k-1) + 1.
// One connection is then always left for a thread that lacks only its last.
// HikariCP, About Pool Sizing.
func ThreadsNeeded(threads, connectionsPerCall int) (int, error) {
	if threads < 1 || connectionsPerCall < 1 {
		return 0, fmt.Errorf("%d threads with %d connections per call: give at least 1 of each", threads, connectionsPerCall)
	}
	n, err := multiply(threads, connectionsPerCall-1)
	if err != nil {
		return 0, err
	}
	return add(n, 1)
}

var errOverflow = errors.New("a sum of connections is too large to count: check sizes, processes and instances")

// add sums numbers that are at least 0.
func add(x, y int) (int, error) {
	if x > math.MaxInt-y {
		return 0, errOverflow
	}
	return x + y, nil
}

// multiply multiplies numbers that are at least 0.
func multiply(x, y int) (int, error) {
	if y != 0 && x > math.MaxInt/y {
		return 0, errOverflow
	}
	return x * y, nil
}
