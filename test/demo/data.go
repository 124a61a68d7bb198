package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"guard/test/testbed"
)

// A customer is a document of the index customers. Birthday and IBAN are personal;
// the people and accounts are invented.
type customer struct {
	ID       string `json:"-"`
	Name     string `json:"name"`
	Region   string `json:"region"`
	Spent    int    `json:"spent"`
	Birthday string `json:"birthday"`
	IBAN     string `json:"iban"`
}

var customers = []customer{
	{"c1", "Ada", "north", 930, "1988-04-12", "NO9386011117947"},
	{"c2", "Bram", "west", 710, "1975-11-03", "NL91ABNA0417164300"},
	{"c3", "Chloe", "west", 560, "1993-02-27", "BE68539007547034"},
	{"c4", "Dag", "north", 480, "1969-08-19", "NO8330001234567"},
	{"c5", "Elina", "north", 250, "2001-06-05", "FI2112345600000785"},
	{"c6", "Femke", "west", 120, "1982-12-24", "NL20INGB0001234567"},
	{"c7", "Gus", "west", 40, "1996-01-15", "BE71096123456769"},
}

const customersIndex = `{
  "settings": {"number_of_shards": 1, "number_of_replicas": 0},
  "mappings": {"dynamic": "strict", "properties": {
    "name": {"type": "keyword"}, "region": {"type": "keyword"}, "spent": {"type": "integer"},
    "birthday": {"type": "date"}, "iban": {"type": "keyword"}}}
}`

const ordersIndex = `{
  "settings": {"number_of_shards": 1, "number_of_replicas": 0},
  "mappings": {"dynamic": "strict", "properties": {
    "customer": {"type": "keyword"}, "region": {"type": "keyword"}, "total": {"type": "integer"}}}
}`

const ordersBulk = `{"index":{"_index":"orders-2025","_id":"o1"}}
{"customer":"c1","region":"north","total":430}
{"index":{"_index":"orders-2025","_id":"o2"}}
{"customer":"c2","region":"west","total":710}
{"index":{"_index":"orders-2025","_id":"o3"}}
{"customer":"c4","region":"north","total":60}
{"index":{"_index":"orders-2026","_id":"o4"}}
{"customer":"c1","region":"north","total":500}
{"index":{"_index":"orders-2026","_id":"o5"}}
{"customer":"c3","region":"west","total":560}
`

// orders-large is a filtered alias: it shows the orders of 100 and more.
const ordersAlias = `{"actions": [{"add": {"indices": ["orders-2025", "orders-2026"], "alias": "orders-large",
  "filter": {"range": {"total": {"gte": 100}}}}}]}`

const logsTemplate = `{"index_patterns": ["logs-shop"], "data_stream": {}, "template": {
  "settings": {"number_of_shards": 1, "number_of_replicas": 0},
  "mappings": {"properties": {"@timestamp": {"type": "date"}, "path": {"type": "keyword"}, "client_ip": {"type": "ip"}}}}}`

const logsBulk = `{"create":{"_index":"logs-shop","_id":"l1"}}
{"@timestamp":"2026-03-01T08:00:00Z","path":"/basket","client_ip":"192.0.2.7"}
{"create":{"_index":"logs-shop","_id":"l2"}}
{"@timestamp":"2026-03-01T08:00:05Z","path":"/pay","client_ip":"192.0.2.7"}
`

// load writes the data set, directly to the node.
func load(node testbed.Client) error {
	for _, r := range []struct{ method, path, body string }{
		{"PUT", "/customers", customersIndex},
		{"PUT", "/orders-2025", ordersIndex},
		{"PUT", "/orders-2026", ordersIndex},
		{"POST", "/_aliases", ordersAlias},
		{"PUT", "/_index_template/logs-shop", logsTemplate},
		{"POST", "/_bulk?refresh=true", customersBulk() + ordersBulk + logsBulk},
	} {
		res, err := node.Do(r.method, r.path, r.body)
		if err != nil {
			return fmt.Errorf("cannot load the data: %w", err)
		}
		var said struct{ Errors bool }
		if err := json.Unmarshal(res.Body, &said); err != nil || res.Status != 200 || said.Errors {
			return fmt.Errorf("cannot load the data: %s %s answers %d: %s", r.method, r.path, res.Status, res.Body)
		}
	}
	return nil
}

func customersBulk() string {
	var b strings.Builder
	for _, c := range customers {
		fmt.Fprintf(&b, `{"index":{"_index":"customers","_id":%q}}`+"\n", c.ID)
		line, err := json.Marshal(c)
		if err != nil {
			panic(fmt.Sprintf("BUG: a customer has no JSON: %v", err))
		}
		b.Write(append(line, '\n'))
	}
	return b.String()
}
