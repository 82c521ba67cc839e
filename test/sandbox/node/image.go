// SPDX-License-Identifier: Apache-2.0

package node

import "github.com/paddle-volcano/paddle-volcano/test/trainer/image"

// WritePause writes an archive of PauseImage, whose program is paddle-box.
func WritePause(binary, archive string) error {
	return image.Pack(binary, archive, image.Options{Names: []string{PauseImage}, Entrypoint: []string{image.Binary, "pause"}})
}

// WriteBarrier writes an archive of the image that pods of PaddleJobs run first, under the name that they know and with the
// user of its Dockerfile.
func WriteBarrier(binary, name, archive string) error {
	return image.Pack(binary, archive, image.Options{Names: []string{image.Full(name)}, User: "65532:65532"})
}
