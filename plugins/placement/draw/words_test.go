// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"1 rack":       count(1, "rack"),
		"0 racks":      count(0, "rack"),
		"12,345 nodes": count(12345, "node"),
		"999 switches": count(999, "switch"),
		"2 boxes":      count(2, "box"),
	} {
		require.Equal(t, want, got)
	}
}

func TestAmount(t *testing.T) {
	known, unknown := scene{d: &placement.Demand{ParameterBytes: 7}}, scene{d: &placement.Demand{}}
	for _, c := range []struct {
		bytes          float64
		known, unknown string
	}{
		{0, "0 B", "0 × M"},
		{0.125, "0.12 B", "0.12 × M"},
		{1, "1 B", "1 × M"},
		{9.996, "10 B", "10 × M"},
		{99.96, "100 B", "100 × M"},
		{999.4, "999 B", "999 × M"},
		{999.6, "1 kB", "1,000 × M"},
		{1230, "1.23 kB", "1,230 × M"},
		{26.25e9, "26.2 GB", "2.62e+10 × M"},
		{5e21, "5000 EB", "5e+21 × M"},
		{1e-9, "1e-09 B", "1e-09 × M"},
	} {
		require.Equal(t, c.known, known.amount(c.bytes))
		require.Equal(t, c.unknown, unknown.amount(c.bytes))
	}
}

func TestSeconds(t *testing.T) {
	known, unknown := scene{d: &placement.Demand{ParameterBytes: 7}}, scene{d: &placement.Demand{}}
	require.Equal(t, "525 ms", known.seconds(0.525, 1e9))
	require.Equal(t, "3.2 µs", known.seconds(3.2e-6, 1e9))
	require.Equal(t, "12.5 s", known.seconds(12.5, 1e9))
	require.Empty(t, known.seconds(12.5, 1), "1 byte per second stands for a bandwidth that is not known")
	require.Empty(t, unknown.seconds(12.5, 1e9))
}

func TestShorten(t *testing.T) {
	require.Equal(t, "short", shorten("short", 10, 100))
	long := shorten("gpu-node-with-a-long-name-0042", 10, 100)
	require.Regexp(t, `^gpu-.*….*0042$`, long)
	require.LessOrEqual(t, textWidth(long, 10), 100)
	require.Equal(t, "…", shorten("节点节点", 10, 15))
	require.Empty(t, shorten("", 10, 0))
}

func TestNodeNames(t *testing.T) {
	for name, c := range map[string]struct{ names, want []string }{
		"all fit":            {[]string{"a1.x", "a2.x"}, []string{"a1.x", "a2.x"}},
		"one domain":         {[]string{"gpu-1.cluster.example.com", "gpu-2.cluster.example.com"}, []string{"gpu-1", "gpu-2"}},
		"one beginning":      {[]string{"gpu-node-of-cluster-07-001", "gpu-node-of-cluster-07-012"}, []string{"…001", "…012"}},
		"both":               {[]string{"gpu-node-of-cluster-07-001.x", "gpu-node-of-cluster-07-012.x"}, []string{"…001", "…012"}},
		"nothing in common":  {[]string{"abcdefghijklmnopqrstuvwxyz", "b"}, []string{"abcdefg…tuvwxyz", "b"}},
		"only one":           {[]string{"gpu-node-of-cluster-07-001"}, []string{"gpu-nod…r-07-001"}},
		"one is the domain":  {[]string{".cluster.example.com.local", "a.cluster.example.com.local"}, []string{".cluster…om.local", "a"}},
		"dash and long rest": {[]string{"a-bcdefghijklmnopqrstuvwxyz", "a-c"}, []string{"…bcdef…tuvwxyz", "…c"}},
	} {
		t.Run(name, func(t *testing.T) {
			spec := placement.TopologySpec{Resources: []string{"cpu"}, Tiers: placement.DefaultTiers()}
			for _, name := range c.names {
				spec.Nodes = append(spec.Nodes, placement.NodeSpec{Name: name, Free: []int64{1}})
			}
			topology, err := placement.NewTopology(spec)
			require.NoError(t, err)
			var ids []placement.NodeID
			for _, name := range c.names {
				id, _ := topology.Node(name)
				ids = append(ids, id)
			}
			s := scene{t: topology, scale: scaleOf(1)}
			short := s.nodeNames(ids)
			var got []string
			for _, id := range ids {
				got = append(got, short[id])
			}
			require.Equal(t, c.want, got)
		})
	}
}
