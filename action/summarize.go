package action

import "context"

func (r *Runner) summarize(_ context.Context, _ *Envelope, a Answer) Answer { return a }
