package endpoint

import "guard/internal/ask"

// Target writes the request target of a call that guard makes itself: path segments
// and parameters as they mean, encoded here.
func Target(path []string, params []ask.Param) string { return target(path, params) }
