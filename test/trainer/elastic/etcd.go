// SPDX-License-Identifier: Apache-2.0

package elastic

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

// etcd is a client of etcd's JSON gateway.
type etcd struct {
	endpoint string
	net      *wire.Net
	http     *http.Client
}

func newEtcd(network *wire.Net, endpoint string) *etcd {
	dial := func(ctx context.Context, _, address string) (net.Conn, error) { return network.DialOnce(ctx, address) }
	return &etcd{endpoint: endpoint, net: network, http: &http.Client{Transport: &http.Transport{DialContext: dial}, Timeout: 5 * time.Second}}
}

func (e *etcd) close() { e.http.CloseIdleConnections() }

// entry is a key with its value. Created is the revision of the store at which the key was created.
type entry struct {
	Key     []byte `json:"key"`
	Value   []byte `json:"value"`
	Created int64  `json:"create_revision,string"`
}

// call waits for etcd to answer, and does not try again what it refuses.
func (e *etcd) call(ctx context.Context, path string, request, response any) error {
	text, err := json.Marshal(request)
	if err != nil {
		return err
	}
	return e.net.Await(ctx, "etcd at "+e.endpoint, func(ctx context.Context) error {
		post, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+e.endpoint+"/v3/"+path, bytes.NewReader(text))
		if err != nil {
			return wire.FinalError{Err: err}
		}
		answer, err := e.http.Do(post)
		if err != nil {
			return err
		}
		defer func() { _ = answer.Body.Close() }()
		body, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
		switch {
		case err != nil:
			return err
		case answer.StatusCode >= http.StatusInternalServerError:
			return fmt.Errorf("%s: %s: %s", path, answer.Status, body)
		case answer.StatusCode != http.StatusOK:
			return wire.FinalError{Err: fmt.Errorf("%s: %s: %s", path, answer.Status, body)}
		}
		if err := json.Unmarshal(body, response); err != nil {
			return wire.FinalError{Err: fmt.Errorf("%s: %w: %s", path, err, body)}
		}
		return nil
	})
}

// list returns all entries whose keys begin with the prefix.
func (e *etcd) list(ctx context.Context, prefix string) ([]entry, error) {
	end := []byte(prefix)
	end[len(end)-1]++ // the first key behind all of them; a prefix ends in a slash
	var found struct {
		Entries []entry `json:"kvs"`
	}
	err := e.call(ctx, "kv/range", map[string][]byte{"key": []byte(prefix), "range_end": end}, &found)
	return found.Entries, err
}

// put writes an entry, which etcd deletes when the lease ends.
func (e *etcd) put(ctx context.Context, key, value string, lease int64) error {
	return e.call(ctx, "kv/put", struct {
		Key   []byte `json:"key"`
		Value []byte `json:"value"`
		Lease int64  `json:"lease,string"`
	}{[]byte(key), []byte(value), lease}, &struct{}{})
}

// lease is what entries live on.
type lease struct {
	ID  int64 `json:"ID,string"`
	TTL int64 `json:"TTL,string"`
}

func (e *etcd) grant(ctx context.Context, ttl time.Duration) (int64, error) {
	var granted lease
	err := e.call(ctx, "lease/grant", lease{TTL: int64(ttl.Seconds())}, &granted)
	return granted.ID, err
}

// keep renews a lease.
func (e *etcd) keep(ctx context.Context, id int64) error {
	var answer struct {
		Result lease `json:"result"`
	}
	err := e.call(ctx, "lease/keepalive", lease{ID: id}, &answer)
	if err == nil && answer.Result.TTL <= 0 {
		err = fmt.Errorf("the lease in etcd at %s has run out", e.endpoint)
	}
	return err
}

// revoke ends a lease, and all that lives on it.
func (e *etcd) revoke(ctx context.Context, id int64) error {
	return e.call(ctx, "lease/revoke", lease{ID: id}, &struct{}{})
}
