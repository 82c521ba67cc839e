// SPDX-License-Identifier: Apache-2.0

// Package manifest reads PaddleJobs from text, strictly, and suggests names for unknown fields. It makes no API calls.
package manifest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/client/clientset/versioned/scheme"
)

// Document is a PaddleJob and the place of its text.
type Document struct {
	Job   *v1.PaddleJob
	Where string
}

// Read reads PaddleJobs in YAML or JSON, several of them between lines of ---. The error has all faults.
func Read(in io.Reader, source string) ([]Document, error) {
	decoder := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, json.SerializerOptions{Yaml: true, Strict: true})
	reader := yaml.NewYAMLReader(bufio.NewReader(in))
	var documents []Document
	var errs []error
	for {
		text, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", source, err)
		}
		if empty(text) {
			continue
		}
		where := source
		if n := len(documents) + len(errs); n > 0 {
			where = fmt.Sprintf("%s, document %d", source, n+1)
		}
		job, err := decode(decoder, text)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", where, err))
			continue
		}
		documents = append(documents, Document{Job: job, Where: where})
	}
	if len(errs) == 0 && len(documents) == 0 {
		return nil, fmt.Errorf("%s holds no PaddleJob: it is empty", source)
	}
	return documents, errors.Join(errs...)
}

// empty reports whether a document has nothing but comments.
func empty(text []byte) bool {
	var value any
	return len(bytes.TrimSpace(text)) == 0 || sigsyaml.Unmarshal(text, &value) == nil && value == nil
}

func decode(decoder runtime.Decoder, text []byte) (*v1.PaddleJob, error) {
	object, kind, err := decoder.Decode(text, nil, nil)
	strict, isStrict := runtime.AsStrictDecodingError(err)
	switch {
	case isStrict:
		return nil, explained(strict.Errors())
	case runtime.IsMissingKind(err), runtime.IsMissingVersion(err):
		return nil, fmt.Errorf("no apiVersion or no kind: a PaddleJob begins with apiVersion: %s and kind: PaddleJob", v1.SchemeGroupVersion)
	case runtime.IsNotRegisteredError(err):
		return nil, fmt.Errorf("it is a %s of %s, and only PaddleJobs of %s are submitted here: use kubectl create -f for it",
			kind.Kind, kind.GroupVersion(), v1.SchemeGroupVersion)
	case err != nil:
		return nil, err
	}
	job, ok := object.(*v1.PaddleJob)
	if !ok {
		return nil, fmt.Errorf("it is a %s, and only PaddleJobs are submitted here: use kubectl create -f for it", kind.Kind)
	}
	return job, nil
}

var unknown = regexp.MustCompile(`^unknown field "(.*)"$`)

// explained adds a suggestion to each unknown field.
func explained(unread []error) error {
	var errs []error
	for _, err := range unread {
		if m := unknown.FindStringSubmatch(err.Error()); m != nil {
			if hint := Hint(m[1]); hint != "" {
				err = fmt.Errorf("%w: %s", err, hint)
			}
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
