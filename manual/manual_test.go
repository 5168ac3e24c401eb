package manual

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

// The bounds of the Agent Skills format: of the description in characters, of what a model is given to read when
// it takes up the skill in lines and tokens.
const (
	maxDescription = 1024
	maxLines       = 500
	maxTokens      = 5000
	// bytesPerToken is low for English in Markdown, so that the estimate is high.
	bytesPerToken = 3
)

var (
	nameForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	linkForm = regexp.MustCompile(`\]\(([^)]+)\)`)
)

// skillFaults says which rules of the format a skill's folder breaks.
func skillFaults(folder string, files []File) (faults []string) {
	texts := map[string]string{}
	for _, f := range files {
		name := path.Join(f.Dir, f.Name)
		if texts[name] != "" || f.Text == "" {
			faults = append(faults, name+" is empty or there twice")
		}
		texts[name] = f.Text
		if f.Dir != "" && f.Dir != "references" || strings.ContainsAny(f.Name, `/\`) {
			faults = append(faults, name+" lies where nobody looks")
		}
	}
	head, body, ok := strings.Cut(strings.TrimPrefix(texts["SKILL.md"], "---\n"), "\n---\n")
	if !ok || !strings.HasPrefix(texts["SKILL.md"], "---\n") {
		return append(faults, "SKILL.md has no front matter")
	}
	fields := map[string]string{}
	for line := range strings.SplitSeq(head, "\n") {
		key, value, ok := strings.Cut(line, ": ")
		if !ok || fields[key] != "" || strings.ContainsAny(value[:1], `"'[]{}>|*&!%#@`+"`") || strings.Contains(value, ": ") || strings.Contains(value, " #") {
			faults = append(faults, "front matter that is no plain YAML: "+line)
		}
		fields[key] = value
		switch key {
		case "name", "description", "license", "compatibility", "metadata", "allowed-tools":
		default:
			faults = append(faults, "unknown field "+key)
		}
	}
	if n := fields["name"]; n != folder || !nameForm.MatchString(n) || len(n) > 64 {
		faults = append(faults, "the name is not the folder's")
	}
	if n := len([]rune(strings.TrimSpace(fields["description"]))); n == 0 || n > maxDescription {
		faults = append(faults, "no description, or one that is too long")
	}
	if strings.Count(body, "\n") >= maxLines {
		faults = append(faults, "too many lines")
	}
	if len(body)/bytesPerToken >= maxTokens {
		faults = append(faults, "too many tokens")
	}
	linked := map[string]bool{"SKILL.md": true}
	for _, m := range linkForm.FindAllStringSubmatch(body, -1) {
		if strings.Contains(m[1], "://") {
			continue
		}
		if texts[m[1]] == "" {
			faults = append(faults, "a link leads to "+m[1]+", which is not there")
		}
		linked[m[1]] = true
	}
	for name := range texts {
		if !linked[name] {
			faults = append(faults, "nothing leads to "+name)
		}
	}
	return faults
}

func TestSkillObeysTheFormat(t *testing.T) {
	for _, f := range skillFaults(Name, Folder()) {
		t.Error(f)
	}
	if Folder()[len(Folder())-1].Text != Skill() {
		t.Error("SKILL.md is not the last file, so a skill can be there before what it points to")
	}
}

// TestSkillFaults: each rule fails where it is broken.
func TestSkillFaults(t *testing.T) {
	skill := func(head, body string) []File {
		return []File{{Name: "SKILL.md", Text: "---\n" + head + "\n---\n" + body}}
	}
	const head = "name: web\ndescription: Does it. Use it when it is to be done."
	if faults := skillFaults("web", skill(head, "\n# web\n")); len(faults) > 0 {
		t.Fatalf("a good skill has faults: %v", faults)
	}
	for _, c := range []struct {
		name  string
		files []File
	}{
		{"no front matter", []File{{Name: "SKILL.md", Text: "# web\n"}}},
		{"another name", skill("name: webs\ndescription: d", "x")},
		{"no description", skill("name: web", "x")},
		{"a long description", skill("name: web\ndescription: "+strings.Repeat("d", maxDescription+1), "x")},
		{"a description that YAML reads as a mapping", skill("name: web\ndescription: use: it", "x")},
		{"an unknown field", skill(head+"\nversion: 1", "x")},
		{"many lines", skill(head, strings.Repeat("x\n", maxLines))},
		{"many tokens", skill(head, strings.Repeat("word ", maxTokens))},
		{"a dead link", skill(head, "[x](references/x.md)")},
		{"a file that nothing leads to", append(skill(head, "x"), File{Dir: "references", Name: "x.md", Text: "x"})},
		{"a file too deep", append(skill(head, "[x](references/a/x.md)"), File{Dir: "references/a", Name: "x.md", Text: "x"})},
		{"an empty file", append(skill(head, "[x](references/x.md)"), File{Dir: "references", Name: "x.md"})},
	} {
		if len(skillFaults("web", c.files)) == 0 {
			t.Errorf("%s: no fault", c.name)
		}
	}
}
