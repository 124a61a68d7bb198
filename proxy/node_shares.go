package proxy

// claim says for whom a connection to a node is taken.
type claim struct {
	user   string // whose request is served; empty in those of nobody, which are not counted
	shared bool   // many may wait for it, so it is no user's
	own    bool   // guard asks for itself; most of the time one such call waits for the cluster to change
}

// ownRoom is how many connections of each node are kept for guard's own questions: what
// clients hold must not keep it from knowing the cluster.
const ownRoom = 2

// sharedPart is which part of the connections that are free all shared calls may hold: what
// one user asks for may make any number of them, and they are in no user's share.
const sharedPart = 4

// hasRoom reports whether one more call may be under way on the node. A user holds no more
// of its connections than are left for others: half when alone, a third each where two
// take what they can get. So there is always one for who comes next, however many
// transfers of however few users do not move. The lock is held.
func (h *host) hasRoom(c claim) bool {
	free := h.nodes.limits.maxConns - h.load() + min(h.asked, ownRoom)
	switch {
	case c.own:
		return h.load() < h.nodes.limits.maxConns+ownRoom
	case c.shared:
		return sharedPart*h.shared < free
	}
	most := h.nodes.limits.userConns
	if most == 0 {
		most = free
	}
	return free > 0 && (c.user == "" || h.held[c.user] < most)
}

// enter counts a call under way. The lock is held.
func (h *host) enter(c claim) {
	switch {
	case c.own:
		h.asked++
	case c.shared:
		h.shared++
	case c.user != "":
		if h.held == nil {
			h.held = make(map[string]int)
		}
		h.held[c.user]++
	}
}

// leave counts one less. The lock is held.
func (h *host) leave(c claim) {
	switch {
	case c.own:
		h.asked--
	case c.shared:
		h.shared--
	case c.user != "":
		if h.held[c.user]--; h.held[c.user] == 0 {
			delete(h.held, c.user)
		}
	}
}
