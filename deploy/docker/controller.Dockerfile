# docker build -f deploy/docker/controller.Dockerfile -t registry.example.com/paddle/paddlejob-controller:v0.1.0 .
FROM golang:1.26.8 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY cmd/paddlejob-controller cmd/paddlejob-controller
COPY controller controller
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o /out/paddlejob-controller ./cmd/paddlejob-controller

FROM scratch
COPY --from=build /out/paddlejob-controller /paddlejob-controller
USER 65532:65532
ENTRYPOINT ["/paddlejob-controller"]
