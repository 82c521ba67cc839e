// A program of its own, since what it needs is needed nowhere else: it writes down what our programs are made of.
module github.com/paddle-volcano/paddle-volcano/hack/sbom

go 1.24.0

require github.com/CycloneDX/cyclonedx-go v0.9.2
