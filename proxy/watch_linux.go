package proxy

import (
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// watchEvery is how often sockets are looked at: a client that left costs the cluster
// no more than this.
const watchEvery = 100 * time.Millisecond

// watcher notices clients that left while the cluster works for them. It asks the
// kernel for the far end's FIN or reset, so it also works for TLS and with pipelined
// requests waiting unread. One goroutine looks at all of them.
type watcher struct {
	mu      sync.Mutex // guards all below
	clients map[*watched]struct{}
	running bool
	stopped bool
}

// watched is one client's socket; it belongs to its connection.
type watched struct {
	fd   int32  // 0: none
	gone func() // ends what is done for the client
}

// watchable returns what a watcher needs of c. It calls gone, once or more, after the
// client has left.
func watchable(c net.Conn, gone func()) watched {
	one := watched{gone: gone}
	if raw, ok := rawConn(c); ok {
		_ = raw.Control(func(fd uintptr) { one.fd = int32(fd) }) //nolint:gosec // G115: descriptors are small; one that fails is not watched
	}
	return one
}

// add looks at a client until remove is called, which must be before its connection is
// closed.
func (w *watcher) add(one *watched) {
	if one.fd == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.clients == nil {
		w.clients = make(map[*watched]struct{})
	}
	w.clients[one] = struct{}{}
	if !w.running && !w.stopped {
		w.running = true
		go w.run()
	}
}

func (w *watcher) remove(one *watched) {
	w.mu.Lock()
	delete(w.clients, one)
	w.mu.Unlock()
}

// run looks until there is nobody left to look at.
func (w *watcher) run() {
	var (
		polls []unix.PollFd
		whose []func()
	)
	for idle := 0; ; {
		time.Sleep(watchEvery)
		w.mu.Lock()
		if len(w.clients) == 0 {
			idle++
		} else {
			idle = 0
		}
		if idle > 10 || w.stopped {
			w.running = false
			w.mu.Unlock()
			return
		}
		polls, whose = polls[:0], whose[:0]
		for c := range w.clients {
			polls = append(polls, unix.PollFd{Fd: c.fd, Events: unix.POLLRDHUP})
			whose = append(whose, c.gone)
		}
		// The lock is held so that no descriptor is closed and reused meanwhile; the
		// call does not wait.
		n, err := unix.Poll(polls, 0)
		w.mu.Unlock()
		if err != nil || n == 0 {
			continue
		}
		for i, p := range polls {
			if p.Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0 {
				whose[i]()
			}
		}
	}
}

func (w *watcher) stop() {
	w.mu.Lock()
	w.stopped = true
	w.mu.Unlock()
}
