// SPDX-License-Identifier: Apache-2.0

package trainer

import (
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/train"
)

// TestWhatIsWrongIsNamed spoils one thing of a gang that would train; a process that meets it says so and fails.
func TestWhatIsWrongIsNamed(t *testing.T) {
	two := func(t *testing.T) *gang { t.Helper(); return psGang(t, 2, 2, 0, false) }
	gloo := func(t *testing.T) *gang { t.Helper(); return psGang(t, 2, 2, 1, true) }
	heter := func(t *testing.T) *gang { t.Helper(); return psGang(t, 1, 2, 0, false).heter(2) }
	launched := func(t *testing.T) *gang { t.Helper(); return collectiveGang(t, 3, true) }
	direct := func(t *testing.T) *gang {
		t.Helper()
		g := collectiveGang(t, 3, true)
		for _, p := range g.pods {
			p.line = []string{"python", "train.py"}
		}
		return g
	}
	one := func(index int, name, value string) func(*gang) {
		return func(g *gang) { g.pods[index].env[name] = value }
	}
	all := func(name, value string) func(*gang) { return func(g *gang) { g.set(name, value) } }
	without := func(index int) func(*gang) {
		return func(g *gang) { g.pods = append(g.pods[:index:index], g.pods[index+1:]...) }
	}
	var cases []spoilt
	for _, test := range []struct {
		name  string
		gang  func(*testing.T) *gang
		spoil func(*gang)
		// want are words of at least one log.
		want string
	}{
		{"two of one rank", two, one(3, "PADDLE_TRAINER_ID", "0"), "wrong rank: TRAINER 0 comes to server"},
		{"a rank too high", two, one(3, "PADDLE_TRAINER_ID", "2"), "wrong rank: 2 of 2 trainers"},
		{"another world size", two, one(3, "PADDLE_TRAINERS_NUM", "3"), "wrong world size: TRAINER 1 expects 3 members, and server"},
		{"a world size that is not expected", two, all("TRAINER_EXPECT_WORLD", "3"), "wrong world size: 2 trainers, and 3 are expected"},
		{"a missing trainer", two, without(3), "wrong world size: 1 of 2 members have come to the first state within 3s: TRAINER [1] is missing"},
		{"a missing server", two, without(1), "server 1 at 127."},
		{"a server of another order", two, func(g *gang) {
			list := strings.Split(g.pods[1].env["PADDLE_PSERVERS_IP_PORT_LIST"], ",")
			g.pods[1].env["PADDLE_PSERVERS_IP_PORT_LIST"] = list[1] + "," + list[0]
		}, "wrong job: TRAINER 0 has servers"},
		{"other servers", two, func(g *gang) { g.pods[3].env["PADDLE_PSERVERS_IP_PORT_LIST"] += ",127.9.9.9:1" }, "wrong job: TRAINER 1 has servers"},
		{"a server twice", two, func(g *gang) {
			first, _, _ := strings.Cut(g.pods[0].env["PADDLE_PSERVERS_IP_PORT_LIST"], ",")
			g.set("PADDLE_PSERVERS_IP_PORT_LIST", first+","+first)
		}, "is twice in"},
		{"no role", two, one(2, "TRAINING_ROLE", ""), `TRAINING_ROLE is ""`},
		{"no trainers", two, all("PADDLE_TRAINERS_NUM", "0"), "wrong world size: 0 trainers"},
		{"a changed address of a server", gloo, func(g *gang) { g.dns["ps-1.job"] = []string{"127.9.9.9"} }, "ps-1.job resolves to [127.9.9.9], and this process is at 127."},
		{"a name that leads nowhere", gloo, func(g *gang) { delete(g.dns, "ps-1.job") }, "lookup ps-1.job: no such host"},
		{"gloo without a server", gloo, all("PADDLE_GLOO_HTTP_ENDPOINT", "ps-1.job:36018"), "gloo's rendezvous 0 at ps-1.job:36018: not within"},
		{"gloo on a server's own port", gloo, all("PADDLE_GLOO_HTTP_ENDPOINT", "ps-0.job:36000"), "server 0 does not meet any gloo trainer"},
		{"gloo with another world", gloo, one(3, "PADDLE_TRAINERS_NUM", "3"), "wrong world size: gloo trainer 1 expects 3 members"},
		{"gloo with a missing trainer", gloo, without(3), "gloo trainer [1] is missing"},
		{"gloo in one trainer alone", gloo, one(2, "PADDLE_WITH_GLOO", "0"), "gloo trainer [0] is missing"},

		{"a heterogeneous trainer missing", heter, without(4), "heterogeneous trainer 1 at 127."},
		{"stages of other sizes", heter, all("PADDLE_STAGE_TRAINERS_NUM", "[2, 1]"), "wrong stages: 2 of [2 1] processes"},
		{"the wrong stage", heter, one(3, "STAGE_ID", "1"), "wrong stage: 1 behind 2 processes"},
		{"a trainer of the wrong stage", heter, one(1, "STAGE_ID", "2"), "wrong stage: 2 before"},
		{"a middle that knows others", heter, func(g *gang) {
			h := g.pods[3]
			h.env["PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST"] = h.env["POD_IP"] + ":36000,127.9.9.9:36000"
		}, "wrong job: HETER_TRAINER"},
		{"a middle that reckons with more trainers", heter, func(g *gang) {
			g.pods[3].env["PADDLE_TRAINERS_NUM"], g.pods[3].env["PADDLE_STAGE_TRAINERS_NUM"] = "3", "[3, 2]"
		}, "wrong stage: 2 behind 2 processes, and there are 3 trainers"},

		{"a missing node", launched, without(2), "wrong world size: 2 of 3 members have come to the master"},
		{"a missing master", launched, without(0), "the master 0 at worker-0.job:36000"},
		{"two nodes of one rank", launched, one(2, "PADDLE_TRAINER_ID", "1"), "wrong rank: worker-2.job"},
		{"a node without a rank", launched, func(g *gang) { delete(g.pods[2].env, "PADDLE_TRAINER_ID") }, "wrong rank: 2 of 3 nodes were given one"},
		{"a launcher's address is another's", launched, one(2, "POD_IP", "worker-1.job"), "worker-1.job resolves to [127."},
		{"endpoints in another order", direct, func(g *gang) {
			list := strings.Split(g.pods[2].env["PADDLE_TRAINER_ENDPOINTS"], ",")
			g.pods[2].env["PADDLE_TRAINER_ENDPOINTS"] = strings.Join([]string{list[1], list[0], list[2]}, ",")
		}, "wrong job: rank"},
		{"another number of endpoints", direct, func(g *gang) { g.pods[0].env["PADDLE_TRAINER_ENDPOINTS"] += ",127.9.9.9:1" }, "wrong world size: rank"},
		{"a missing rank", direct, without(1), "rank 1 at worker-1.job:36000: not within"},
		{"an endpoint twice", direct, func(g *gang) {
			for _, p := range g.pods {
				p.env["PADDLE_TRAINER_ENDPOINTS"] = strings.ReplaceAll(p.env["PADDLE_TRAINER_ENDPOINTS"], "worker-2", "worker-1")
			}
		}, "is twice in"},
		{"a rank too high without servers", direct, one(1, "PADDLE_TRAINER_ID", "3"), "wrong rank: 3 of 3 trainers"},
		{"another number of steps", direct, one(1, "TRAINER_STEPS", "61"), "wrong job: rank"},
		{"a rank that is not at its endpoint", direct, one(1, "PADDLE_CURRENT_ENDPOINT", "worker-2.job:36000"), "wrong rank: rank 1 is at worker-1.job:36000"},
		{"every process trains alone", direct, func(g *gang) {
			for _, p := range g.pods {
				clear(p.env)
			}
			g.set("TRAINER_EXPECT_WORLD", "3").set("MODEL_DIR", g.dir)
		}, "wrong world size: 1 trainers, and 3 are expected"},
	} {
		g := test.gang(t)
		test.spoil(g)
		cases = append(cases, spoilt{test.name, g, test.want})
	}
	requireWords(t, cases)
}

