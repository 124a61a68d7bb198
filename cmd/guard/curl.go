package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"guard/explain"
)

// curlTakes are the options of curl that change the request, and those that are passed
// over because they don't; true if a value follows. https://curl.se/docs/manpage.html
var curlTakes = map[string]bool{
	"-X": true, "--request": true, "-u": true, "--user": true, "-H": true, "--header": true,
	"-d": true, "--data": true, "--data-ascii": true, "--data-raw": true, "--data-binary": true, "--json": true, "--url": true,
	"-G": false, "--get": false, "-I": false, "--head": false,

	"-s": false, "--silent": false, "-S": false, "--show-error": false, "-k": false, "--insecure": false, "-i": false, "--include": false,
	"-v": false, "--verbose": false, "-f": false, "--fail": false, "-L": false, "--location": false, "-g": false, "--globoff": false,
	"-N": false, "--no-buffer": false, "--compressed": false, "--http1.1": false, "--basic": false, "--fail-with-body": false,
	"-o": true, "--output": true, "-w": true, "--write-out": true, "-m": true, "--max-time": true, "--connect-timeout": true, "--cacert": true,
	"--unix-socket": true, "--resolve": true, "-A": true, "--user-agent": true, "-b": true, "--cookie": true, "-e": true, "--referer": true,
}

// curlLine is a curl line while it is read.
type curlLine struct {
	question
	data      [][]byte
	inTarget  bool // -G
	head      bool // -I
	hasTarget bool
	usual     string // content type where no header gives one
	inURL     string // who asks, by the URL; -u wins
}

// parseCurl reads the words of a curl line after the command's name. Of the credentials
// only the name is kept.
func parseCurl(args []string) (question, error) {
	var line curlLine
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		if len(word) < 2 || word[0] != '-' {
			if err := line.option("--url", word); err != nil {
				return question{}, err
			}
			continue
		}
		names, value, hasValue, err := curlOption(word)
		if err != nil {
			return question{}, err
		}
		for _, name := range names {
			if curlTakes[name] && !hasValue {
				if len(args) == 0 {
					return question{}, fmt.Errorf("curl's option %s wants a value", name)
				}
				value, args = args[0], args[1:]
			}
			if err := line.option(name, value); err != nil {
				return question{}, err
			}
		}
	}
	return line.finish()
}

// curlOption takes one word apart: "-sXPOST" is -s and -X with POST.
func curlOption(word string) (names []string, value string, hasValue bool, err error) {
	unknown := func(name string) error {
		return fmt.Errorf("curl's option %s is not known here; give method, target and body as METHOD TARGET BODY instead", name)
	}
	if strings.HasPrefix(word, "--") {
		if _, known := curlTakes[word]; !known {
			return nil, "", false, unknown(word)
		}
		return []string{word}, "", false, nil
	}
	for i := 1; i < len(word); i++ {
		name := "-" + word[i:i+1]
		takes, known := curlTakes[name]
		if !known {
			return nil, "", false, unknown(name)
		}
		names = append(names, name)
		if takes {
			return names, word[i+1:], i+1 < len(word), nil
		}
	}
	return names, "", false, nil
}

func (l *curlLine) option(name, value string) (err error) {
	switch name {
	case "-X", "--request":
		l.method = value
	case "-u", "--user":
		user, _, _ := strings.Cut(value, ":")
		l.who = explain.Somebody{Name: user}
	case "-H", "--header":
		l.header(value)
	case "-d", "--data", "--data-ascii", "--data-raw", "--data-binary", "--json":
		err = l.addData(name, value)
	case "--url":
		if l.hasTarget {
			return errors.New("the curl line has two URLs; want one")
		}
		l.hasTarget = true
		l.target, l.inURL, err = originForm(value)
	case "-G", "--get":
		l.inTarget = true
	case "-I", "--head":
		l.head = true
	}
	return err
}

// header takes what counts of a header: the type of the body, and the name of who asks.
func (l *curlLine) header(line string) {
	key, content, _ := strings.Cut(line, ":")
	content = strings.TrimSpace(content)
	switch strings.ToLower(strings.TrimSpace(key)) {
	case "content-type":
		l.contentType = content
	case "authorization":
		scheme, code, _ := strings.Cut(content, " ")
		account, err := base64.StdEncoding.DecodeString(strings.TrimSpace(code))
		if user, _, ok := strings.Cut(string(account), ":"); ok && err == nil && strings.EqualFold(scheme, "basic") {
			l.who = explain.Somebody{Name: user}
		}
	}
}

func (l *curlLine) addData(name, value string) error {
	data := []byte(value)
	if name != "--data-raw" && strings.HasPrefix(value, "@") {
		var err error
		if data, err = bodyOf(value); err != nil {
			return err
		}
		if name != "--data-binary" && name != "--json" {
			data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r"), nil), []byte("\n"), nil) // curl does so
		}
	}
	l.data = append(l.data, data)
	l.usual = "application/x-www-form-urlencoded" // which the clusters refuse, and so does guard
	if name == "--json" {
		l.usual = "application/json"
	}
	return nil
}

// finish puts the parts together as curl does.
func (l *curlLine) finish() (question, error) {
	if !l.hasTarget {
		return question{}, errors.New("the curl line has no URL")
	}
	body := bytes.Join(l.data, []byte("&"))
	if l.inTarget && len(body) > 0 {
		mark := "?"
		if strings.Contains(l.target, "?") {
			mark = "&"
		}
		l.target += mark + string(body)
		body = nil
	}
	l.body = body
	if l.who.Name == "" {
		l.who.Name = l.inURL
	}
	if l.contentType == "" {
		l.contentType = l.usual
	}
	if l.method == "" {
		l.method = usualMethod(len(l.data) > 0 && !l.inTarget, l.head) // -d '' is a POST too
	}
	return l.question, nil
}

func usualMethod(body, head bool) string {
	switch {
	case head:
		return "HEAD"
	case body:
		return "POST"
	default:
		return "GET"
	}
}
