// SPDX-License-Identifier: Apache-2.0

// Command talker is what the tests of the real node run in pods: it says who it is, listens to peers and asks them.
package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

// port is where `talker serve` listens.
const port = "7000"

func main() {
	if len(os.Args) < 2 {
		fail("say serve, ask HOST or api")
	}
	host, err := os.Hostname()
	if err != nil {
		fail(err)
	}
	fmt.Println("this is", host)
	switch os.Args[1] {
	case "serve":
		serve(host)
	case "ask":
		ask(os.Args[2])
	case "api":
		api()
	default:
		fail("say serve, ask HOST or api")
	}
}

// serve answers with its name until it is killed.
func serve(host string) {
	listener, err := net.Listen("tcp", ":"+port)
	if err != nil {
		fail(err)
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			fail(err)
		}
		fmt.Fprintf(conn, "%s hears %s\n", host, conn.RemoteAddr()) //nolint:errcheck // the asker asks again
		conn.Close()                                                //nolint:errcheck // as above
	}
}

// ask tries for a minute, as every program must: a peer's name is known only a while after the peer runs.
func ask(peer string) {
	begin := time.Now()
	for {
		conn, err := net.DialTimeout("tcp", net.JoinHostPort(peer, port), time.Second)
		if err == nil {
			answer, err := bufio.NewReader(conn).ReadString('\n')
			if err != nil {
				fail(err)
			}
			fmt.Print("answer: ", answer)
			return
		}
		if time.Since(begin) > time.Minute {
			fail(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// api asks the API server for its version, as a client in a cluster does.
func api() {
	const account = "/var/run/secrets/kubernetes.io/serviceaccount/"
	ca, err := os.ReadFile(account + "ca.crt")
	if err != nil {
		fail(err)
	}
	token, err := os.ReadFile(account + "token")
	if err != nil {
		fail(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	for _, server := range []string{os.Getenv("KUBERNETES_SERVICE_HOST"), "kubernetes.default.svc"} {
		request, err := http.NewRequest(http.MethodGet, "https://"+server+":"+os.Getenv("KUBERNETES_SERVICE_PORT")+"/version", http.NoBody)
		if err != nil {
			fail(err)
		}
		request.Header.Set("Authorization", "Bearer "+string(token))
		response, err := client.Do(request)
		if err != nil {
			fail(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close() //nolint:errcheck // it has been read
		if err != nil || response.StatusCode != http.StatusOK {
			fail(response.Status, err)
		}
		fmt.Printf("%s says %s\n", server, body)
	}
}

func fail(why ...any) {
	fmt.Fprintln(os.Stderr, append([]any{"talker:"}, why...)...)
	os.Exit(1)
}
