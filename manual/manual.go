// Package manual holds what a person or a model reads at run time: the skill, in the Agent Skills format.
//
// It is only text. Every example and every code in it is held against the program by a test in package action;
// the package itself knows nothing of the program.
package manual

import (
	_ "embed"
	"strings"
)

//go:embed SKILL.md
var skill string

// Skill is the whole skill, front matter included: what is installed.
func Skill() string { return skill }

// Body is the skill without its front matter: what `web manual` prints.
func Body() string {
	_, rest, ok := strings.Cut(strings.TrimPrefix(skill, "---\n"), "\n---\n")
	if !ok {
		return skill
	}
	return strings.TrimLeft(rest, "\n")
}
