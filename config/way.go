package config

import (
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is how many links a system follows in one path before it takes them for a circle.
const maxLinks = 40

// way returns all that is passed on the way to path, from the root on: each folder, each
// link, and what stands at the end, by their real paths. Whatever is put in the place of
// one of them can put something else at path. The way ends where something is missing.
func way(path string) (steps []string) {
	left := strings.Split(absolute(path), "/")
	at, links := "/", 0
	for len(left) > 0 {
		name := left[0]
		left = left[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at) // at holds no links
			continue
		}
		step := filepath.Join(at, name)
		steps = append(steps, step)
		info, err := os.Lstat(step)
		if err != nil {
			return steps
		}
		if info.Mode().Type() != os.ModeSymlink {
			at = step
			continue
		}
		target, err := os.Readlink(step)
		if links++; err != nil || links > maxLinks {
			return steps
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		left = append(strings.Split(target, "/"), left...)
	}
	return steps
}

// absolute is path from the root on. It is not made shorter: what stands before a ".." may
// be a link, and the folder above is that of where it leads to.
func absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	dir, err := os.Getwd()
	if err != nil {
		return path // what is relative to nothing is not found
	}
	return dir + "/" + path
}