// spoilt is a gang that fails, and what at least one of its logs says.
type spoilt struct {
	name string
	gang *gang
	want string
}

// requireWords runs all gangs at once, since most of the time they wait for peers that never come.
func requireWords(t *testing.T, cases []spoilt) {
	t.Helper()
	ends := make([]map[string]ended, len(cases))
	var group sync.WaitGroup
	for i, test := range cases {
		group.Add(1)
		go func() {
			defer group.Done()
			ends[i] = test.gang.set("TRAINER_DEADLINE", "3s").runApart(t)
		}()
	}
	group.Wait()
	for i, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			failed := 0
			var book strings.Builder
			for _, end := range ends[i] {
				if end.code == ExitFailed || end.code == ExitUsage {
					failed++
				}
				book.WriteString("\n" + end.pod.name + ":\n" + end.log)
			}
			logs := book.String()
			require.Positive(t, failed, logs)
			require.Contains(t, logs, test.want)
		})
	}
}

// What a folder holds of an earlier run must fit.
func TestWrongCheckpoints(t *testing.T) {
	checkpoint := func(steps int) string {
		worlds := []train.Segment{{World: 1}}
		text, err := json.Marshal(train.State{Steps: steps, Worlds: worlds, Params: train.Model(worlds, steps)})
		require.NoError(t, err)
		return string(text)
	}
	for name, test := range map[string]struct {
		text, want string
	}{
		"no checkpoint": {"{", "is not a checkpoint"},
		"too far":       {checkpoint(61), "is of step 61, and the job has 60 steps"},
		"other numbers": {strings.Replace(checkpoint(20), `"Steps":20`, `"Steps":19`, 1), "is not what [{0 1}] train in 19 steps"},
	} {
		g := newGang(t)
		g.add("worker-0", "trainer")
		require.NoError(t, os.WriteFile(g.dir+"/checkpoint.json", []byte(test.text), 0o600))
		end := g.run(t)["worker-0"]
		require.Equal(t, ExitFailed, end.code, name)
		require.Contains(t, end.log, test.want, name)
	}
}

func TestWrongCommandLines(t *testing.T) {
	for want, line := range map[string][]string{
		"is not a command that this image supports": {"fleetrun", "train.py"},
		"flag provided but not defined":             {"trainer", "--stepz", "3"},
		"must be above 0":                           {"trainer", "--steps", "0"},
		"/no/such":                                  {"sh", "-c", "cd /no/such && python train.py"},
	} {
		g := newGang(t)
		g.add("worker-0", line...)
		end := g.run(t)["worker-0"]
		require.Contains(t, []int{ExitUsage, ExitFailed}, end.code, line)
		require.Equal(t, want == "/no/such", end.code == ExitFailed, line)
		require.Contains(t, end.log, want)
	}
}
