// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"context"
	"crypto/sha256"
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// work is what a sample of the pace is of: so many bytes are hashed, about 1 ms of work.
const work = 1 << 20

// Pace samples how fast the machine is at present: on a shared one, a neighbour makes every processor second worth less.
type Pace struct {
	cancel context.CancelFunc
	done   sync.WaitGroup
	spent  time.Duration
	n      int
	err    error
}

// StartPace takes a sample each second until Mean is called.
func StartPace(ctx context.Context) *Pace {
	ctx, cancel := context.WithCancel(ctx)
	p := &Pace{cancel: cancel}
	p.done.Add(1)
	go func() {
		defer p.done.Done()
		// The clock is that of a thread, which waits for processors without being counted.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		text := make([]byte, work)
		for {
			took, err := sample(text)
			if err != nil {
				p.err = err
				return
			}
			p.spent += took
			p.n++
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return p
}

func sample(text []byte) (time.Duration, error) {
	before, err := threadTime()
	if err != nil {
		return 0, err
	}
	sum := sha256.Sum256(text)
	text[0] = sum[0] // or the compiler may leave it out
	after, err := threadTime()
	return after - before, err
}

func threadTime() (time.Duration, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0, fmt.Errorf("read the processor time of a thread: %w", err)
	}
	return time.Duration(t.Nano()), nil
}

// Mean ends the sampling and tells the processor time that the work needed on average, in milliseconds: less is faster.
func (p *Pace) Mean() (float64, error) {
	p.cancel()
	p.done.Wait()
	if p.err != nil {
		return 0, p.err
	}
	return p.spent.Seconds() * 1000 / float64(p.n), nil
}
