package sizing

import "fmt"

// Backend is what the pools of all instances draw on together, such as a
// database with its max_connections.
type Backend struct {
	Capacity int
	Reserved int // kept back by the backend itself
	Others   int // used by clients that no file describes
	Draws    []Draw
}

// Draw is one pool's claim on a backend.
type Draw struct {
	Name      string
	Size      int // of the pool, per process
	Processes int // per instance
	Instances int // at most: max + surge
}

// perInstance returns size x processes.
func (d Draw) perInstance() (int, error) {
	if d.Size < 0 || d.Processes < 1 || d.Instances < 0 {
		return 0, fmt.Errorf("pool %q draws size %d x %d processes x %d instances: give a size and instances of at least 0 and at least 1 process", d.Name, d.Size, d.Processes, d.Instances)
	}
	return multiply(d.Size, d.Processes)
}

func (d Draw) total() (int, error) {
	n, err := d.perInstance()
	if err != nil {
		return 0, err
	}
	return multiply(n, d.Instances)
}

// Used returns what may be claimed at once: others plus the sum of size x
// processes x instances. Negative numbers and an overflow are errors.
func (b Backend) Used() (int, error) { return b.usedBut(-1) }

// usedBut is Used without one draw.
func (b Backend) usedBut(skip int) (int, error) {
	if b.Others < 0 {
		return 0, fmt.Errorf("others is %d: give a number of at least 0", b.Others)
	}
	used := b.Others
	for i, d := range b.Draws {
		if i == skip {
			continue
		}
		n, err := d.total()
		if err != nil {
			return 0, err
		}
		if used, err = add(used, n); err != nil {
			return 0, err
		}
	}
	return used, nil
}

// Available returns capacity - reserved.
func (b Backend) Available() (int, error) {
	if b.Capacity < 1 || b.Reserved < 0 || b.Reserved > b.Capacity {
		return 0, fmt.Errorf("capacity is %d with %d reserved: give a capacity of at least 1 and no more reserved than that", b.Capacity, b.Reserved)
	}
	return b.Capacity - b.Reserved, nil
}

// Fits says whether Used is at most Available.
func (b Backend) Fits() (bool, error) {
	used, err := b.Used()
	if err != nil {
		return false, err
	}
	available, err := b.Available()
	return err == nil && used <= available, err
}

// MaxInstances returns how many instances of draw i, surge included, would fit
// beside everything else: (available - others - other draws) / (size x
// processes), 0 where nothing is left. A draw of size 0 is an error, as any
// number of it fits.
func (b Backend) MaxInstances(i int) (int, error) {
	if i < 0 || i >= len(b.Draws) {
		return 0, fmt.Errorf("draw %d of %d asked for", i, len(b.Draws))
	}
	each, err := b.Draws[i].perInstance()
	if err != nil {
		return 0, err
	}
	if each == 0 {
		return 0, fmt.Errorf("pool %q has size 0: any number of instances fits", b.Draws[i].Name)
	}
	used, err := b.usedBut(i)
	if err != nil {
		return 0, err
	}
	available, err := b.Available()
	return max(0, available-used) / each, err
}
