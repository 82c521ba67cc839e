// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"syscall"
	"time"

	"volcano.sh/volcano/pkg/scheduler/framework"
)

// Took is how long the parts of one session took.
type Took struct {
	Open, Close time.Duration
	// Allocate is the action's Execute alone; Others are the other actions.
	Allocate, Others time.Duration
	// AllocateCPU is what the whole process used of all processors meanwhile, CPU what it used during all of the session.
	AllocateCPU, CPU time.Duration
}

// Whole is the whole session.
func (t Took) Whole() time.Duration { return t.Open + t.Allocate + t.Others + t.Close }

// Session runs one scheduling cycle and brings what it wrote back into the cache.
func (s *Scheduler) Session() (Took, error) {
	s.prepare()
	var took Took
	var ssn *framework.Session
	begin := processTime()
	took.Open = timed(func() { ssn = framework.OpenSession(s.cache.SchedulerCache, s.tiers, nil) })
	for _, action := range s.actions {
		cpu := processTime()
		elapsed := timed(func() { action.Execute(ssn) })
		if action.Name() == "allocate" {
			took.Allocate, took.AllocateCPU = elapsed, processTime()-cpu
		} else {
			took.Others += elapsed
		}
	}
	took.Close = timed(func() { framework.CloseSession(ssn) })
	took.CPU = processTime() - begin
	s.cache.ForgetActions()
	_, err := s.cache.BringBack()
	return took, err
}

func timed(work func()) time.Duration {
	start := time.Now()
	work()
	return time.Since(start)
}

// processTime is the time that all processors spent on this process; 0 where the system does not say.
func processTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
