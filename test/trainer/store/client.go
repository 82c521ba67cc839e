// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

// Client talks to a store, and waits for it and for its entries.
type Client struct {
	what, endpoint string
	net            *wire.Net
	http           *http.Client
}

// NewClient is a client of the store at an endpoint, which errors call what.
func NewClient(network *wire.Net, what, endpoint string) *Client {
	dial := func(ctx context.Context, _, address string) (net.Conn, error) { return network.DialOnce(ctx, address) }
	return &Client{what: what, endpoint: endpoint, net: network, http: &http.Client{Transport: &http.Transport{DialContext: dial}}}
}

// Close ends the client's connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Put writes an entry.
func (c *Client) Put(ctx context.Context, key, text string) error {
	return c.net.Await(ctx, fmt.Sprintf("%s at %s", c.what, c.endpoint), func(ctx context.Context) error {
		_, err := c.once(ctx, http.MethodPut, key, text)
		return err
	})
}

// Get waits for an entry.
func (c *Client) Get(ctx context.Context, key string) (text string, err error) {
	err = c.net.Await(ctx, fmt.Sprintf("%s in %s at %s", key, c.what, c.endpoint), func(ctx context.Context) (err error) {
		text, err = c.once(ctx, http.MethodGet, key, "")
		return err
	})
	return text, err
}

// Folder waits until a folder's entries are enough, and returns them by their keys.
func (c *Client) Folder(ctx context.Context, folder string, enough func(map[string]string) error) (entries map[string]string, err error) {
	err = c.net.Await(ctx, fmt.Sprintf("%s/ in %s at %s", folder, c.what, c.endpoint), func(ctx context.Context) error {
		text, err := c.once(ctx, http.MethodGet, folder+"/", "")
		if err != nil {
			return err
		}
		found := map[string]string{}
		if err := json.Unmarshal([]byte(text), &found); err != nil {
			return wire.FinalError{Err: fmt.Errorf("%s at %s does not answer as a store: %w", c.what, c.endpoint, err)}
		}
		entries = found
		return enough(entries)
	})
	return entries, err
}

func (c *Client) once(ctx context.Context, method, key, text string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+c.endpoint+"/"+key, strings.NewReader(text))
	if err != nil {
		return "", wire.FinalError{Err: err}
	}
	response, err := c.http.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, largest))
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s", method, key, response.Status)
	}
	return string(body), err
}
