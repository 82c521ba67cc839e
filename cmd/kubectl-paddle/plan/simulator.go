// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
)

// Simulator answers requests. Errors may wrap ErrNotFound and ErrPlaced.
type Simulator func(ctx context.Context, request *Request) (*Response, error)

// Program is the name of the program that has the scheduler in it.
const Program = "paddle-simulator"

// Version returns the version of this program.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}

// RunProgram is the Simulator that runs Program.
func RunProgram(ctx context.Context, request *Request) (*Response, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	program, err := find(executable)
	if err != nil {
		return nil, err
	}
	request.Version = Version()
	text, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("write the request to %s: %w", Program, err)
	}
	cmd := exec.CommandContext(ctx, program) //nolint:gosec // what find has found
	cmd.Stdin, cmd.Stderr = bytes.NewReader(text), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", program, err)
	}
	response := &Response{}
	if err := json.Unmarshal(out, response); err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", program, err)
	}
	if response.Error != nil {
		return nil, response.Error
	}
	return response, nil
}

// find finds Program in the folder of this program, or else in PATH.
func find(executable string) (string, error) {
	if target, err := filepath.EvalSymlinks(executable); err == nil {
		executable = target
	}
	if beside, err := exec.LookPath(filepath.Join(filepath.Dir(executable), Program)); err == nil {
		return beside, nil
	}
	found, err := exec.LookPath(Program)
	if err != nil {
		return "", fmt.Errorf("%s, which has the scheduler in it, is neither in the folder of %s nor in PATH: copy it there from where kubectl-paddle comes from (make kubectl builds both): %w",
			Program, filepath.Base(executable), err)
	}
	return found, nil
}
