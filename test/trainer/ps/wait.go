// SPDX-License-Identifier: Apache-2.0

package ps

import (
	"context"
	"errors"
	"fmt"
)

// errEnds is what those are told who wait when the server is told to end.
var errEnds = errors.New("the server ends")

// change wakes everybody who waits. The caller holds the lock.
func (s *Shard) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// wait waits for a condition, which is asked with the lock held, for as long as the deadline allows. The error says who
// is missing.
func (s *Shard) wait(ctx context.Context, condition func() (bool, error)) error {
	limited, cancel := context.WithTimeout(ctx, s.deadline)
	defer cancel()
	for {
		s.mu.Lock()
		holds, err := condition()
		changed, missing, now := s.changed, s.missing(), s.now
		s.mu.Unlock()
		if holds || err != nil {
			return err
		}
		select {
		case <-changed:
		case <-limited.Done():
			switch {
			case ctx.Err() != nil:
				return errEnds
			case now == nil:
				return fmt.Errorf("trainer 0 has not brought the parameters within %s", s.deadline)
			}
			return fmt.Errorf("step %d: no gradient from trainers %v within %s", now.Step+1, missing, s.deadline)
		}
	}
}

// Done notes that a trainer has ended.
func (s *Shard) Done(rank int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done[rank] = true
	s.change()
}

// AllDone waits until all trainers have ended, for as long as it takes.
func (s *Shard) AllDone(ctx context.Context) error {
	for {
		s.mu.Lock()
		changed, done := s.changed, len(s.done)
		s.mu.Unlock()
		if done == s.world {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
