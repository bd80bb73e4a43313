// Package schema reads bulkhead files.
//
// bulkhead.cue says what a file may hold, the budget sum of every pool
// included. Load reads YAML, JSON or CUE against it and translates what CUE
// finds into Problems: a rule, both positions, plain words and a way out. Edit
// writes permits and traffic back in place, touching no other byte. Check is
// the assertion for start-up code: a service that refuses to start on an
// overcommitted pool.
package schema
