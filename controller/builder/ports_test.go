// SPDX-License-Identifier: Apache-2.0

package builder

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

func TestParsePorts(t *testing.T) {
	ports, err := ParsePorts("20000-29999")
	require.NoError(t, err)
	require.Equal(t, DefaultHostPorts(), ports)
	require.Equal(t, "20000-29999", ports.String())
	for _, text := range []string{"65516-65535", "1024-1043"} {
		_, err = ParsePorts(text)
		require.NoError(t, err)
	}
	for _, text := range []string{"", "20000", "20000-", "-1", "a-b", "20000-20018", "1023-9999", "60000-65536", "9999-2000"} {
		_, err := ParsePorts(text)
		require.ErrorContains(t, err, "FIRST-LAST", text)
	}
}

func TestOverlaps(t *testing.T) {
	block := Ports{First: 100, Count: 20}
	for other, want := range map[Ports]bool{
		{100, 20}: true, {119, 1}: true, {81, 20}: true, {120, 20}: false, {80, 20}: false, {0, 0}: false, {90, 100}: true,
	} {
		require.Equal(t, want, block.Overlaps(other), "%v", other)
		require.Equal(t, want, other.Overlaps(block), "%v", other)
	}
}

func TestChoosePorts(t *testing.T) {
	all := Ports{First: 20000, Count: 100}
	seen := map[int]bool{}
	for i := range 50 {
		first, ok := ChoosePorts(all, 40, nil, strconv.Itoa(i))
		require.True(t, ok)
		require.Contains(t, []int{20000, 20020, 20040, 20060}, first)
		seen[first] = true
		repeated, _ := ChoosePorts(all, 40, nil, strconv.Itoa(i))
		require.Equal(t, first, repeated)
		first, ok = ChoosePorts(all, 40, []Ports{{20080, 20}, {20010, 15}}, strconv.Itoa(i))
		require.True(t, ok)
		require.Equal(t, 20040, first, "the only place left")
	}
	first, ok := ChoosePorts(all, 100, nil, "all")
	require.True(t, ok)
	require.Equal(t, 20000, first)
	require.Greater(t, len(seen), 2, "jobs that choose at once begin to look in different places")
	for _, none := range []struct {
		all   Ports
		count int
		taken []Ports
	}{
		{all, 120, nil}, {all, 0, nil}, {all, 100, []Ports{{20050, 1}}}, {Ports{20000, 119}, 120, nil}, {Ports{}, 20, nil},
	} {
		_, ok := ChoosePorts(none.all, none.count, none.taken, "x")
		require.False(t, ok, "%v", none)
	}
}

func onHosts(job *v1.PaddleJob) { job.Spec.Intranet = v1.Host }

func TestHostEnvironment(t *testing.T) {
	job := paddleJob(2, 2, onHosts, withGloo(1), heter(1))
	made, _ := mustJob(t, job)
	for _, task := range made.Spec.Tasks {
		spec := task.Template.Spec
		require.True(t, spec.HostNetwork)
		require.Equal(t, corev1.DNSClusterFirstWithHostNet, spec.DNSPolicy)
		_, values := written(spec.Containers[0].Env)
		for name, key := range map[string]string{
			"POD_IP": v1.AddressAnnotation, "PADDLE_CURRENT_IP": v1.AddressAnnotation, "PADDLE_PORT": v1.PortAnnotation, "PORT_RANGE": v1.PortRangeAnnotation,
		} {
			require.Equal(t, "<metadata.annotations['"+key+"']>", values[name], name)
		}
	}
	addresses := Addresses{RolePS: {"n1", "n2"}, RoleWorker: {"n1", "n2"}, RoleHeter: {"n1"}}
	data := ConfigMapAt(job, addresses, 20100, "g", Config{}).Data
	require.NotContains(t, data, "PADDLE_PORT")
	require.Equal(t, "20", data["TRAINER_PORTS_NUM"])
	require.Equal(t, "n1:20100,n2:20120", data["PADDLE_PSERVERS_IP_PORT_LIST"])
	require.Equal(t, "n1:20140,n2:20160", data["PADDLE_TRAINER_ENDPOINTS"])
	require.Equal(t, "n1:20180", data["PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST"])
	require.Equal(t, "n1:20118", data["PADDLE_GLOO_HTTP_ENDPOINT"])
	require.Equal(t, "20118", data["PADDLE_GLOO_PORT"])
	require.Equal(t, 100, PortsNeeded(job))

	for c, want := range map[[2]string]map[string]string{
		{RolePS, "1"}:     {v1.AddressAnnotation: "10.0.0.1", v1.PortAnnotation: "20120", v1.PortRangeAnnotation: "20121:20137"},
		{RoleWorker, "0"}: {v1.AddressAnnotation: "10.0.0.1", v1.PortAnnotation: "20140", v1.PortRangeAnnotation: "20141:20157"},
		{RoleHeter, "0"}:  {v1.AddressAnnotation: "10.0.0.1", v1.PortAnnotation: "20180", v1.PortRangeAnnotation: "20181:20197"},
		{RolePS, "2"}:     nil,
		{"other", "0"}:    nil,
	} {
		require.Equal(t, want, PodAnnotations(job, 20100, pod("wide", c[0], c[1], "10.0.0.1")), "%v", c)
	}
	require.Equal(t, "0", ConfigMapAt(paddleJob(0, 2, onHosts), addresses, 20100, "g", Config{}).Data["TRAINER_PORTS_NUM"],
		"older launchers want one port for all")
}

