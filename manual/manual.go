// Package manual holds what a person or a model reads at run time: the skill, in the Agent Skills format, and
// the reference for people.
//
// It is only text. Every example, code, limit and field in it is held against the program by tests in packages
// action and cmd/cli; the package itself knows nothing of the program. The files in words/ are what a person
// wrote of the two references that are generated, errors and limits; they are not part of the binary.
package manual

import (
	"embed"
	"strings"
)

//go:embed SKILL.md
var skill string

//go:embed reference/*.md
var reference embed.FS

// Name is the skill's name, which its folder must have too.
const Name = "web"

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

// References lists the names of the reference's parts, in the order in which they are best read.
func References() []string {
	return []string{"envelope", "errors", "settings", "operator", "limits", "threat-model"}
}

// Reference is one part of the reference, Markdown; false when there is none of that name.
func Reference(name string) (string, bool) {
	if strings.ContainsAny(name, `./\`) {
		return "", false // a name, not a path
	}
	text, err := reference.ReadFile("reference/" + name + ".md")
	return string(text), err == nil
}

// File is one file of the skill's folder.
type File struct {
	// Dir is "" or one directory below the folder; Name has no directory in it.
	Dir, Name string
	Text      string
}

// Folder is the skill as a folder: SKILL.md last, so that whoever writes the files in this order leaves no skill
// that points to what is not there.
func Folder() []File {
	var out []File
	for _, name := range References() {
		text, _ := Reference(name)
		out = append(out, File{Dir: "references", Name: name + ".md", Text: text})
	}
	return append(out, File{Name: "SKILL.md", Text: skill})
}
