package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"guard/test/testbed"
)

// Clean makes the cluster as new, as the makers' own runner does between two cases:
// snapshots and exclusions go besides all that testbed.Node.Reset takes back.
func Clean(n *testbed.Node) error {
	if err := deleteSnapshots(n); err != nil {
		return fmt.Errorf("cannot delete snapshots: %w", err)
	}
	if err := expect(n, http.MethodDelete, "/_cluster/voting_config_exclusions?wait_for_removal=false"); err != nil {
		return err
	}
	return n.Reset()
}

// deleteSnapshots deletes the snapshots of all repositories: with the repository alone
// their files would stay, and the next case may use the same folder.
func deleteSnapshots(n *testbed.Node) error {
	res, err := n.Do(http.MethodGet, "/_snapshot", "")
	if err != nil {
		return err
	}
	var repositories map[string]struct{ Type string }
	if err := json.Unmarshal(res.Body, &repositories); err != nil {
		return fmt.Errorf("cannot read the repositories: %w", err)
	}
	var errs []error
	for name, r := range repositories {
		if r.Type == "fs" { // a repository of another type is only read
			errs = append(errs, deleteSnapshotsOf(n, "/_snapshot/"+url.PathEscape(name)))
		}
	}
	return errors.Join(errs...)
}

func deleteSnapshotsOf(n *testbed.Node, repository string) error {
	res, err := n.Do(http.MethodGet, repository+"/_all", "")
	if err != nil {
		return err
	}
	var list struct {
		Snapshots []struct{ Snapshot string }
	}
	if err := json.Unmarshal(res.Body, &list); err != nil {
		return fmt.Errorf("cannot read the snapshots: %w", err)
	}
	var errs []error
	for _, s := range list.Snapshots {
		errs = append(errs, expect(n, http.MethodDelete, repository+"/"+url.PathEscape(s.Snapshot)))
	}
	return errors.Join(errs...)
}

// expect sends a request that has to succeed.
func expect(n *testbed.Node, method, path string) error {
	res, err := n.Do(method, path, "")
	if err != nil {
		return err
	}
	if res.Status != http.StatusOK && res.Status != http.StatusNotFound {
		return fmt.Errorf("%s %s: status %d: %s", method, path, res.Status, res.Body)
	}
	return nil
}

// Node describes the node that the suites expect, as their README says.
func Node(kind testbed.Kind) testbed.Options {
	settings := map[string]string{"node.attr.testattr": "test", "repositories.url.allowed_urls": "http://snapshot.*"}
	return testbed.Options{Kind: kind, Settings: settings, Warnings: true}
}
