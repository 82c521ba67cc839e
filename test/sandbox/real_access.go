// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"net"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/node"
)

// coreDNSUser is CoreDNS's name, to which coreDNSRights are bound.
const coreDNSUser = "paddle-sandbox:coredns"

// writeNodePKI writes the kubelet's own certificate, and the one with which the API server asks it for logs.
func (st *starter) writeNodePKI() error {
	kubelet, err := st.ca.server("system:node:"+RealNode, []string{RealNode}, net.IP(node.Address.Addr().AsSlice()))
	if err != nil {
		return err
	}
	asker, err := st.ca.client("kube-apiserver-kubelet-client", "system:masters")
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"kubelet.crt": kubelet.cert, "kubelet.key": kubelet.key, "kubelet-client.crt": asker.cert, "kubelet-client.key": asker.key,
	} {
		if err := os.WriteFile(st.layout.pki(name), data, 0o600); err != nil {
			return fmt.Errorf("write the real node's certificates: %w", err)
		}
	}
	return nil
}

// realAPIServerArgs let the API server give the kubelet its rights, and reach it.
func (st *starter) realAPIServerArgs() []string {
	if st.options.Real == nil {
		return nil
	}
	return flags{
		// Beside RBAC, which is there already.
		"authorization-mode":         "Node",
		"kubelet-client-certificate": st.layout.pki("kubelet-client.crt"), "kubelet-client-key": st.layout.pki("kubelet-client.key"),
		"kubelet-certificate-authority": st.layout.pki("ca.crt"), "kubelet-preferred-address-types": "InternalIP",
	}.args()
}

// realKwokArgs keep kwok from playing the real kubelet.
func (st *starter) realKwokArgs() []string {
	if st.options.Real == nil {
		return nil
	}
	return flags{"manage-all-nodes": "false", "manage-nodes-with-annotation-selector": kwokNode + "=" + kwokNodeValue}.args()
}

func coreDNSRights() []*unstructured.Unstructured {
	rule := func(group string, resources ...string) map[string]any {
		return map[string]any{"apiGroups": []any{group}, "resources": anys(resources), "verbs": []any{"list", "watch"}}
	}
	return []*unstructured.Unstructured{
		{Object: map[string]any{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": map[string]any{"name": coreDNSUser},
			"rules": []any{rule("", "services", "endpoints", "pods", "namespaces"), rule("discovery.k8s.io", "endpointslices")},
		}},
		{Object: map[string]any{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": map[string]any{"name": coreDNSUser},
			"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": coreDNSUser},
			"subjects": []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": coreDNSUser}},
		}},
	}
}
