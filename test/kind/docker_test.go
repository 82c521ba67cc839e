// SPDX-License-Identifier: Apache-2.0

package kind_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// folderVariable names the folder of a machine whose docker this program is, and downVariable says that its daemon is down.
const (
	folderVariable = "PADDLE_TEST_DOCKER"
	downVariable   = "PADDLE_TEST_DOCKER_DOWN"
)

// machine has a docker that makes nothing, writes down what it is asked for, and answers kind and the scripts as docker and the
// node of a healthy cluster would.
type machine struct{ folder, bin string }

// call is what docker was asked for; Input is what it was given to read.
type call struct {
	Args  []string
	Input string
}

func newMachine(t *testing.T) machine {
	t.Helper()
	m := machine{folder: t.TempDir(), bin: t.TempDir()}
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, filepath.Join(m.bin, "docker")))
	return m
}

// environment is this process's with the machine's docker in it.
func (m machine) environment(more ...string) []string {
	return append(os.Environ(), append([]string{
		folderVariable + "=" + m.folder, "PATH=" + m.bin + string(os.PathListSeparator) + os.Getenv("PATH"), "KIND_OUT=" + m.out(),
	}, more...)...)
}

func (m machine) out() string { return filepath.Join(m.folder, "out") }

func (m machine) calls(t *testing.T) (calls []call) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(m.folder, "calls"))
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		var c call
		require.NoError(t, json.Unmarshal([]byte(line), &c))
		calls = append(calls, c)
	}
	return calls
}

// asDocker is the program that the scripts find as docker. It returns the exit code.
func asDocker(folder string, args []string) int {
	c := call{Args: args}
	if args[0] == "exec" && (slices.Contains(args, "-i") || slices.Contains(args, "--interactive")) {
		input, err := io.ReadAll(os.Stdin)
		if err != nil {
			return complain(err)
		}
		c.Input = string(input)
	}
	if err := note(folder, c); err != nil {
		return complain(err)
	}
	if os.Getenv(downVariable) != "" {
		return complain(errors.New("is the docker daemon running?"))
	}
	answer, err := reply(folder, args)
	if err != nil {
		return complain(err)
	}
	if answer != "" {
		fmt.Println(answer)
	}
	return 0
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

func note(folder string, c call) error {
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(folder, "calls"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := file.Write(append(line, '\n')); err != nil {
		return err
	}
	return file.Close()
}

// reply is what docker prints.
func reply(folder string, args []string) (string, error) {
	container := filepath.Join(folder, "container")
	all := strings.Join(args, " ")
	switch args[0] {
	case "info":
		return `{"CgroupVersion":"2","CgroupDriver":"systemd","MemoryLimit":true,"PidsLimit":true,"CPUShares":true}`, nil
	case "run":
		return "id", os.WriteFile(container, nil, 0o600)
	case "rm":
		return "", os.Remove(container)
	case "ps":
		if _, err := os.Stat(container); errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		if strings.Contains(all, "{{.Label") {
			return "paddle-volcano", nil
		}
		return node, nil
	case "logs":
		return "Reached target multi-user.target - Multi-User System.", nil
	case "save":
		return "", os.WriteFile(args[2], nil, 0o600)
	case "image":
		return "sha256:" + args[len(args)-1], nil
	case "inspect":
		return property(all), nil
	case "exec":
		return inNode(args[slices.Index(args, node)+1:])
	default:
		return "", nil
	}
}

// property is what docker inspect says of the node.
func property(asked string) string {
	switch {
	case strings.Contains(asked, "io.x-k8s.kind.role"):
		return "control-plane"
	case strings.Contains(asked, "IPAddress"):
		return "172.18.0.2,"
	case strings.Contains(asked, "desktop.docker.io"):
		return ""
	case strings.Contains(asked, ".HostPort"):
		return "127.0.0.1\t40000"
	default:
		return "sha256:1"
	}
}

// inNode is what a command prints in the node.
func inNode(args []string) (string, error) {
	switch all := strings.Join(args, " "); {
	case all == "cat /kind/version":
		return kubernetes, nil
	case all == "cat /etc/kubernetes/admin.conf":
		return adminConf, nil
	case strings.HasPrefix(all, "containerd config"):
		return "version = 3\n[plugins.'io.containerd.cri.v1.images']\nsnapshotter = 'overlayfs'", nil
	case args[0] == "crictl":
		return "", errors.New("no such image")
	case strings.Contains(all, "status.conditions"):
		return "'True'", nil
	default:
		return "", nil
	}
}

const (
	node       = "paddle-volcano-control-plane"
	kubernetes = "v1.34.11"
	adminConf  = `apiVersion: v1
kind: Config
clusters: [{name: kubernetes, cluster: {server: "https://paddle-volcano-control-plane:6443"}}]
contexts: [{name: kubernetes-admin@kubernetes, context: {cluster: kubernetes, user: kubernetes-admin}}]
users: [{name: kubernetes-admin, user: {token: none}}]
current-context: kubernetes-admin@kubernetes`
)
