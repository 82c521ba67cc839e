// SPDX-License-Identifier: Apache-2.0

package pluginso

import (
	"fmt"
	"io"
	"net/http"
)

// emptyCluster answers a scheduler as an API server without any object does: lists are empty, nothing ever changes, and
// what is created is there.
func emptyCluster(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch query := r.URL.Query(); {
	case r.URL.Path == "/version":
		write(w, `{"major": "1", "minor": "34", "gitVersion": "v1.34.1"}`)
	case r.Method == http.MethodPost:
		w.WriteHeader(http.StatusCreated)
		if _, err := io.Copy(w, r.Body); err != nil {
			panic(http.ErrAbortHandler)
		}
	case query.Get("sendInitialEvents") == "true": // a list that is asked for as a watch; clients then ask for a list
		w.WriteHeader(http.StatusUnprocessableEntity)
		write(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Invalid", "code": 422}`)
	case query.Get("watch") == "true":
		w.WriteHeader(http.StatusOK)
		if err := http.NewResponseController(w).Flush(); err != nil {
			panic(http.ErrAbortHandler)
		}
		<-r.Context().Done()
	default: // clients know the kind of the list
		write(w, `{"metadata": {"resourceVersion": "1"}, "items": []}`)
	}
}

func write(w io.Writer, text string) {
	if _, err := fmt.Fprint(w, text); err != nil {
		panic(http.ErrAbortHandler) // the client is gone
	}
}
