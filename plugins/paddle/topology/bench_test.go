// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"syscall"
	"testing"
	"time"
)

// BenchmarkSync compares, for 10,000 nodes in 331 HyperNodes, a session in which nothing changed with one in which 100
// pods came or went, and with a rebuild.
func BenchmarkSync(b *testing.B) {
	c := large(10_000)
	idle := c.session()
	for i := range 100 {
		c.pod(fmt.Sprintf("n%04d", 97*i), fmt.Sprint("more", i), map[string]string{gpu: "1"})
	}
	busy := c.session()
	synced := func(b *testing.B, n *Cache, v SessionView, want bool) {
		b.Helper()
		if rebuilt, err := n.Sync(v); err != nil || rebuilt != want {
			b.Fatalf("rebuilt %v, error %v", rebuilt, err)
		}
	}
	// Time on the processor too: a machine that does other work as well makes the wall clock lie.
	spent := func(b *testing.B) func() {
		b.Helper()
		b.ReportAllocs()
		before := processorTime(b)
		return func() {
			b.ReportMetric(float64((processorTime(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
		}
	}
	n := New(withGPUs())
	synced(b, n, idle, true)
	b.Run("unchanged", func(b *testing.B) {
		defer spent(b)()
		for b.Loop() {
			synced(b, n, idle, false)
		}
	})
	b.Run("100pods", func(b *testing.B) {
		defer spent(b)()
		views := []SessionView{busy, idle}
		for i := 0; b.Loop(); i++ {
			synced(b, n, views[i%2], false)
		}
	})
	b.Run("rebuild", func(b *testing.B) {
		defer spent(b)()
		for b.Loop() {
			synced(b, New(withGPUs()), idle, true)
		}
	})
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
