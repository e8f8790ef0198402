// go run . PORT RULE KEY [PASSWORD]: says what go-redis got, as JSON.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"github.com/redis/go-redis/v9"
)

func must(value any, err error) any {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	ctx := context.Background()
	options := &redis.Options{Addr: "127.0.0.1:" + os.Args[1]}
	if len(os.Args) > 4 {
		options.Password = os.Args[4]
	}
	client := redis.NewClient(options)
	rule, key := os.Args[2], os.Args[3]
	out := map[string]any{}

	out["ping"] = must(client.Ping(ctx).Result())
	out["check"] = must(client.Do(ctx, "LAJU.CHECK", rule, key).Int64Slice())
	pipe := client.Pipeline()
	first := pipe.Do(ctx, "LAJU.CHECK", rule, key)
	second := pipe.Do(ctx, "LAJU.PEEK", rule, key)
	must(pipe.Exec(ctx))
	out["pipeline"] = []any{must(first.Int64Slice()), must(second.Int64Slice())}
	out["mcheck"] = must(client.Do(ctx, "LAJU.MCHECK", rule, 11, key).Slice())
	out["throttle"] = must(client.Do(ctx, "CL.THROTTLE", key, 15, 30, 86400).Int64Slice())
	out["error"] = client.Do(ctx, "LAJU.CHECK", "nobody", key).Err().Error()
	out["quit"] = "OK"
	if err := client.Close(); err != nil {
		log.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		log.Fatal(err)
	}
}
