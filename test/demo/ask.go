package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"guard/test/testbed"
)

// The search that all four users send.
const (
	searchPath = "/customers/_search"
	searchBody = `{"query":{"range":{"spent":{"gte":100}}},"sort":[{"spent":"desc"}],` +
		`"aggs":{"region":{"terms":{"field":"region"}}}}`
)

// A user is an account of deploy/sample/security, and what its policy lets it see.
type user struct {
	name   string
	rights string // in words, for the reader
	region string // of the visible customers; empty: all
	hidden []string
	denied bool
}

var users = []user{
	{name: "admin", rights: "role all_access, no rules"},
	{name: "anna", rights: "analyst, DLS: region is north", region: "north"},
	{name: "sam", rights: "support, FLS: no birthday, no iban", hidden: []string{"birthday", "iban"}},
	{name: "ivan", rights: "has no role", denied: true},
}

// as returns the client of a user; all passwords are made alike.
func as(c testbed.Client, name string) testbed.Client { return c.As(name, name+"-demo") }

// An answer is what the demo reads of the answer to the search.
type answer struct {
	Status int
	Hits   struct {
		Total struct{ Value int }
		Hits  []struct {
			ID     string         `json:"_id"`
			Source map[string]any `json:"_source"`
		}
	}
	Aggregations struct {
		Region struct {
			Buckets []struct {
				Key      string
				DocCount int `json:"doc_count"`
			}
		}
	}
	Error struct{ Type, Reason string }
}

// search sends the search as u and returns an error if the answer is not what the
// policy says.
func (u user) search(guard testbed.Client) (answer, error) {
	res, err := as(guard, u.name).Do("POST", searchPath, searchBody)
	if err != nil {
		return answer{}, err
	}
	var a answer
	if err := json.Unmarshal(res.Body, &a); err != nil {
		return answer{}, fmt.Errorf("cannot read the answer for %s: %w: %s", u.name, err, res.Body)
	}
	a.Status = res.Status
	if err := u.check(a); err != nil {
		return a, fmt.Errorf("%s: %w: %s", u.name, err, res.Body)
	}
	return a, nil
}

// check compares an answer with the one computed from the data set.
func (u user) check(a answer) error {
	if u.denied {
		if a.Status != 403 || a.Error.Type != "security_exception" || len(a.Hits.Hits) > 0 {
			return fmt.Errorf("status %d and error %q; want 403 and %q", a.Status, a.Error.Type, "security_exception")
		}
		return nil
	}
	if a.Status != 200 {
		return fmt.Errorf("status %d; want 200", a.Status)
	}
	visible := u.visible()
	if a.Hits.Total.Value != len(visible) || len(a.Hits.Hits) != len(visible) {
		return fmt.Errorf("%d documents of %d; want %d", len(a.Hits.Hits), a.Hits.Total.Value, len(visible))
	}
	for i, c := range visible { // the data set is in the order of the search
		if hit := a.Hits.Hits[i]; hit.ID != c.ID || !reflect.DeepEqual(hit.Source, u.source(c)) {
			return fmt.Errorf("document %d is %s %v; want %s %v", i, hit.ID, hit.Source, c.ID, u.source(c))
		}
	}
	counts, want := map[string]int{}, map[string]int{}
	for _, b := range a.Aggregations.Region.Buckets {
		counts[b.Key] = b.DocCount
	}
	for _, c := range visible {
		want[c.Region]++
	}
	if !reflect.DeepEqual(counts, want) {
		return fmt.Errorf("counts by region are %v; want %v", counts, want)
	}
	return nil
}

// visible returns the customers that the search finds for u.
func (u user) visible() []customer {
	var found []customer
	for _, c := range customers {
		if c.Spent >= 100 && (u.region == "" || u.region == c.Region) {
			found = append(found, c)
		}
	}
	return found
}

// source returns the fields of c that u sees.
func (u user) source(c customer) map[string]any {
	fields := map[string]any{"name": c.Name, "region": c.Region, "spent": float64(c.Spent), "birthday": c.Birthday, "iban": c.IBAN}
	for _, name := range u.hidden {
		delete(fields, name)
	}
	return fields
}

// A detour is another way to what the policy hides, or to what it shows.
type detour struct {
	user, path, body string
	status           int
	want             func(body map[string]any) error
	says             string
}

var detours = []detour{
	{"anna", "/customers/_doc/c2", "", 404, member("found", false), "404: Bram lives in the west"},
	{"sam", "/customers/_count", `{"query":{"exists":{"field":"iban"}}}`, 200, member("count", 0.0), "0: to him no customer has one"},
	{"sam", "/customers/_mapping", "", 200, fields("customers", "name", "region", "spent"), "3 fields of 5"},
	{"admin", "/orders-large/_count", "", 200, member("count", 4.0), "4: the alias filters, total >= 100"},
	{"anna", "/orders-large/_count", "", 200, member("count", 2.0), "2: that filter and her rule"},
	{"sam", "/logs-shop/_search", "", 200, hitsWithout(2, "client_ip"), "2 of the data stream, no client_ip"},
}

// take sends the request and returns an error if the answer is not the wanted one.
func (d detour) take(guard testbed.Client) error {
	res, err := as(guard, d.user).Do("GET", d.path, d.body)
	if err != nil {
		return err
	}
	var body map[string]any
	if err := json.Unmarshal(res.Body, &body); err != nil {
		return fmt.Errorf("cannot read the answer for %s to %s: %w: %s", d.user, d.path, err, res.Body)
	}
	if res.Status != d.status {
		return fmt.Errorf("%s: GET %s: status %d; want %d: %s", d.user, d.path, res.Status, d.status, res.Body)
	}
	if err := d.want(body); err != nil {
		return fmt.Errorf("%s: GET %s: %w: %s", d.user, d.path, err, res.Body)
	}
	return nil
}

// member wants a member of the body to have a value.
func member(name string, want any) func(map[string]any) error {
	return func(body map[string]any) error {
		if got := body[name]; got != want {
			return fmt.Errorf("%s is %v; want %v", name, got, want)
		}
		return nil
	}
}

// hitsWithout wants so many documents that do not have the field.
func hitsWithout(n int, field string) func(map[string]any) error {
	return func(body map[string]any) error {
		outer, _ := body["hits"].(map[string]any)
		list, ok := outer["hits"].([]any)
		if !ok || len(list) != n {
			return fmt.Errorf("%d documents; want %d", len(list), n)
		}
		for _, h := range list {
			hit, _ := h.(map[string]any)
			source, ok := hit["_source"].(map[string]any)
			if _, shown := source[field]; !ok || shown {
				return fmt.Errorf("a document shows %v; want none to have %q", source, field)
			}
		}
		return nil
	}
}

// fields wants the mapping of the index to name these fields and no others.
func fields(index string, want ...string) func(map[string]any) error {
	return func(body map[string]any) error {
		entry, _ := body[index].(map[string]any)
		mappings, _ := entry["mappings"].(map[string]any)
		properties, _ := mappings["properties"].(map[string]any)
		if len(properties) != len(want) {
			return fmt.Errorf("%d fields; want %d", len(properties), len(want))
		}
		var errs []error
		for _, name := range want {
			if _, ok := properties[name]; !ok {
				errs = append(errs, fmt.Errorf("no field %q", name))
			}
		}
		return errors.Join(errs...)
	}
}
