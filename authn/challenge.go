package authn

import (
	"context"
	"errors"
	"math"
	"strconv"

	"guard/internal/ask"
)

// Challenge is the answer to a request that comes from nobody: what the proxy
// writes, and nothing else.
type Challenge struct {
	Status       int
	ContentType  string
	Body         string
	Authenticate string    // of the header WWW-Authenticate; empty for none
	RetryAfter   string    // of the header Retry-After; empty for none
	Limit        ask.Limit // the bound that was met, if it was one: a metric label
}

// Clients and dashboards of the security plugin know these answers to the byte.
var (
	basicChallenge = Challenge{
		Status:       401,
		ContentType:  "text/plain; charset=UTF-8",
		Body:         "Unauthorized",
		Authenticate: `Basic realm="OpenSearch Security"`,
	}
	plainRefusal = Challenge{
		Status:      401,
		ContentType: "text/plain; charset=UTF-8",
		Body:        "Authentication finally failed",
	}
)

// The plugin has no such answers; they have the form of the cluster's errors.
const jsonType = "application/json; charset=UTF-8"

var (
	ambiguousAnswer = Challenge{
		Status: 400, ContentType: jsonType,
		Body: `{"error":{"root_cause":[{"type":"security_exception","reason":"more than one Authorization header"}],` +
			`"type":"security_exception","reason":"more than one Authorization header"},"status":400}`,
	}
	busyAnswer = Challenge{
		Status: 429, ContentType: jsonType, RetryAfter: "1", Limit: ask.LimitHashQueue,
		Body: `{"error":{"root_cause":[{"type":"security_exception","reason":"too many logins at once"}],` +
			`"type":"security_exception","reason":"too many logins at once"},"status":429}`,
	}
	failedAnswer = Challenge{
		Status: 429, ContentType: jsonType, Limit: ask.LimitFailedLogins,
		Body: `{"error":{"root_cause":[{"type":"security_exception","reason":"too many failed logins from this address; try again later"}],` +
			`"type":"security_exception","reason":"too many failed logins from this address; try again later"},"status":429}`,
	}
	adminNameAnswer = Challenge{
		Status: 403, ContentType: "text/plain; charset=UTF-8",
		Body: "Cannot authenticate user because admin user is not permitted to login via HTTP",
	}
	canceledAnswer = Challenge{
		Status: 503, ContentType: jsonType, RetryAfter: "1",
		Body: `{"error":{"root_cause":[{"type":"security_exception","reason":"login took too long"}],` +
			`"type":"security_exception","reason":"login took too long"},"status":503}`,
	}
)

// Answer returns what a request gets for an error of Identify. Every error that is
// not known is a 401.
func (c *Chain) Answer(err error) Challenge {
	var tooMany *TooManyFailures
	switch {
	case errors.As(err, &tooMany):
		a := failedAnswer
		a.RetryAfter = strconv.Itoa(int(math.Ceil(tooMany.Wait.Seconds())))
		return a
	case errors.Is(err, ErrAdminName):
		return adminNameAnswer
	case errors.Is(err, ErrAmbiguous):
		return ambiguousAnswer
	case errors.Is(err, ErrBusy):
		return busyAnswer
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return canceledAnswer
	case c.challenge.Status == 0:
		return plainRefusal
	default:
		return c.challenge
	}
}
