package config

import (
	"encoding/base64"
	"fmt"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/bcrypt"
)

// environment substitutes ${env.NAME}, ${envbase64.NAME} and ${envbc.NAME}, each
// with an optional default, as in ${env.NAME:-default}. Other variables, such as
// ${user.name} and ${attr.internal.x}, belong to requests and stay as they are.
// What a variable holds is never substituted again.
type environment struct {
	lookup func(name string) (string, bool)
}

var variable = regexp.MustCompile(`\$\{(env|envbase64|envbc)\.([A-Za-z0-9_.-]+)(:-([^}]*))?\}`)

// expandError says what is wrong with a variable, without its value.
type expandError struct{ msg, want string }

func (e *environment) expand(text string) (string, *expandError) {
	if !strings.Contains(text, "${env") {
		return text, nil // fast path: nearly all values
	}
	var b strings.Builder
	end := 0
	for _, m := range variable.FindAllStringSubmatchIndex(text, -1) {
		form, name := text[m[2]:m[3]], text[m[4]:m[5]]
		value, set := e.lookup(name)
		if !set && m[6] < 0 {
			return "", &expandError{
				fmt.Sprintf("environment variable %q is not set", name),
				fmt.Sprintf("it set, or a default: ${%s.%s:-…}", form, name),
			}
		}
		if !set {
			value = text[m[8]:m[9]]
		}
		value, err := convert(form, name, value)
		if err != nil {
			return "", err
		}
		if err := noVariable(text[end:m[0]]); err != nil {
			return "", err
		}
		b.WriteString(text[end:m[0]])
		b.WriteString(value)
		end = m[1]
	}
	b.WriteString(text[end:])
	return b.String(), noVariable(text[end:])
}

// noVariable refuses what was meant as a variable and is not written like one. It
// does not quote: the text may be a password.
func noVariable(text string) *expandError {
	if !strings.Contains(text, "${env") {
		return nil
	}
	return &expandError{
		"malformed environment variable",
		"${env.NAME}, ${envbase64.NAME} or ${envbc.NAME}, with a default as in ${env.NAME:-default}",
	}
}

// convert turns the value of a variable into what stands in its place.
func convert(form, name, value string) (string, *expandError) {
	switch form {
	case "env":
		return value, nil
	case "envbase64":
		raw, err := base64.StdEncoding.DecodeString(value)
		if err != nil || !utf8.Valid(raw) {
			return "", &expandError{fmt.Sprintf("environment variable %q is no text in base64", name), "standard base64, padded, of UTF-8"}
		}
		return string(raw), nil
	case "envbc":
		// Any family would do, since a stored hash is recognised by its form; bcrypt
		// is what the key is named after.
		hash, err := bcrypt.GenerateFromPassword([]byte(value), 12)
		if err != nil || value == "" {
			return "", &expandError{fmt.Sprintf("environment variable %q cannot be hashed", name), "a password of 1 to 72 bytes"}
		}
		return string(hash), nil
	default:
		panic(fmt.Sprintf("BUG: variable form %q", form))
	}
}

func newEnvironment(lookup func(string) (string, bool)) *environment {
	if lookup == nil {
		lookup = os.LookupEnv
	}
	return &environment{lookup: lookup}
}
