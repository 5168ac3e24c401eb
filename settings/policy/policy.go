// Package policy reads what a project may do: which capabilities are on, which agents may ask, what needs an
// approval, and how much of it. Start at Read, Parse and Policy.Permit.
//
// It only says what is written. It must not know the store, the clock or how an action runs: whoever counts
// takes the figures from Budgets, and whoever reads a project's row in a store gives its bytes to Parse, so
// that file and row mean the same.
package policy

import (
	"slices"
	"strings"
	"time"

	"golang.org/x/net/idna"

	"web/settings"
)

// FileName is the file, relative to the workdir, as it is named on the wire.
const FileName = "settings/web.policy.json"

// Limits of a policy.
const (
	MaxFileBytes    = settings.MaxFileBytes
	MaxAgents       = 64
	MaxRules        = 256
	MaxPatternChars = 256
	MaxQuota        = 1_000_000 // reservations per step or run; 0 permits none
	MinActive       = 1         // places
	MaxActive       = 1000      // places
	MaxInterval     = time.Hour
)

// Permission is what a rule answers.
type Permission string

// The permissions.
const (
	Allow Permission = "allow"
	Deny  Permission = "deny"
	Ask   Permission = "ask"
)

// AnyTool is the tool of a rule for all actions.
const AnyTool = "*"

// Rule gives a permission to what its tool and pattern match.
type Rule struct {
	// Tool is an action's name or AnyTool.
	Tool string
	// Pattern is a glob over a query or a URL's host: * stands for any run of characters, ? for one
	// character, letters match in either case. There is no escape.
	Pattern    string
	Permission Permission
}

// Budgets are the quotas in reservations, the active places, and the shortest time between two searches.
type Budgets struct {
	SearchPerStep, SearchPerRun int
	FetchPerStep, FetchPerRun   int
	SearchActive, FetchActive   int
	SearchInterval              time.Duration // whole milliseconds
}

// Policy is what a project may do. The zero value permits nothing.
type Policy struct {
	// Enabled is the switch for everything that reaches the network, FetchEnabled the one for reading pages
	// beside it.
	Enabled, FetchEnabled bool
	// Agents may ask, when CheckAgents is set.
	Agents      []string
	CheckAgents bool
	Permissions []Rule
	Budgets     Budgets
	// Revision is 32 hex digits of the bytes it was read from, or settings.RevisionDefault.
	Revision string
}

// DefaultBudgets are the figures for what a policy leaves out.
func DefaultBudgets() Budgets {
	return Budgets{
		SearchPerStep: 20, SearchPerRun: 100, FetchPerStep: 40, FetchPerRun: 200,
		SearchActive: 1, FetchActive: 3, SearchInterval: 2 * time.Second,
	}
}

// Default is what holds without a policy: everything is permitted, to everybody, within DefaultBudgets.
func Default() Policy {
	return Policy{Enabled: true, FetchEnabled: true, Budgets: DefaultBudgets(), Revision: settings.RevisionDefault}
}

// The actions that a rule may name.
const (
	search    = "search"
	browse    = "browse"
	manual    = "manual"
	webSearch = "web_search"
	webFetch  = "web_fetch"
)

func readsHosts(tool string) bool { return tool == browse || tool == webFetch }

// Capability reports whether the tool is switched on at all. manual reaches no network and always is; a tool
// that is not known never is.
func (p Policy) Capability(tool string) bool {
	switch tool {
	case search, webSearch:
		return p.Enabled
	case browse, webFetch:
		return p.Enabled && p.FetchEnabled
	}
	return tool == manual
}

// AgentAllowed reports whether the agent may ask. Where agents are checked, one that the host did not name
// may not.
func (p Policy) AgentAllowed(agent string) bool {
	return !p.CheckAgents || agent != "" && slices.Contains(p.Agents, agent)
}

// Permit gives what the first matching rule says about the subject, Allow when none matches. The subject is
// the query, or for browse and web_fetch the host: as ASCII, without port. Its Unicode form is compared as
// well, and a final dot is not part of it, so that no spelling of a host slips past a rule.
func (p Policy) Permit(tool, subject string) Permission {
	subjects := []string{subject}
	if readsHosts(tool) {
		subjects[0] = strings.TrimSuffix(subject, ".")
		if u, err := idna.Lookup.ToUnicode(subjects[0]); err == nil && u != subjects[0] {
			subjects = append(subjects, u)
		}
	}
	for _, r := range p.Permissions {
		if r.Tool != AnyTool && r.Tool != tool {
			continue
		}
		for _, s := range subjects {
			if match(r.Pattern, s) {
				return r.Permission
			}
		}
	}
	return Allow
}
