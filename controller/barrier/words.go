// SPDX-License-Identifier: Apache-2.0

package barrier

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// maxNames is how many names a line has.
const maxNames = 8

// missingWords says which names are missing, and how many of them would do.
func (w *waiter) missingWords(missing []string) string {
	text := fmt.Sprintf("%d of %s not found yet: %s", len(missing), peersWords(w.total()), nameWords(missing))
	if needed := w.needed(); needed < len(missing) {
		text += fmt.Sprintf("; %d of them would be enough", needed)
	}
	if len(w.other) > 0 {
		text += fmt.Sprintf("; %s resolves to %s, which is not this pod", w.task.Own, addressWords(w.other))
	}
	var unknown *net.DNSError
	if w.trouble != nil && (!errors.As(w.trouble, &unknown) || !unknown.IsNotFound) {
		text += fmt.Sprintf("; DNS says: %v", w.trouble)
	}
	return text
}

func (w *waiter) foundWords() string {
	found := 0
	for _, known := range w.found {
		if known {
			found++
		}
	}
	if all := w.total(); found < all {
		return fmt.Sprintf("%d of %s are found, which is enough", found, peersWords(all))
	}
	return fmt.Sprintf("all of %s are found", peersWords(found))
}

// total is the number of peers, this pod included.
func (w *waiter) total() int {
	all := map[string]bool{}
	for _, peers := range w.task.Peers {
		for _, host := range peers.Hosts {
			all[host] = true
		}
	}
	return len(all)
}

// needed is how many more names must be found at least.
func (w *waiter) needed() int {
	needed := 0
	own := !w.found[w.task.Own]
	for _, peers := range w.task.Peers {
		if w.enough(peers) {
			continue
		}
		found := 0
		for _, host := range peers.Hosts {
			if w.found[host] {
				found++
			} else if host == w.task.Own {
				own = false // one of those that are needed
			}
		}
		needed += max(1, peers.Least-found)
	}
	if own {
		needed++
	}
	return needed
}

func peersWords(n int) string {
	if n == 1 {
		return "1 peer"
	}
	return fmt.Sprintf("%d peers", n)
}

func nameWords(names []string) string {
	if more := len(names) - maxNames; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNames], ", "), more)
	}
	return strings.Join(names, ", ")
}

func addressWords(addresses []netip.Addr) string {
	all := make([]string, len(addresses))
	for i, address := range addresses {
		all[i] = address.String()
	}
	return strings.Join(all, ", ")
}
