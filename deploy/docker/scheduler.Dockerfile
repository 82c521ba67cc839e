# docker build -f deploy/docker/scheduler.Dockerfile -t registry.example.com/paddle/paddle-scheduler:v0.1.0 .
FROM golang:1.26.8 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY cmd/paddle-scheduler cmd/paddle-scheduler
COPY controller/leader controller/leader
COPY controller/versions controller/versions
COPY plugins plugins
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o /out/paddle-scheduler ./cmd/paddle-scheduler

FROM scratch
COPY --from=build /out/paddle-scheduler /paddle-scheduler
USER 65532:65532
ENTRYPOINT ["/paddle-scheduler"]
