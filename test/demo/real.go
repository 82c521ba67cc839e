// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/image"
)

const (
	// stepTime makes each training step last so long that one can watch.
	stepTime = 100 * time.Millisecond
	// realImage is the image that the first job names, and realWorkers are its workers.
	realImage   = "registry.baidubce.com/paddle-operator/demo-wide-and-deep:v1"
	realWorkers = 2
)

const nextAfterReal = `
Try next:
  go run ./cmd/paddle-demo --real --keep        the same, and the cluster stays up for your kubectl
  go run ./cmd/paddle-sandbox up --real --help  a cluster of your own with a real node, for images of your own
  make test-real                                every published job on such a node`

// RunReal is [Run] on a real node, with the first job alone: its program really trains, and its workers' logs are shown.
// The error is a [*box.UnsupportedError] where the machine does not allow a real node.
func RunReal(ctx context.Context, o Options) (err error) {
	if err := sandbox.RealAllowed(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "paddle-demo-")
	if err != nil {
		return fmt.Errorf("make a folder for the trainer's image: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	root, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return fmt.Errorf("find the clone of paddle-volcano: %w", err)
	}
	fmt.Fprintf(o.Out, "packing the trainer (test/trainer) as %s\n", realImage) //nolint:errcheck // see say
	archive := filepath.Join(dir, "trainer.tar")
	trainer := image.Options{Env: []string{"TRAINER_STEP_TIME=" + stepTime.String()}, Names: []string{image.Full(realImage)}}
	if err := image.Build(ctx, filepath.Dir(strings.TrimSpace(string(root))), archive, trainer); err != nil {
		return err
	}
	options := sandbox.Options{Real: &sandbox.Real{Images: []string{archive}}}
	return o.run(ctx, options, nextAfterReal, func(ctx context.Context, d *demo) ([]string, error) {
		j := jobs()[0]
		d.say("\nsubmitting the documentation's %s to node %s", j.files[0], sandbox.RealNode)
		if err := d.submit(ctx, j); err != nil {
			return nil, err
		}
		if err := d.Until(ctx, "the workers' pods", func(ctx context.Context) error {
			pods, err := d.Kube.CoreV1().Pods(j.namespace).List(ctx, metav1.ListOptions{LabelSelector: v1.JobNameLabel + "=" + j.name})
			if err == nil && len(pods.Items) < realWorkers {
				err = fmt.Errorf("there are %d pods", len(pods.Items))
			}
			return err
		}); err != nil {
			return nil, err
		}
		log := d.kubectlPaddle(ctx, "logs", "-n", j.namespace, j.name, "--follow")
		fault, err := d.end(ctx, j)
		if err != nil {
			return nil, err
		}
		d.kubectlPaddle(ctx, "get", "-n", j.namespace, j.name)
		var faults []string
		for _, fault := range []error{fault, lossFault(log)} {
			if fault != nil {
				faults = append(faults, fmt.Sprintf("%s: %v", j.namespace, fault))
			}
		}
		return faults, nil
	})
}

var trainedLine = regexp.MustCompile(`(?m)^\[(worker-\d+)\] trained: loss ([\d.]+) -> ([\d.]+),`)

// lossFault returns an error unless each worker's log ends with a loss that has fallen.
func lossFault(log string) error {
	trained := trainedLine.FindAllStringSubmatch(log, -1)
	if len(trained) != realWorkers {
		return fmt.Errorf("%d of %d workers say that they have trained", len(trained), realWorkers)
	}
	for _, found := range trained {
		first, err := strconv.ParseFloat(found[2], 64)
		if err != nil {
			return err
		}
		last, err := strconv.ParseFloat(found[3], 64)
		if err != nil {
			return err
		}
		if last >= first {
			return fmt.Errorf("the loss of %s has not fallen: %s -> %s", found[1], found[2], found[3])
		}
	}
	return nil
}
