// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// layout knows where in the state folder everything is. Paths are absolute.
type layout string

func (l layout) marker() string          { return filepath.Join(string(l), "sandbox.json") }
func (l layout) lock() string            { return filepath.Join(string(l), "lock") }
func (l layout) adminKubeconfig() string { return filepath.Join(string(l), "kubeconfig") }
func (l layout) schedulerConf() string   { return filepath.Join(string(l), "volcano-scheduler.conf") }
func (l layout) volcanoConf() string     { return filepath.Join(string(l), "volcano-scheduler.stock.conf") }
func (l layout) kwokConf() string        { return filepath.Join(string(l), "kwok.yaml") }
func (l layout) recyclerPod() string     { return filepath.Join(string(l), "recycler.yaml") }
func (l layout) etcdData() string        { return filepath.Join(string(l), "etcd") }
func (l layout) pki(name string) string  { return filepath.Join(string(l), "pki", name) }
func (l layout) logs(component string) string {
	return filepath.Join(string(l), "logs", component+".log")
}
func (l layout) pid(component string) string {
	return filepath.Join(string(l), "pids", component+".pid")
}
func (l layout) kubeconfig(component string) string {
	return filepath.Join(string(l), "kubeconfigs", component+".kubeconfig")
}

// claim takes the state folder for this process and empties it of an earlier sandbox. A folder that holds anything
// else is left alone.
func (l layout) claim() (*fileLock, error) {
	entries, err := os.ReadDir(string(l))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the state folder: %w", err)
	}
	if len(entries) > 0 {
		if _, err := os.Stat(l.lock()); err != nil {
			return nil, fmt.Errorf("state folder %s holds files that are no sandbox's: choose another folder", l)
		}
	}
	if err := os.MkdirAll(string(l), 0o700); err != nil {
		return nil, fmt.Errorf("make the state folder: %w", err)
	}
	lock, err := tryLock(l.lock())
	if err != nil {
		return nil, err
	}
	if lock == nil {
		return nil, fmt.Errorf("a sandbox runs in %s already: stop it with `paddle-sandbox down --state %s`, or choose another folder", l, l)
	}
	for _, entry := range entries {
		if entry.Name() == filepath.Base(l.lock()) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(string(l), entry.Name())); err != nil {
			return nil, errors.Join(fmt.Errorf("empty the state folder: %w", err), lock.release())
		}
	}
	for _, dir := range []string{l.pki(""), l.etcdData(), filepath.Dir(l.logs("")), filepath.Dir(l.pid("")), filepath.Dir(l.kubeconfig(""))} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, errors.Join(fmt.Errorf("make the state folder: %w", err), lock.release())
		}
	}
	return lock, nil
}
