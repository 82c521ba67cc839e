// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// server answers PUT, GET and DELETE of /key. A key that ends in a slash is a folder, of which GET returns all entries.
type server struct {
	mu      sync.Mutex
	entries map[string]string
}

// largest bounds a text, in bytes.
const largest = 1 << 20

// Serve serves a store until the context is done.
func Serve(ctx context.Context, listener net.Listener) {
	handler := &http.Server{Handler: &server{entries: map[string]string{}}, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = handler.Close() })
	defer stop()
	_ = handler.Serve(listener) // it always ends with an error
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := strings.TrimPrefix(r.URL.Path, "/")
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.Method {
	case http.MethodPut:
		text, err := io.ReadAll(io.LimitReader(r.Body, largest))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.entries[key] = string(text)
	case http.MethodDelete:
		delete(s.entries, key)
	case http.MethodGet:
		if strings.HasSuffix(key, "/") {
			found := map[string]string{}
			for name, text := range s.entries {
				if strings.HasPrefix(name, key) {
					found[name] = text
				}
			}
			text, err := json.Marshal(found)
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			_, _ = w.Write(text) // the client notices
			return
		}
		text, ok := s.entries[key]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, text) // the client notices
	default:
		http.Error(w, r.Method, http.StatusMethodNotAllowed)
	}
}
