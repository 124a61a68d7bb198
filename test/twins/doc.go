// Package twins holds one law up to real nodes: two clusters that show a user the same
// documents and fields give that user the same answers, whatever they hide from him.
package twins
