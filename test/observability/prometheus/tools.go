//go:build tools

// Package prometheus names the programs that the tests build, for the versions in go.mod.
package prometheus

import (
	_ "github.com/prometheus/prometheus/cmd/prometheus"
	_ "github.com/prometheus/prometheus/cmd/promtool"
)
