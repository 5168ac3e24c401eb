package formats

import (
	"strings"

	"web/browse/blocks"
)

// maxFrontMatter is how many bytes front matter may have; a longer stretch between two rules is text.
const maxFrontMatter = 64 << 10

// frontMatter reads the metadata block at the start of a Markdown file, in YAML or TOML, into doc and returns
// the text behind it. What does not look like metadata in every line is text that begins with a rule.
func frontMatter(doc *blocks.Document, text string) string {
	sep := byte(':')
	first, rest, ok := strings.Cut(text, "\n")
	switch strings.TrimRight(first, " \t") {
	case "---":
	case "+++":
		sep = '='
	default:
		return text
	}
	var keys []string
	values := make(map[string][]string)
	key := ""
	for pos := 0; ok && pos < len(rest) && pos <= maxFrontMatter; {
		line, _, more := strings.Cut(rest[pos:], "\n")
		pos = min(len(rest), pos+len(line)+1)
		trimmed := strings.TrimSpace(line)
		switch {
		case sep == ':' && (strings.TrimRight(line, " \t") == "---" || strings.TrimRight(line, " \t") == "..."),
			sep == '=' && trimmed == "+++":
			if len(keys) == 0 {
				return text
			}
			applyFrontMatter(doc, values)
			return rest[pos:]
		case trimmed == "" || trimmed[0] == '#' || sep == '=' && trimmed[0] == '[':
			// In TOML a table opens here; its keys are not the page's.
			if sep == '=' && trimmed != "" && trimmed[0] == '[' {
				key = "["
			}
		case line[0] == ' ' || line[0] == '\t' || line[0] == '-' || sep == '=' && (trimmed[0] == ']' || trimmed[0] == '"'):
			if key == "" {
				return text
			}
			item := strings.TrimSpace(strings.TrimPrefix(trimmed, "-"))
			if name, ok := strings.CutPrefix(item, "name:"); ok {
				item = name
			}
			values[key] = append(values[key], item)
		default:
			name, value, found := strings.Cut(line, string(sep))
			name = strings.Trim(strings.ToLower(strings.TrimSpace(name)), `"'`)
			if !found || name == "" || strings.ContainsAny(name, " \t") && sep == '=' || len(name) > 100 {
				return text
			}
			if key != "[" {
				key = name
				keys = append(keys, key)
				values[key] = []string{value}
			}
		}
		if !more {
			break
		}
	}
	return text
}

// applyFrontMatter knows the keys that the common site generators use.
func applyFrontMatter(doc *blocks.Document, values map[string][]string) {
	get := func(keys ...string) string {
		for _, k := range keys {
			if v := frontMatterValue(values[k]); v != "" {
				return v
			}
		}
		return ""
	}
	doc.Title = get("title")
	m := &doc.Meta
	m.Byline = get("author", "authors", "byline")
	m.Published = get("date", "published", "pubdate", "publishdate", "created")
	m.SiteName = get("site_name", "site")
	m.Language = get("lang", "language", "locale")
	m.Description = get("description", "summary", "excerpt")
}

// frontMatterValue makes one line of text of a scalar, a block scalar or a list.
func frontMatterValue(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	first := strings.TrimSpace(lines[0])
	switch strings.TrimRight(first, "+-") {
	case ">", "|":
		return collapse(strings.Join(lines[1:], " "))
	}
	var items []string
	if strings.HasPrefix(first, "[") {
		list := strings.Trim(strings.Join(append([]string{first}, lines[1:]...), " "), "[] ")
		for item := range strings.SplitSeq(list, ",") {
			items = append(items, unquote(item))
		}
	} else {
		if first == "" {
			lines = lines[1:]
		}
		for _, line := range lines {
			items = append(items, unquote(line))
		}
	}
	sep := ", "
	if first != "" && !strings.HasPrefix(first, "[") {
		sep = " " // a plain scalar that goes on in the next lines
	}
	return collapse(strings.Join(items, sep))
}

// unquote is the text of a YAML or TOML scalar on one line.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') {
		if end := strings.LastIndexByte(s, s[0]); end > 0 {
			quote := string(s[0])
			s = s[1:end]
			if quote == "'" {
				return strings.ReplaceAll(s, "''", "'")
			}
			return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(s)
		}
	}
	// A comment follows a plain value after a space.
	if i := strings.Index(s, " #"); i >= 0 {
		s = s[:i]
	}
	return s
}
