package sizing

import (
	"fmt"
	"math/big"
	"strconv"
)

// measuredDigits is how many digits of a measured float64 are taken as meant;
// those behind are the noise of binary arithmetic.
const measuredDigits = 12

// RoundUp returns a measured x rounded up to so many significant digits (1 to
// 12) as an exact decimal. Noise does not push it up: x is first taken to 12
// significant digits, so 15.000000000000002 is 15 and 0.30000000000000004 is
// 0.3, while 48.213 is 48.3. A NaN, an infinity and a negative x are errors.
func RoundUp(x float64, digits int) (*big.Rat, error) {
	if err := checkNumber("measured value", x); err != nil {
		return nil, err
	}
	if digits < 1 || digits > measuredDigits {
		return nil, fmt.Errorf("%d significant digits asked for: ask for 1 to %d", digits, measuredDigits)
	}
	if x == 0 {
		return new(big.Rat), nil
	}
	mantissa, exponent, err := decompose(x)
	if err != nil {
		return nil, err
	}
	unit := pow10(measuredDigits - digits)
	up := new(big.Int).Add(mantissa, new(big.Int).Sub(unit, big.NewInt(1)))
	up.Quo(up, unit).Mul(up, unit)
	return scale10(up, exponent), nil
}

// decompose returns x as mantissa x 10^exponent with a 12-digit mantissa.
func decompose(x float64) (mantissa *big.Int, exponent int, err error) {
	s := strconv.FormatFloat(x, 'e', measuredDigits-1, 64) // d.ddddddddddde±dd
	const point = 1
	exponent, err = strconv.Atoi(s[measuredDigits+2:])
	if err != nil {
		return nil, 0, fmt.Errorf("cannot read %q: %w", s, err)
	}
	mantissa, ok := new(big.Int).SetString(s[:point]+s[point+1:measuredDigits+1], 10)
	if !ok {
		return nil, 0, fmt.Errorf("cannot read %q", s)
	}
	return mantissa, exponent - (measuredDigits - 1), nil
}

func pow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

func scale10(n *big.Int, exponent int) *big.Rat {
	if exponent >= 0 {
		return new(big.Rat).SetInt(new(big.Int).Mul(n, pow10(exponent)))
	}
	return new(big.Rat).SetFrac(n, pow10(-exponent))
}
