// A small service with a limit: LAJU_URL=redis://127.0.0.1:6380 (or http://127.0.0.1:8080) PORT=3000 go run .
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strings"

	"example.com/laju/ratelimit"
	"github.com/redis/go-redis/v9"
)

func env(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func asker(url string) (ratelimit.Asker, error) {
	if strings.HasPrefix(url, "http") {
		return ratelimit.HTTP{Client: &http.Client{}, URL: url}, nil
	}
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	options.MaxRetries = -1 // a check that may have been charged is not sent again
	options.ContextTimeoutEnabled = true
	return ratelimit.RESP{Client: redis.NewClient(options)}, nil
}

func main() {
	laju, err := asker(env("LAJU_URL", "redis://127.0.0.1:6380"))
	if err != nil {
		log.Fatal(err)
	}
	hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "hello") })
	limit := ratelimit.Limit{Asker: laju, Rule: env("LAJU_RULE", "default")}
	listener, err := net.Listen("tcp", "127.0.0.1:"+env("PORT", "3000"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", listener.Addr())
	log.Fatal(http.Serve(listener, limit.Wrap(hello)))
}
