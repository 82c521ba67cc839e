# docker build -f deploy/docker/barrier.Dockerfile -t registry.example.com/paddle/paddle-barrier:v0.1.0 .
FROM golang:1.26.8 AS build
WORKDIR /src
COPY go.mod ./
COPY cmd/paddle-barrier cmd/paddle-barrier
COPY controller/barrier controller/barrier
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o /out/paddle-barrier ./cmd/paddle-barrier

FROM scratch
COPY --from=build /out/paddle-barrier /paddle-barrier
USER 65532:65532
ENTRYPOINT ["/paddle-barrier"]
