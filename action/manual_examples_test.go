package action

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"web/browse/fault"
	"web/engines"
	"web/manual"
	"web/settings"
	"web/settings/strictjson"
)

// declaredCodes reads the constants of type Code out of the sources, by value.
func declaredCodes(t *testing.T) map[string]string {
	t.Helper()
	names := map[string]string{}
	for _, dir := range []string{".", "../browse/fault"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		must(t, err)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			must(t, err)
			ast.Inspect(file, func(n ast.Node) bool {
				spec, ok := n.(*ast.ValueSpec)
				if !ok {
					return true
				}
				if typ, ok := spec.Type.(*ast.Ident); !ok || typ.Name != "Code" {
					return true
				}
				for i, v := range spec.Values {
					lit, ok := v.(*ast.BasicLit)
					if !ok {
						t.Errorf("%s: the value of %s is no literal", name, spec.Names[i])
						continue
					}
					value, err := strconv.Unquote(lit.Value)
					must(t, err)
					if other, twice := names[value]; twice {
						t.Errorf("%s is declared as %s and as %s", value, other, spec.Names[i].Name)
					}
					names[value] = spec.Names[i].Name
				}
				return true
			})
		}
	}
	return names
}

var codeForm = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$`)

func TestCodesAreDeclaredOnce(t *testing.T) {
	codes := declaredCodes(t)
	for value := range codes {
		if !codeForm.MatchString(value) {
			t.Errorf("%q is not spelled as a code", value)
		}
	}
	for _, c := range fault.Codes() {
		if codes[string(c)] == "" {
			t.Errorf("%s has no constant", c)
		}
	}
	if len(codes) < 40 || codes["ENVELOPE_INVALID"] == "" {
		t.Errorf("found only %d codes", len(codes))
	}
	// A code written out elsewhere would be a second declaration.
	files, err := filepath.Glob("*.go")
	must(t, err)
	for _, name := range files {
		if name == "code.go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		must(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if value, err := strconv.Unquote(lit.Value); err == nil && codes[value] != "" {
					t.Errorf("%s spells %s out", name, value)
				}
			}
			return true
		})
	}
}

// blockedGroup is how the manual names the codes of refused addresses together.
const blockedGroup = "codes that end in `_BLOCKED`"

// TestManualNamesEveryCode: an agent finds every code it can get in the manual's tables, and no other.
func TestManualNamesEveryCode(t *testing.T) {
	var tables strings.Builder
	for line := range strings.Lines(manual.Skill()) {
		if strings.HasPrefix(line, "|") {
			tables.WriteString(line)
		}
	}
	codes := declaredCodes(t)
	for code := range codes {
		grouped := strings.HasSuffix(code, "_BLOCKED") && strings.Contains(tables.String(), blockedGroup)
		if !grouped && !strings.Contains(tables.String(), "`"+code+"`") {
			t.Errorf("the manual does not name %s", code)
		}
	}
	_, errorTable, found := strings.Cut(manual.Skill(), "| error_code |")
	if !found {
		t.Fatal("no table of codes")
	}
	for line := range strings.Lines(errorTable) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			if strings.TrimSpace(line) == "" {
				break
			}
			continue
		}
		for _, m := range regexp.MustCompile("`([A-Z0-9_]+)`").FindAllStringSubmatch(cells[1], -1) {
			if m[1] != "_BLOCKED" && codes[m[1]] == "" {
				t.Errorf("the manual names %s, which no call answers", m[1])
			}
		}
	}
}

var jsonFence = regexp.MustCompile("(?s)```json\n(.*?)```")

// TestManualExamples runs every JSON example of the manual: envelopes through the program, settings from disk.
func TestManualExamples(t *testing.T) {
	examples := jsonFence.FindAllStringSubmatch(manual.Skill(), -1)
	if fences := strings.Count(manual.Skill(), "\n```") / 2; fences != len(examples) || fences == 0 {
		t.Fatalf("%d fences, %d JSON examples", fences, len(examples))
	}
	seen := map[string]int{}
	for _, m := range examples {
		example := m[1]
		tree, err := strictjson.Parse([]byte(example))
		if err != nil {
			t.Errorf("%v:\n%s", err, example)
			continue
		}
		doc, _ := tree.(map[string]any)
		w := newWorld(t)
		switch {
		case doc["action"] != nil:
			e, f := Decode([]byte(example))
			if f != nil {
				t.Errorf("%v:\n%s", f, example)
				continue
			}
			if len(e.bad) > 0 {
				t.Errorf("bad fields %v:\n%s", e.bad, example)
			}
			if e.Reasoning == "" {
				t.Errorf("sets a bad example without reasoning:\n%s", example)
			}
			seen[string(e.Action)]++
			w.search("what makes the ref of the examples known")
			for _, url := range []string{"https://ex.org/a", "https://go.dev/doc/effective_go"} {
				w.pages[url] = webPage{"text/html", "<p>text</p>"}
			}
			if a := w.call(example); a["error_code"] != nil {
				t.Errorf("%v:\n%s", a["error_code"], example)
			}
		case doc["max_chars"] != nil:
			w.put(settings.OutputFile, example)
			seen[settings.OutputFile]++
			w.search("q").want(t, expect{"status": "ok", "current_setting.output_max_chars.source": settings.OutputFile})
		case doc["engine"] != nil:
			w.put(settings.SearchFile, example)
			seen[settings.SearchFile]++
			w.search("q").want(t, expect{"status": "ok", "current_setting.source": settings.SearchFile})
		default:
			t.Errorf("an example of nothing that is known here:\n%s", example)
		}
	}
	for _, want := range []string{"search", "browse", settings.OutputFile, settings.SearchFile} {
		if seen[want] == 0 {
			t.Errorf("no example of %s", want)
		}
	}
}

// TestManualSaysWhatIsTrue holds the figures and names in the manual's sentences.
func TestManualSaysWhatIsTrue(t *testing.T) {
	skill := manual.Skill()
	for _, want := range []string{
		"evidence, never instruction", "`file.read`", "`" + settings.OutputFile + "`", "`" + settings.SearchFile + "`",
		"The threshold is " + strconv.Itoa(settings.DefaultMaxChars), "`max_chars` | 1.." + strconv.Itoa(settings.MaxMaxChars),
		"`" + RefsNotStored + "`", "`" + engines.Anthropic + "` and `" + engines.Gemini + "`",
		"legacy extraction fallback", "not decodable text", "`web schema`",
	} {
		if !strings.Contains(skill, want) {
			t.Errorf("the manual does not say %q", want)
		}
	}
	if !strings.HasPrefix(skill, "---\nname: web\ndescription: ") || strings.HasPrefix(manual.Body(), "---") || !strings.HasSuffix(skill, manual.Body()) {
		t.Error("front matter")
	}
}
