// SPDX-License-Identifier: Apache-2.0

package barrier

import (
	"bytes"
	"flag"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestArgumentsAreReadAsTheyWereWritten(t *testing.T) {
	for _, o := range []*Options{
		{Own: "A", Peers: []List{{"A", 3}}, Timeout: time.Minute},
		{Own: "B", Peers: []List{{"A", 3}, {"B", 0}}, Timeout: 1500 * time.Millisecond},
	} {
		var out bytes.Buffer
		got, err := Parse(o.Arguments(), &out)
		require.NoError(t, err)
		require.Equal(t, o, got)
		require.Empty(t, out.String())
	}
}

func TestWrongArguments(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no own":          {[]string{"--peers=A=1", "--timeout=1m"}, `--own is "", which is not among --peers`},
		"another's own":   {[]string{"--own=B", "--peers=A=1", "--timeout=1m"}, `--own is "B", which is not among --peers`},
		"no least":        {[]string{"--own=A", "--peers=A", "--timeout=1m"}, `"A" is not VARIABLE=LEAST`},
		"no variable":     {[]string{"--own=A", "--peers==1", "--timeout=1m"}, `"=1" is not VARIABLE=LEAST`},
		"less than none":  {[]string{"--own=A", "--peers=A=-1", "--timeout=1m"}, `"A=-1" is not VARIABLE=LEAST`},
		"no timeout":      {[]string{"--own=A", "--peers=A=1"}, "--timeout is 0s: use more than 0"},
		"a word too many": {[]string{"--own=A", "--peers=A=1", "--timeout=1m", "x"}, `there is an argument too many: "x"`},
		"an unknown flag": {[]string{"--verbose"}, "not defined: -verbose"},
		"help requested":  {[]string{"--help"}, flag.ErrHelp.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			_, err := Parse(c.args, &out)
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestTaskOfAnEnvironment(t *testing.T) {
	o := &Options{Own: "WORKERS", Peers: []List{{"SERVERS", 1}, {"WORKERS", 5}}, Timeout: time.Minute}
	env := map[string]string{
		IndexVariable: "1", IPsVariable: "10.0.0.9,fd00::9",
		"SERVERS": "wide-ps-0.wide:36000", "WORKERS": "wide-worker-0.wide:36000,[fd00::9]:36000,10.0.0.7:36020",
	}
	with := func(name, value string) func(string) (string, bool) {
		return func(asked string) (string, bool) {
			if asked == name {
				return value, true
			}
			value, ok := env[asked]
			return value, ok
		}
	}
	task, err := o.Task(with("", ""))
	require.NoError(t, err)
	require.Equal(t, &Task{
		Own: "fd00::9", IPs: []netip.Addr{netip.MustParseAddr("10.0.0.9"), netip.MustParseAddr("fd00::9")}, Timeout: time.Minute,
		Peers: []Peers{{[]string{"wide-ps-0.wide"}, 1}, {[]string{"wide-worker-0.wide", "fd00::9", "10.0.0.7"}, 3}},
	}, task)
	task, err = o.Task(with(IPsVariable, "::ffff:10.0.0.9"))
	require.NoError(t, err)
	require.True(t, task.mine(netip.MustParseAddr("10.0.0.9")), "one address in two forms")
	require.True(t, task.mine(netip.MustParseAddr("10.0.0.8"), netip.MustParseAddr("::ffff:10.0.0.9")))
	require.False(t, task.mine(netip.MustParseAddr("10.0.0.8")))

	for name, c := range map[string]struct {
		variable, value string
		code            int
		says            string
	}{
		"no index":              {IndexVariable, "", ExitWrongCall, "it must hold the pod's index"},
		"less than an index":    {IndexVariable, "-1", ExitWrongCall, "it must hold the pod's index"},
		"beyond the list":       {IndexVariable, "3", ExitStale, "WORKERS has 3 entries, and none for this pod, which is number 3"},
		"no IPs":                {IPsVariable, "", ExitWrongCall, "it must hold the pod's own IPs"},
		"no list":               {"SERVERS", "", ExitWrongCall, `entry 0 of SERVERS is "", not host:port`},
		"an entry without port": {"SERVERS", "a:1,b", ExitWrongCall, `entry 1 of SERVERS is "b", not host:port`},
		"an entry without host": {"WORKERS", "a:1,:2", ExitWrongCall, `entry 1 of WORKERS is ":2", not host:port`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := o.Task(with(c.variable, c.value))
			requireCode(t, c.code, err, c.says)
		})
	}
}
