package action

import "context"

func (r *Runner) browse(_ context.Context, _ *Envelope) Answer {
	f := fail(Browse, BrowseFailed, "this build cannot browse yet", "use another tool to read the page")
	f.Setting = r.noRead()
	return f
}
