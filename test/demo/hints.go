// SPDX-License-Identifier: Apache-2.0

package demo

import "fmt"

const next = `
Try next:
  go run ./cmd/paddle-demo --keep        the same, and the cluster stays up for your kubectl
  go run ./cmd/paddle-sandbox up --help  a cluster of your own: its size, its racks, how long workers train
  deploy/README.md                       the jobs that you saw, and how to install this on a real cluster`

// whileKept says what can be done with the sandbox that stays.
func whileKept(kubeconfig string) string {
	return fmt.Sprintf(`
The sandbox stays up until ^C. In another terminal:
  export KUBECONFIG=%s
  kubectl get pdj -A -o wide
  kubectl -n too-large describe pdj too-large
  kubectl create -f deploy/examples/wide_and_deep.yaml
  kubectl get pdj,pods -o wide`, kubeconfig)
}

const nextAfterReal = `
Try next:
  go run ./cmd/paddle-demo --real --keep        the same, and the cluster stays up for your kubectl
  go run ./cmd/paddle-sandbox up --real --help  a cluster of your own with a real node, for images of your own
  make test-real                                every published job on such a node`

// whileRealIsKept says what can be done with the sandbox that stays.
func whileRealIsKept(kubeconfig, namespace, job string) string {
	return fmt.Sprintf(`
The sandbox stays up until ^C. In another terminal:
  export KUBECONFIG=%s
  kubectl -n %s get pdj,pods -o wide
  kubectl -n %s logs %s-worker-0
  kubectl -n %s logs %s-worker-0 -c paddle-barrier
  kubectl -n %s describe pdj %s`, kubeconfig, namespace, namespace, job, namespace, job, namespace, job)
}
