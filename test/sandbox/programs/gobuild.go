// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// compile builds binaries of one module into a folder with one go build, which keeps all cores busy, and says how far it is, since it can take
// minutes.
func (b *builder) compile(ctx context.Context, module string, items []Program, flags []string, into string) error {
	dir := filepath.Join(b.root, module)
	var names, packages []string
	for _, item := range items {
		names, packages = append(names, item.Name), append(packages, item.Package)
	}
	what := strings.Join(names, ", ")
	start := time.Now()
	var log buildLog
	finished, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		b.tell(ctx, dir, packages, what, &log, finished)
	}()
	cmd := goCommand(ctx, dir, slices.Concat([]string{"build", "-v"}, flags, []string{"-o", into + "/"}, packages)...)
	cmd.Stderr = &log
	err := cmd.Run()
	close(finished)
	<-stopped
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("build %s in %s: %w\n%s", what, dir, err, log.messages())
	}
	if took := time.Since(start); took > brief {
		b.say("built %s in %s", what, took.Round(time.Second))
	}
	return nil
}

// brief is what builds take whose packages are all in Go's cache. They are not announced.
const brief = 5 * time.Second

// tell announces a build that is not brief, and says every half minute how far it is.
func (b *builder) tell(ctx context.Context, dir string, packages []string, what string, log *buildLog, finished <-chan struct{}) {
	select {
	case <-finished:
		return
	case <-time.After(brief):
	}
	b.say("building %s", what)
	total := "?"
	if deps, err := goOutput(ctx, dir, append([]string{"list", "-deps"}, packages...)...); err == nil {
		total = strconv.Itoa(strings.Count(deps, "\n") + 1)
	}
	for start := time.Now(); ; {
		select {
		case <-finished:
			return
		case <-time.After(30 * time.Second):
			compiled, modules := log.counts()
			b.say("%s: %d modules downloaded, %d of at most %s packages compiled", time.Since(start).Round(time.Second)+brief, modules, compiled, total)
		}
	}
}

// buildLog is what go build -v prints: a line with the path of each package that it compiles, and messages.
type buildLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *buildLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *buildLog) lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Split(strings.TrimSpace(l.text.String()), "\n")
}

func (l *buildLog) counts() (compiled, modules int) {
	for _, line := range l.lines() {
		switch {
		case strings.HasPrefix(line, "go: downloading "):
			modules++
		case !strings.Contains(line, " "):
			compiled++
		}
	}
	return compiled, modules
}

func (l *buildLog) messages() string {
	var messages []string
	for _, line := range l.lines() {
		if strings.Contains(line, " ") && !strings.HasPrefix(line, "go: downloading ") {
			messages = append(messages, line)
		}
	}
	return strings.Join(messages, "\n")
}

// goCommand returns a run of the go command in a folder.
func goCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	// The compilers are the go command's children: a cancelled build ends them all.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

// goOutput runs the go command in a folder and returns what it printed, without the last line end.
func goOutput(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := goCommand(ctx, dir, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", fmt.Errorf("go %s in %s: %w\n%s", strings.Join(args, " "), dir, err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
}
