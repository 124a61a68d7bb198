// Package changes has a cluster change under load: indices are made, deleted and made
// again, names come to mean something else, streams and write aliases roll over, while
// people ask. A checker that knows the truth reads every answer: nobody is shown what he
// was not granted.
package changes
