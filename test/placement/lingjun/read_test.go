// SPDX-License-Identifier: Apache-2.0

package lingjun_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/lingjun"
)

const header = "host,dsw,psw,asw\n"

func TestSpec(t *testing.T) {
	topology, err := placement.NewTopology(lingjun.Spec())
	require.NoError(t, err)
	var domains []int
	for tier := placement.NodeTier; tier <= len(topology.Tiers()); tier++ {
		lo, hi := topology.Domains(tier)
		domains = append(domains, int(hi-lo))
	}
	require.Equal(t, []int{847, 119, 3, 1, 1}, domains, "hosts, racks, blocks, cores, the root")
	require.EqualValues(t, 847*8, topology.FreeGPUs(topology.Root()))
	node, ok := topology.Node("h0000")
	require.True(t, ok)
	require.Equal(t, "G6/P10/S14", topology.DomainName(topology.Ancestor(node, placement.NodeTier+1)))
}

// One asw below two psw is two racks:
//
//	G1
//	├── P1
//	│   └── S1: a b
//	└── P2
//	    └── S1: c
func TestReadMakesARackOfPswAndAsw(t *testing.T) {
	spec, err := lingjun.Read(strings.NewReader(header + "a,G1,P1,S1\nc,G1,P2,S1\n\nb,G1,P1,S1\n"))
	require.NoError(t, err)
	topology, err := placement.NewTopology(spec)
	require.NoError(t, err)
	rack := func(name string) placement.DomainID {
		node, ok := topology.Node(name)
		require.True(t, ok)
		return topology.Ancestor(node, placement.NodeTier+1)
	}
	require.Equal(t, rack("a"), rack("b"))
	require.NotEqual(t, rack("a"), rack("c"))
	require.Equal(t, []int64{lingjun.MilliCPUs, lingjun.MemoryBytes, lingjun.Pods, lingjun.GPUs}, topology.Free(0))
	require.Equal(t, spec.Resources, lingjun.Resources())
}

func TestReadSaysTheLineOfWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":              {"", "its first line, which names the columns: EOF"},
		"other columns":        {"host,asw,psw,dsw\na,b,c,d\n", `its first line is ["host" "asw" "psw" "dsw"], want ["host" "dsw" "psw" "asw"]`},
		"no host":              {header, "no host below its first line"},
		"a value too few":      {header + "a,G1,P1,S1\nb,G1,P1\n", `line 3: 3 values, want one for each of ["host" "dsw" "psw" "asw"]`},
		"a value too many":     {header + "a,G1,P1,S1,8\n", "line 2: 5 values"},
		"no rack":              {header + "a,G1,P1,\n", "line 2: asw is empty"},
		"a space":              {header + "a,G1, P1,S1\n", `line 2: psw " P1" begins or ends with a space`},
		"a slash":              {header + "a,G1,P1,S/1\n", `line 2: asw "S/1" has a "/"`},
		"a host twice":         {header + "a,G1,P1,S1\n\nb,G1,P1,S1\na,G1,P2,S1\n", `line 5: host "a" is in line 2 already`},
		"a quote that is open": {header + "a,G1,P1,S1\n\"b,G1,P1,S1\n", "line 3"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := lingjun.Read(strings.NewReader(c.text))
			require.ErrorContains(t, err, "read a topology: ")
			require.ErrorContains(t, err, c.want)
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add(header + "a,G1,P1,S1\nc,G1,P2,S1\n")
	f.Add(header + "\"a\nb\",G1,P1,S1\n")
	f.Add("\ufeff" + header + "a,(b),((b)),b")
	f.Fuzz(func(t *testing.T, text string) {
		spec, err := lingjun.Read(strings.NewReader(text))
		if err != nil {
			return
		}
		topology, err := placement.NewTopology(spec)
		require.NoError(t, err, "whatever the reader takes is a topology")
		require.Equal(t, len(spec.Nodes), topology.Nodes())
	})
}
