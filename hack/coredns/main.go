// SPDX-License-Identifier: Apache-2.0

// Command coredns is CoreDNS with the plugins that the sandbox's real node and kubeadm's Corefile name, and no others.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"

	// Each registers itself.
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/forward"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/hosts"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/loadbalance"
	_ "github.com/coredns/coredns/plugin/log"
	_ "github.com/coredns/coredns/plugin/loop"
	_ "github.com/coredns/coredns/plugin/metrics"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/reload"
)

func main() {
	// The order in which plugins see a query, as CoreDNS itself has it.
	dnsserver.Directives = []string{
		"reload", "bind", "ready", "health", "prometheus", "errors", "log", "loadbalance", "cache", "hosts", "kubernetes", "loop", "forward",
	}
	coremain.Run()
}
