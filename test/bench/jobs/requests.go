// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/client-go/kubernetes"

	"github.com/paddle-volcano/paddle-volcano/test/live"
)

// requests are the writes that the API server has answered since it began, by verb and resource, such as "PATCH pods/status",
// whoever wrote (its metric apiserver_request_total).
func requests(ctx context.Context, kube kubernetes.Interface) (map[string]int, error) {
	text, err := kube.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask the API server how much was written: %w", err)
	}
	metrics, err := live.ParseMetrics(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("read how much was written: %w", err)
	}
	return writesOf(metrics), nil
}

var label = regexp.MustCompile(`(\w+)="([^"]*)"`)

func writesOf(metrics map[string]float64) map[string]int {
	writes := map[string]int{}
	for name, value := range metrics {
		if !strings.HasPrefix(name, "apiserver_request_total{") {
			continue
		}
		labels := map[string]string{}
		for _, pair := range label.FindAllStringSubmatch(name, -1) {
			labels[pair[1]] = pair[2]
		}
		what := labels["verb"] + " " + labels["resource"]
		if labels["subresource"] != "" {
			what += "/" + labels["subresource"]
		}
		switch labels["verb"] {
		case "POST", "PUT", "PATCH", "APPLY", "DELETE":
			writes[what] += int(value)
		}
	}
	return writes
}

// less is what came after before.
func less(now, before map[string]int) map[string]int {
	since := map[string]int{}
	for what, n := range now {
		if n > before[what] {
			since[what] = n - before[what]
		}
	}
	return since
}
