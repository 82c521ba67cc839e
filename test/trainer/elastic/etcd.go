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
	"strconv"
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

// call waits for etcd to answer, and does not try again what etcd refuses.
func call[T any](ctx context.Context, e *etcd, path string, request any) (answer T, err error) {
	text, err := json.Marshal(request)
	if err != nil {
		return answer, err
	}
	err = e.net.Await(ctx, "etcd at "+e.endpoint, func(ctx context.Context) error {
		post, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+e.endpoint+"/v3/"+path, bytes.NewReader(text))
		if err != nil {
			return wire.FinalError{Err: err}
		}
		response, err := e.http.Do(post)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
		if err != nil {
			return err
		}
		if response.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s: %s: %s", path, response.Status, body)
		} else {
			err = json.Unmarshal(body, &answer)
		}
		if err != nil && response.StatusCode < http.StatusInternalServerError {
			return wire.FinalError{Err: err}
		}
		return err
	})
	return answer, err
}

// list returns all entries whose keys begin with the prefix.
func (e *etcd) list(ctx context.Context, prefix string) ([]entry, error) {
	end := []byte(prefix)
	end[len(end)-1]++ // the first key behind all of them; a prefix ends in a slash
	found, err := call[struct{ KVs []entry }](ctx, e, "kv/range", map[string][]byte{"key": []byte(prefix), "range_end": end})
	return found.KVs, err
}

// put writes an entry, which etcd deletes when the lease ends.
func (e *etcd) put(ctx context.Context, key, value string, lease int64) error {
	_, err := call[struct{}](ctx, e, "kv/put", map[string]any{"key": []byte(key), "value": []byte(value), "lease": strconv.FormatInt(lease, 10)})
	return err
}

// lease is what entries live on.
type lease struct {
	ID  int64 `json:"ID,string"`
	TTL int64 `json:"TTL,string"`
}

func (e *etcd) grant(ctx context.Context, ttl time.Duration) (int64, error) {
	granted, err := call[lease](ctx, e, "lease/grant", lease{TTL: int64(ttl.Seconds())})
	return granted.ID, err
}

// keep renews a lease.
func (e *etcd) keep(ctx context.Context, id int64) error {
	answer, err := call[struct{ Result lease }](ctx, e, "lease/keepalive", lease{ID: id})
	if err == nil && answer.Result.TTL <= 0 {
		err = fmt.Errorf("the lease in etcd at %s has run out", e.endpoint)
	}
	return err
}

// revoke ends a lease, and all entries that live on it.
func (e *etcd) revoke(ctx context.Context, id int64) error {
	_, err := call[struct{}](ctx, e, "lease/revoke", lease{ID: id})
	return err
}
