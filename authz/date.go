package authz

import (
	"fmt"
	"time"
)

// resolveDate resolves a date math pattern.
func resolveDate(text string, now time.Time) (string, error) {
	return "", fmt.Errorf("date math pattern %q is not built yet", text)
}
