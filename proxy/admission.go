package proxy

import (
	"sync"

	"guard/internal/ask"
)

// admission bounds the requests at a time, in all and of one user. A request is counted
// from the moment that there is work to do: who sends the bytes of a body slowly holds
// a connection, and no room that others need.
type admission struct {
	most, each int // requests in all, requests of one user

	mu     sync.Mutex // guards all below
	total  int
	byUser map[string]int
}

func newAdmission(most, each int) *admission {
	return &admission{most: most, each: each, byUser: make(map[string]int)}
}

// enter counts a request of user, or says why there is no room for it. Who entered
// leaves.
func (a *admission) enter(user string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.total >= a.most {
		return &ask.Rejection{
			Status: 503, Type: "circuit_breaking_exception", Public: "too many requests at a time; try again",
			Reason: ask.ReasonTooLarge, Limit: ask.LimitConcurrent,
		}
	}
	if a.byUser[user] >= a.each {
		return &ask.Rejection{
			Status: 429, Type: "circuit_breaking_exception", Public: "too many requests of this user at a time; try again",
			Reason: ask.ReasonTooLarge, Limit: ask.LimitUserConcurrent,
		}
	}
	a.total++
	a.byUser[user]++
	return nil
}

func (a *admission) leave(user string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.total--
	if a.byUser[user]--; a.byUser[user] == 0 {
		delete(a.byUser, user)
	}
}
