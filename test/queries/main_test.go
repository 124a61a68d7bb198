package queries_test

import (
	"testing"

	"guard/test/testbed"
)

func TestMain(m *testing.M) { testbed.Main(m) }