func TestAnnounced(t *testing.T) {
	announcing := Config{AnnouncePodIPs: true}
	for name, c := range map[string]struct {
		job             *v1.PaddleJob
		cfg             Config
		announced, host bool
	}{
		"PodIP":                   {paddleJob(1, 1), Config{}, false, false},
		"Service":                 {paddleJob(1, 1, intranet(v1.Service)), announcing, false, false},
		"Host":                    {paddleJob(1, 1, onHosts), Config{}, true, true},
		"elastic Host":            {paddleJob(0, 2, onHosts, elastic(1, 2)), Config{}, false, false},
		"PodIP, with the flag":    {paddleJob(1, 1), announcing, true, false},
		"elastic, with the flag":  {paddleJob(0, 2, elastic(1, 2)), announcing, false, false},
		"by default, with a flag": {paddleJob(1, 1), Config{AnnouncePodIPs: true, DefaultIntranet: v1.Service}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.announced, Announced(c.job, c.cfg))
			require.Equal(t, c.host, HostPorts(c.job, c.cfg))
		})
	}
	made, _ := Job(paddleJob(1, 1), PodGroupOverrides{}, announcing)
	_, values := written(made.Spec.Tasks[0].Template.Spec.Containers[0].Env)
	require.Equal(t, "<metadata.annotations['"+v1.AddressAnnotation+"']>", values["POD_IP"])
	require.NotContains(t, values, "PORT_RANGE")
}

func TestPaddleIP(t *testing.T) {
	for name, c := range map[string]struct {
		ips  []string
		want string
	}{
		"IPv4":             {[]string{"10.0.0.1"}, "10.0.0.1"},
		"IPv4 and IPv6":    {[]string{"10.0.0.1", "fd00::1"}, "10.0.0.1"},
		"IPv6 and IPv4":    {[]string{"fd00::1", "10.0.0.1"}, "10.0.0.1"},
		"IPv6":             {[]string{"fd00::1"}, "fd00::1"},
		"none":             {[]string{""}, ""},
		"IPv6 and nothing": {[]string{"fd00::1", ""}, "fd00::1"},
	} {
		t.Run(name, func(t *testing.T) {
			pod := pod("wide", RolePS, "0", c.ips[0])
			for _, ip := range c.ips {
				pod.Status.PodIPs = append(pod.Status.PodIPs, corev1.PodIP{IP: ip})
			}
			require.Equal(t, c.want, PaddleIP(pod))
		})
	}
}

// A pod is listed by the text by which it knows itself.
func TestAnnouncedAddressesCount(t *testing.T) {
	job := paddleJob(1, 1)
	server, worker := pod("wide", RolePS, "0", "fd00::1"), pod("wide", RoleWorker, "0", "fd00::2")
	addresses, before, missing := PodAddresses(job, []*corev1.Pod{server, worker})
	require.Empty(t, missing)
	require.Equal(t, Addresses{RolePS: {"fd00::1"}, RoleWorker: {"fd00::2"}}, addresses)
	server.Annotations[v1.AddressAnnotation] = "10.0.0.1"
	addresses, after, _ := PodAddresses(job, []*corev1.Pod{server, worker})
	require.Equal(t, Addresses{RolePS: {"10.0.0.1"}, RoleWorker: {"fd00::2"}}, addresses)
	require.NotEqual(t, before, after)
}
