// SPDX-License-Identifier: Apache-2.0

// Command sbom writes down what programs built by Go are made of, as CycloneDX: of each program that it is given FILE.cdx.json,
// in a folder. It reads what the linker has put into the program, so that nothing is listed that is not in it. Nothing else lives here.
package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return errors.New("usage: sbom FOLDER PROGRAM...")
	}
	for _, program := range args[1:] {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return fmt.Errorf("read what %s was built from: %w", program, err)
		}
		file := filepath.Join(args[0], filepath.Base(program)+".cdx.json")
		bom := describe(filepath.Base(program), info)
		if err := write(file, bom); err != nil {
			return err
		}
		fmt.Printf("sbom: %s: %d modules\n", file, len(*bom.Components))
	}
	return nil
}

func write(file string, bom *cdx.BOM) error {
	out, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if err := cdx.NewBOMEncoder(out, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", file, err), out.Close())
	}
	return out.Close()
}

// describe lists a program's modules, and Go's own library, which is a part of it too.
func describe(name string, info *buildinfo.BuildInfo) *cdx.BOM {
	bom := cdx.NewBOM()
	main := library(&info.Main)
	main.Type, main.Name = cdx.ComponentTypeApplication, name
	bom.Metadata = &cdx.Metadata{Component: &main}
	golang := strings.TrimPrefix(info.GoVersion, "go")
	all := []cdx.Component{{
		Type: cdx.ComponentTypeLibrary, Name: "std", Version: golang, PackageURL: "pkg:golang/std@" + golang, BOMRef: "pkg:golang/std@" + golang,
	}}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		all = append(all, library(module))
	}
	bom.Components = &all
	return bom
}

func library(module *debug.Module) cdx.Component {
	url := "pkg:golang/" + module.Path
	if module.Version != "" {
		url += "@" + module.Version
	}
	c := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: module.Path, Version: module.Version, PackageURL: url, BOMRef: url}
	// go.sum's hash, h1, is the SHA-256 of the list of the files' hashes.
	if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(module.Sum, "h1:")); err == nil && len(sum) > 0 {
		c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
	}
	return c
}
