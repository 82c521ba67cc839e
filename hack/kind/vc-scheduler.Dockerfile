# Volcano's own scheduler, to compare with: from the same module, by the same compiler as ours. The image that Volcano's
# installer names is of an earlier version.
# docker build -f hack/kind/vc-scheduler.Dockerfile -t localhost/vc-scheduler:v1.14.1 .
FROM golang:1.26.8 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o /out/vc-scheduler volcano.sh/volcano/cmd/scheduler

FROM scratch
COPY --from=build /out/vc-scheduler /vc-scheduler
USER 65532:65532
ENTRYPOINT ["/vc-scheduler"]
