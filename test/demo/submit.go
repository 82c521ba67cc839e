// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
)

// submitter hands one job after the other to the API server.
type submitter struct {
	cluster *live.Plane
	objects *manifests.Client
	// warned holds what the API server warned of since it was last read.
	warned warnings
}

func newSubmitter(cluster *live.Plane) (*submitter, error) {
	s := &submitter{cluster: cluster}
	config := cluster.RESTConfig()
	config.WarningHandler = &s.warned
	var err error
	s.objects, err = manifests.NewClient(config)
	return s, err
}

// submit creates the job's objects in a namespace of their own, as kubectl create would, and returns the warnings that
// kubectl would print.
func (s *submitter) submit(ctx context.Context, job Job) ([]string, error) {
	files, err := job.objects()
	if err != nil {
		return nil, err
	}
	if err := s.cluster.MakeNamespace(ctx, job.Name); err != nil {
		return nil, err
	}
	s.warned = nil
	if _, err := s.objects.Create(ctx, job.Name, metav1.CreateOptions{}, files...); err != nil {
		return nil, fmt.Errorf("submit %s: %w", job.Name, err)
	}
	return s.warned, nil
}

// warnings are those of requests that follow each other.
type warnings []string

// warningCode is the only one in use that says something; see RFC 7234, 5.5.
const warningCode = 299

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(code int, _, text string) {
	if code == warningCode && text != "" {
		*w = append(*w, text)
	}
}
