// SPDX-License-Identifier: Apache-2.0

package node

import "fmt"

func (n Node) corefile() string { return n.file("Corefile") }

func (n Node) resolvConf() string { return n.file("resolv.conf") }

// CoreDNSArgs start CoreDNS.
func (n Node) CoreDNSArgs() []string { return []string{"-conf", n.corefile()} }

// CoreDNSKubeconfig returns the file from which CoreDNS takes who it is.
func (n Node) CoreDNSKubeconfig() string { return n.file("coredns.kubeconfig") }

// coreDNS answers for the cluster's names, and for no others: the box leads nowhere. That a name is unknown is not
// remembered, or a pod that asks for a peer too early would wait for longer than the peer needs.
func (n Node) coreDNS() string {
	return fmt.Sprintf(`.:53 {
  bind %s
  errors
  ready 127.0.0.1:%d
  cache 5 {
    disable denial
  }
  kubernetes cluster.local in-addr.arpa {
    kubeconfig %s
    ttl 1
  }
}
`, Address.Addr(), n.DNSReady, n.CoreDNSKubeconfig())
}

// resolvConf is for pods that do not want the cluster's names first.
func resolvConf() string { return fmt.Sprintf("nameserver %s\n", Address.Addr()) }
