// Package ratelimit puts limits that laju keeps before any http.Handler, asked over HTTP by the standard library alone, or
// over RESP by go-redis.
//
// Where laju refuses, the client gets a 429. Where it does not answer in time, the request passes: a limiter that is down must
// not take the service with it.
package ratelimit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// Decision is what laju answers to one check.
type Decision struct {
	Allowed          bool
	Limit, Remaining int64
	RetryAfter       time.Duration // below 0: waiting cannot help
	ResetAfter       time.Duration
}

// An Asker asks laju for one token of a key under a rule.
type Asker interface {
	Check(ctx context.Context, rule, key string) (Decision, error)
}

// RESP asks by LAJU.CHECK. A pipelining client such as go-redis is the fastest way from a busy service.
type RESP struct{ Client *redis.Client }

func (r RESP) Check(ctx context.Context, rule, key string) (Decision, error) {
	n, err := r.Client.Do(ctx, "LAJU.CHECK", rule, key).Int64Slice()
	if err != nil {
		return Decision{}, err
	}
	if len(n) != 6 {
		return Decision{}, fmt.Errorf("LAJU.CHECK answered %d integers", len(n))
	}
	ms := func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
	return Decision{n[0] == 1, n[1], n[2], ms(n[3]), ms(n[4])}, nil
}

// HTTP asks by POST /v1/check. URL is such as http://127.0.0.1:8080.
type HTTP struct {
	Client *http.Client
	URL    string
}

func (h HTTP) Check(ctx context.Context, rule, key string) (Decision, error) {
	body, err := json.Marshal(map[string]string{"rule": rule, "key": key})
	if err != nil {
		return Decision{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL+"/v1/check", bytes.NewReader(body))
	if err != nil {
		return Decision{}, err
	}
	response, err := h.Client.Do(request)
	if err != nil {
		return Decision{}, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusTooManyRequests {
		return Decision{}, fmt.Errorf("laju answered %s", response.Status)
	}
	var answer struct {
		Allowed          bool
		Limit, Remaining int64
		RetryAfterMs     *int64 `json:"retry_after_ms"`
		ResetAfterMs     int64  `json:"reset_after_ms"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return Decision{}, err
	}
	d := Decision{answer.Allowed, answer.Limit, answer.Remaining, -1, time.Duration(answer.ResetAfterMs) * time.Millisecond}
	if answer.RetryAfterMs != nil {
		d.RetryAfter = time.Duration(*answer.RetryAfterMs) * time.Millisecond
	}
	return d, nil
}

// Limit is a middleware.
type Limit struct {
	Asker   Asker
	Rule    string
	Key     func(*http.Request) string // nil: the peer's address
	Timeout time.Duration              // 0: 50 ms
}

// Address is the peer's, without its port. Behind a proxy take what the proxy says instead, and only what it says.
func Address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// Wrap puts the limit before a handler.
func (l Limit) Wrap(next http.Handler) http.Handler {
	key, timeout := l.Key, l.Timeout
	if key == nil {
		key = Address
	}
	if timeout == 0 {
		timeout = 50 * time.Millisecond
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), timeout)
		d, err := l.Asker.Check(ctx, l.Rule, key(r))
		cancel()
		if err != nil {
			log.Printf("laju does not answer, the request passes: %v", err)
			next.ServeHTTP(w, r)
			return
		}
		header := w.Header()
		header.Set("X-RateLimit-Limit", strconv.FormatInt(d.Limit, 10))
		header.Set("X-RateLimit-Remaining", strconv.FormatInt(d.Remaining, 10))
		header.Set("X-RateLimit-Reset", strconv.FormatInt(secondsUp(time.Duration(time.Now().UnixNano())+d.ResetAfter), 10))
		if d.Allowed {
			next.ServeHTTP(w, r)
			return
		}
		if d.RetryAfter >= 0 {
			header.Set("Retry-After", strconv.FormatInt(max(1, secondsUp(d.RetryAfter)), 10))
		}
		http.Error(w, "too many requests", http.StatusTooManyRequests)
	})
}

func secondsUp(d time.Duration) int64 {
	return int64((d + time.Second - 1) / time.Second)
}
