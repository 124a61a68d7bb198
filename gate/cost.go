package gate

import "guard/internal/esjson"

// TreatCost bounds the bytes that treating an answer takes, beside those of the answer.
func TreatCost(t Treatment, body []byte) int64 {
	switch t := t.(type) {
	case searchTreatment: // read in one pass, printed once
		return int64(len(body))
	case bulkTreatment:
		if !t.slots.active() {
			return 0
		}
	}
	return esjson.Cost(body)
}
