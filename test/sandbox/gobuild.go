// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// compile runs go build and says how it goes on, since it can take minutes.
func (b *builder) compile(ctx context.Context, item build, target, linkerFlags, position string) error {
	start := time.Now()
	// What the caches hold is built in seconds and is no news.
	announce := time.AfterFunc(3*time.Second, func() {
		b.progress.say("building %s (%s; up to %g min the first time on two cores)", item.name, position, item.cold.Minutes())
	})
	defer announce.Stop()
	done := make(chan struct{})
	defer close(done)
	go func() {
		ticker := time.NewTicker(30 * time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				b.progress.say("still building %s (%s so far)", item.name, time.Since(start).Round(time.Second))
			}
		}
	}()
	if _, err := goOutput(ctx, filepath.Join(b.root, item.module), "build", "-ldflags", linkerFlags, "-o", target, item.pkg); err != nil {
		return fmt.Errorf("build %s: %w", item.name, err)
	}
	if took := time.Since(start); took > 3*time.Second {
		b.progress.say("built %s in %s", item.name, took.Round(time.Second))
	}
	return nil
}

// goOutput runs the go command in a folder and returns what it printed, without the last line end.
func goOutput(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	// The compilers are the go command's children: a cancelled build ends them all.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
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

// moduleDir is where the root module's dependency lies on this machine.
func moduleDir(ctx context.Context, root, module string) (string, error) {
	if _, err := goOutput(ctx, root, "mod", "download", module); err != nil {
		return "", err
	}
	return goOutput(ctx, root, "list", "-m", "-f", "{{.Dir}}", module)
}
