package main

import (
	"fmt"

	"github.com/valyala/fasthttp"
)

// runBare is the least that a proxy made of fasthttp does: its own client and
// server with their defaults, no check of anything. It is the yardstick.
func runBare(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("bare got %q; want the address of the upstream", args)
	}
	upstream := &fasthttp.HostClient{Addr: args[0], MaxConns: 512}
	return listenAndServe(&fasthttp.Server{Handler: func(ctx *fasthttp.RequestCtx) {
		ctx.Request.Header.Del(fasthttp.HeaderConnection)
		if err := upstream.Do(&ctx.Request, &ctx.Response); err != nil {
			ctx.Error(err.Error(), fasthttp.StatusBadGateway)
			return
		}
		ctx.Response.Header.Del(fasthttp.HeaderConnection)
	}})
}
