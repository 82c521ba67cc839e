// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// Known are the objects that are there now, as "podgroups/g1": they have been made anew since the plan was written down.
type Known map[string]metav1.ObjectMeta

// versionMark stands where an update has the version of what it changes, which is known when the one before is answered.
const versionMark = "version-of-the-one-before"

// ready is a write with its body as it is sent.
type ready struct {
	write
	verb, media string
	text        []byte
}

// Play is a plan that is ready to be played: nothing is left to do but to write.
type Play struct {
	chains   [][]ready
	versions []string // at first, of the object of each chain
}

// Ready puts in which objects there are now.
func (p Plan) Ready(known Known) (*Play, error) {
	play := &Play{}
	for _, c := range p.chains {
		var done []ready
		version := ""
		for _, w := range c {
			r, err := w.ready(known)
			if err != nil {
				return nil, fmt.Errorf("repeat %s of %s: %w", w.what, w.of, err)
			}
			if r.verb == http.MethodPut && version == "" {
				version = known[w.of].ResourceVersion
			}
			done = append(done, r)
		}
		play.chains, play.versions = append(play.chains, done), append(play.versions, version)
	}
	return play, nil
}

func (w write) ready(known Known) (ready, error) {
	r := ready{write: w, media: "application/json"}
	switch verb, _, _ := strings.Cut(w.what, " "); verb {
	case "create":
		r.verb = http.MethodPost
	case "update":
		r.verb = http.MethodPut
	case "patch":
		r.verb, r.media = http.MethodPatch, string(types.StrategicMergePatchType)
	default:
		return ready{}, fmt.Errorf("no scheduler was expected to %s", verb)
	}
	if r.verb == http.MethodPut || w.binds {
		now, ok := known[w.of]
		if !ok {
			return ready{}, errors.New("it is not there")
		}
		if meta, ok := w.body["metadata"].(map[string]any); ok {
			meta["uid"] = string(now.UID)
			delete(meta, "resourceVersion") // Kubernetes' own objects may be updated without one
			if r.verb == http.MethodPut && !strings.HasPrefix(w.of, "pods/") {
				meta["resourceVersion"] = versionMark
			}
		}
	}
	var err error
	r.text, err = json.Marshal(w.body)
	return r, err
}

// Run makes the writes by a client without limits of its own, so many chains at a time.
func (p *Play) Run(ctx context.Context, client rest.Interface, concurrency int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrency)
	for i, chain := range p.chains {
		group.Go(func() error {
			version := p.versions[i]
			for _, w := range chain {
				next, err := w.send(ctx, client, version)
				if err != nil {
					return fmt.Errorf("repeat %s of %s: %w", w.what, w.of, err)
				}
				version = next
			}
			return nil
		})
		if ctx.Err() != nil {
			break
		}
	}
	return group.Wait()
}

// send returns the version that the chain's object has then.
func (w *ready) send(ctx context.Context, client rest.Interface, version string) (string, error) {
	text := w.text
	if w.verb == http.MethodPut {
		text = bytes.Replace(text, []byte(versionMark), []byte(version), 1)
	}
	answer, err := client.Verb(w.verb).RequestURI(w.uri).SetHeader("Content-Type", w.media).Body(text).DoRaw(ctx)
	if err != nil || w.verb != http.MethodPut {
		return version, err
	}
	var now metav1.PartialObjectMetadata
	if err := json.Unmarshal(answer, &now); err != nil {
		return "", fmt.Errorf("read the answer: %w", err)
	}
	return now.ResourceVersion, nil
}
