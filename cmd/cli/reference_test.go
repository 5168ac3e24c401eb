package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"web/action"
	"web/browse/fault"
	"web/engines"
	"web/manual"
	"web/settings"
	"web/settings/operator"
)

// source is what the reference is held against: the module's own sources, read and not run.
type source struct {
	// program holds the directories, relative to the module, of the packages that the program is made of.
	program map[string]bool
	// files are all of ours by directory, without tests.
	files map[string][]*ast.File
	// constants are the package-level constants by "package.Name".
	constants map[string]*sourceConstant
}

type sourceConstant struct {
	dir, pkg, name, typ string
	expr                ast.Expr
	value               constant.Value // nil where it could not be told
	busy                bool
}

// readSource reads the sources below the rooms. A test reads files, so that its cached result does not outlive
// a change of them.
func readSource(t *testing.T) *source {
	t.Helper()
	const top = "../.."
	s := &source{program: map[string]bool{}, files: map[string][]*ast.File{}, constants: map[string]*sourceConstant{}}
	fset := token.NewFileSet()
	read := func(dir string) []*ast.File {
		names, err := filepath.Glob(filepath.Join(top, dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		var files []*ast.File
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		return files
	}
	var enter func(dir string)
	enter = func(dir string) {
		if s.program[dir] {
			return
		}
		s.program[dir] = true
		for _, f := range read(dir) {
			for _, imp := range f.Imports {
				if inner, ours := strings.CutPrefix(strings.Trim(imp.Path.Value, `"`), "web/"); ours {
					enter(inner)
				}
			}
		}
	}
	enter(".")
	for _, room := range []string{"action", "browse", "cmd", "engines", "settings", "spill", "manual"} {
		err := filepath.WalkDir(filepath.Join(top, room), func(p string, d os.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(top, p)
			if err != nil {
				return err
			}
			rel = filepath.ToSlash(rel)
			if d.Name() == "testdata" || d.Name() == "train" || strings.HasSuffix(d.Name(), "test") {
				return filepath.SkipDir
			}
			if files := read(rel); len(files) > 0 {
				s.files[rel] = files
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for dir, files := range s.files {
		for _, f := range files {
			for _, decl := range f.Decls {
				gen, ok := decl.(*ast.GenDecl)
				if !ok || gen.Tok != token.CONST {
					continue
				}
				for _, spec := range gen.Specs {
					v := spec.(*ast.ValueSpec)
					typ := ""
					switch x := v.Type.(type) {
					case *ast.Ident:
						typ = x.Name
					case *ast.SelectorExpr:
						typ = x.Sel.Name
					}
					for i, name := range v.Names {
						if i < len(v.Values) {
							s.constants[f.Name.Name+"."+name.Name] = &sourceConstant{dir: dir, pkg: f.Name.Name, name: name.Name, typ: typ, expr: v.Values[i]}
						}
					}
				}
			}
		}
	}
	for _, c := range s.constants {
		s.evaluate(c)
	}
	if len(s.program) < 20 || len(s.constants) < 200 {
		t.Fatalf("read only %d packages and %d constants", len(s.program), len(s.constants))
	}
	return s
}

func (s *source) evaluate(c *sourceConstant) constant.Value {
	if c == nil || c.busy {
		return nil
	}
	if c.value == nil {
		c.busy = true
		c.value = s.valueOf(c.pkg, c.expr)
		c.busy = false
	}
	return c.value
}

// valueOf is the value of a constant expression of the forms that limits are written in; nil for others.
func (s *source) valueOf(pkg string, e ast.Expr) (v constant.Value) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(e.Value, e.Kind, 0)
	case *ast.ParenExpr:
		return s.valueOf(pkg, e.X)
	case *ast.Ident:
		return s.evaluate(s.constants[pkg+"."+e.Name])
	case *ast.SelectorExpr:
		from, ok := e.X.(*ast.Ident)
		if !ok {
			return nil
		}
		if from.Name == "time" {
			d, ok := map[string]time.Duration{"Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute, "Hour": time.Hour}[e.Sel.Name]
			if !ok {
				return nil
			}
			return constant.MakeInt64(int64(d))
		}
		return s.evaluate(s.constants[from.Name+"."+e.Sel.Name])
	case *ast.BinaryExpr:
		x, y := s.valueOf(pkg, e.X), s.valueOf(pkg, e.Y)
		if x == nil || y == nil || x.Kind() != constant.Int || y.Kind() != constant.Int {
			return nil
		}
		if e.Op == token.SHL {
			n, _ := constant.Uint64Val(y)
			return constant.Shift(x, token.SHL, uint(n))
		}
		if e.Op == token.MUL || e.Op == token.ADD || e.Op == token.SUB {
			return constant.BinaryOp(x, e.Op, y)
		}
	}
	return nil
}

// wordList is a file of manual/words: lines of fields under headings, and between them prose that is kept.
type wordList struct {
	lines []wordsLine
	byKey map[string]*wordsLine
}

type wordsLine struct {
	key      string // "" for prose and headings
	early    bool   // the program may not have it yet
	group    string
	fields   []string
	verbatim string
}

func readWords(t *testing.T, name string) *wordList {
	t.Helper()
	data, err := os.ReadFile("../../manual/words/" + name)
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(data), "\n## ")
	if !found {
		t.Fatalf("%s has no group", name)
	}
	w := &wordList{byKey: map[string]*wordsLine{}}
	group := ""
	for line := range strings.Lines("## " + text) {
		line = strings.TrimRight(line, "\n")
		if title, heading := strings.CutPrefix(line, "## "); heading {
			group = title
		}
		l := wordsLine{group: group, verbatim: line}
		if key, rest, entry := strings.Cut(line, " | "); entry {
			l.key, l.early = strings.CutPrefix(key, "+")
			for _, field := range strings.Split(rest, " | ") {
				l.fields = append(l.fields, strings.TrimSpace(strings.TrimSuffix(field, " |")))
			}
			if w.byKey[l.key] != nil {
				t.Errorf("%s has %s twice", name, l.key)
			}
			w.byKey[l.key] = &l
		}
		w.lines = append(w.lines, l)
	}
	return w
}

// page writes the words as a page: a table per group, of the lines that row gives cells for.
func (w *wordList) page(intro, header string, row func(l wordsLine) (cells []string)) string {
	var b strings.Builder
	b.WriteString(intro)
	group, title, inTable := "", "", false
	for _, l := range w.lines {
		if l.group == notLimits {
			continue
		}
		if l.group != group {
			group, title, inTable = l.group, "\n## "+l.group+"\n", false
		}
		switch {
		case l.key != "":
			cells := row(l)
			if cells == nil {
				continue
			}
			b.WriteString(title)
			title = ""
			if !inTable {
				b.WriteString("\n" + header + "\n|" + strings.Repeat(" --- |", strings.Count(header, "|")-1) + "\n")
				inTable = true
			}
			b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
		case l.verbatim != "" && !strings.HasPrefix(l.verbatim, "## "):
			if inTable {
				b.WriteByte('\n')
				inTable = false
			}
			b.WriteString(l.verbatim + "\n")
		}
	}
	return b.String()
}

// holdPage compares a generated page with the one that is in the program, or rewrites it.
func holdPage(t *testing.T, name, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile("../../manual/reference/"+name+".md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, _ := manual.Reference(name)
	if diff := gocmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("manual/reference/%s.md is not what the constants and manual/words make; after a look at it, run\n"+
			"go test ./cmd/cli -run Reference -update\n%s", name, diff)
	}
}

const errorsIntro = `# Error codes

A failed call answers ` + "`status` `failed` with `error_code`, `message`, `retryable`, sometimes `retry_after_ms`, and\n`recommended_action`" + `, which is the one next step for the case at hand. This page is the general picture.

*exit* is the exit status of the process; *retryable* whether the same call may succeed later (*depends*: the answer
says). A code is never given another meaning and never goes away.
`

// TestReferenceErrors: every code that the program declares stands in the reference, with the exit status that
// the program gives it and with words; what is generated is what is shipped.
func TestReferenceErrors(t *testing.T) {
	s, w := readSource(t), readWords(t, "codes.txt")
	codes := map[string]bool{}
	for name, c := range s.constants {
		if c.typ != "Code" || !strings.HasPrefix(c.dir, "action") && c.dir != "browse/fault" {
			continue
		}
		if c.value == nil || c.value.Kind() != constant.String {
			t.Errorf("the value of %s is no literal", name)
			continue
		}
		codes[constant.StringVal(c.value)] = true
	}
	if len(codes) < 50 {
		t.Fatalf("found only %d codes", len(codes))
	}
	for code := range codes {
		if w.byKey[code] == nil {
			t.Errorf("%s is not documented: add a line for it to manual/words/codes.txt", code)
		}
	}
	traits := map[string]bool{}
	for _, c := range fault.Codes() {
		traits[string(c)] = fault.New(c, "", "").Retryable
	}
	for _, l := range w.lines {
		if l.key == "" {
			continue
		}
		if !codes[l.key] && !l.early {
			t.Errorf("manual/words/codes.txt has %s, which no call answers", l.key)
		}
		if len(l.fields) != 3 || slices.Contains(l.fields, "") || !slices.Contains([]string{"yes", "no", "depends"}, l.fields[0]) {
			t.Errorf("manual/words/codes.txt: the line of %s has not the form that its head describes", l.key)
			continue
		}
		if retryable, known := traits[l.key]; known && retryable != (l.fields[0] == "yes") {
			t.Errorf("manual/words/codes.txt says %q of whether %s is retryable, the program says %v", l.fields[0], l.key, retryable)
		}
	}
	if t.Failed() {
		return
	}
	holdPage(t, "errors", w.page(errorsIntro, "| code | exit | retryable | what happened | what to do |", func(l wordsLine) []string {
		if !codes[l.key] {
			return nil
		}
		exit := statusOf(context.Background(), &action.Failure{Status: action.Failed, Code: action.Code(l.key)})
		return []string{"`" + l.key + "`", strconv.Itoa(exit), l.fields[0], l.fields[1], l.fields[2]}
	}))
}

const limitsIntro = `# Limits

What is bounded, where, and what happens there. Nothing is shortened without a word: a result over its threshold goes
whole to a file, and where something is cut for display the answer says so or this page does. The last column names the
constant in the program.
`

// notLimits is the group of constants that are named like limits and are none.
const notLimits = "not limits"

var (
	limitName      = regexp.MustCompile(`^(Max|Min|Default)[A-Z]`)
	innerLimitName = regexp.MustCompile(`^(max|min)[A-Z]`)
)

// isLimit says which constants have to be documented: numbers named as bounds that a package shows to others,
// and in the rooms where a call meets its bounds also those that it keeps to itself.
func isLimit(c *sourceConstant) bool {
	if c.value == nil || c.value.Kind() != constant.Int {
		return false
	}
	return limitName.MatchString(c.name) || innerLimitName.MatchString(c.name) &&
		slices.Contains([]string{"action", "action/ledger", "browse/fetch", "browse/refs", "browse/snapshots", "cmd/cli", "engines/tavily"}, c.dir)
}

// TestReferenceLimits is the same for limits, whose figures come from the constants.
func TestReferenceLimits(t *testing.T) {
	s, w := readSource(t), readWords(t, "limits.txt")
	for name, c := range s.constants {
		if s.program[c.dir] && isLimit(c) && w.byKey[name] == nil {
			t.Errorf("%s is not documented: add a line for it to manual/words/limits.txt, or say there that it is no limit", name)
		}
	}
	for _, l := range w.lines {
		if l.key == "" {
			continue
		}
		if c := s.constants[l.key]; c == nil && !l.early || c != nil && (c.value == nil || c.value.Kind() != constant.Int) {
			t.Errorf("manual/words/limits.txt has %s, which is no constant with a figure", l.key)
		}
		if want := 3; l.group == notLimits && len(l.fields) != 1 || l.group != notLimits && len(l.fields) != want && len(l.fields) != want-1 {
			t.Errorf("manual/words/limits.txt: the line of %s has not the form that its head describes", l.key)
		}
	}
	if t.Failed() {
		return
	}
	holdPage(t, "limits", w.page(limitsIntro, "| what | limit | at the limit | constant |", func(l wordsLine) []string {
		c := s.constants[l.key]
		if c == nil || !s.program[c.dir] {
			return nil
		}
		n, _ := constant.Int64Val(c.value)
		at := ""
		if len(l.fields) > 2 {
			at = l.fields[2]
		}
		return []string{l.fields[0], quantity(n, l.fields[1]), at, "`" + l.key + "`"}
	}))
}

// quantity is a figure as people write it.
func quantity(n int64, unit string) string {
	switch {
	case unit == "time":
		return time.Duration(n).String()
	case unit == "bytes" && n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprint(n>>20, " MiB")
	case unit == "bytes" && n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprint(n>>10, " KiB")
	case n == 1:
		unit = strings.TrimSuffix(unit, "s")
	}
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits + " " + unit
}

func TestQuantity(t *testing.T) {
	for _, c := range []struct {
		n    int64
		unit string
		want string
	}{
		{1 << 20, "bytes", "1 MiB"}, {65536, "bytes", "64 KiB"}, {1000, "bytes", "1,000 bytes"}, {1, "characters", "1 character"},
		{500_000, "characters", "500,000 characters"}, {64, "pages", "64 pages"}, {int64(90 * time.Second), "time", "1m30s"},
	} {
		if got := quantity(c.n, c.unit); got != c.want {
			t.Errorf("%d %s: got %q, want %q", c.n, c.unit, got, c.want)
		}
	}
}

// named reports whether a page says a word as code.
func named(page, word string) bool { return strings.Contains(page, "`"+word+"`") }

var jsonName = regexp.MustCompile(`json:"([^",]+)`)

// TestReferenceEnvelope: every field that an answer can have, every warning and every status is explained.
func TestReferenceEnvelope(t *testing.T) {
	s := readSource(t)
	page, _ := manual.Reference("envelope")
	fields := 0
	for _, f := range s.files["action"] {
		ast.Inspect(f, func(n ast.Node) bool {
			field, ok := n.(*ast.Field)
			if !ok || field.Tag == nil {
				return true
			}
			if m := jsonName.FindStringSubmatch(field.Tag.Value); m != nil {
				fields++
				if !named(page, m[1]) {
					t.Errorf("manual/reference/envelope.md does not explain the field %s of an answer", m[1])
				}
			}
			return true
		})
	}
	found := map[string]int{}
	for name, c := range s.constants {
		kind := c.typ
		if strings.HasPrefix(c.name, "Warn") {
			kind = "Warning"
		}
		if c.value == nil || c.value.Kind() != constant.String || !s.program[c.dir] || kind == "Name" && c.dir != "action" ||
			!slices.Contains([]string{"Warning", "Status", "Stage", "Name"}, kind) {
			continue
		}
		found[kind]++
		if word := constant.StringVal(c.value); !named(page, word) {
			t.Errorf("manual/reference/envelope.md does not explain %s (%s)", word, name)
		}
	}
	if fields < 100 || found["Warning"] < 10 || found["Status"] < 4 || found["Stage"] < 8 || found["Name"] < 4 {
		t.Errorf("found only %d fields and %v", fields, found)
	}
}

// knownKeys asks the operator file's own reader which keys an object may have.
func knownKeys(t *testing.T, format string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "operator.json")
	if err := os.WriteFile(file, fmt.Appendf(nil, `{"schema_version":1,`+format+`}`, `"no such key":1`), 0o600); err != nil {
		t.Fatal(err)
	}
	none := func(string) (string, bool) { return "", false }
	_, err := operator.Read(operator.Location{Path: file, Explicit: true}, none)
	if err == nil {
		t.Fatal("an unknown key was taken")
	}
	_, list, found := strings.Cut(err.Error(), "known are ")
	if !found {
		t.Fatalf("the reader says %v", err)
	}
	return strings.Split(list, ", ")
}

// TestReferenceOperator: every key that the operator's file may have, and every variable, is explained.
func TestReferenceOperator(t *testing.T) {
	page, _ := manual.Reference("operator")
	keys := []string{}
	for _, object := range []string{`%s`, `"llm":{%s}`, `"engines":{%s}`, `"network":{%s}`, `"limits":{%s}`, `"summarizer":{%s}`, `"store":{%s}`} {
		prefix, _, _ := strings.Cut(strings.TrimPrefix(object, `"`), `"`)
		for _, key := range knownKeys(t, object) {
			if prefix != "%s" && prefix != "engines" {
				key = prefix + "." + key
			}
			keys = append(keys, key)
		}
	}
	for _, name := range engines.Names() {
		for _, key := range knownKeys(t, `"engines":{"`+name+`":{%s}}`) {
			keys = append(keys, "engines.NAME."+key)
		}
	}
	if len(keys) < 25 {
		t.Errorf("found only %v", keys)
	}
	for name, c := range readSource(t).constants {
		if c.pkg == "operator" && strings.HasPrefix(c.name, "Env") {
			if c.value == nil {
				t.Errorf("the value of %s is no literal", name)
				continue
			}
			keys = append(keys, constant.StringVal(c.value))
		}
	}
	for _, key := range keys {
		if !named(page, key) {
			t.Errorf("manual/reference/operator.md does not explain %s", key)
		}
	}
}

var jsonFence = regexp.MustCompile("(?s)```json\n(.*?)```")

// TestReferenceExamples: the files that the reference and README show are files that the program takes.
func TestReferenceExamples(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	settingsPage, _ := manual.Reference("settings")
	operatorPage, _ := manual.Reference("operator")
	seen := map[string]int{}
	for _, m := range jsonFence.FindAllStringSubmatch(settingsPage+operatorPage+string(readme), -1) {
		dir := t.TempDir()
		write := func(name string) string {
			file := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(m[1]), 0o600); err != nil {
				t.Fatal(err)
			}
			return file
		}
		keys := func(name string) (value string, set bool) {
			if set = strings.HasSuffix(name, "_API_KEY"); set {
				value = "key"
			}
			return value, set
		}
		taken := func(s settings.Snapshot) string {
			if s.Source != settings.OutputFile && s.Source != settings.SearchFile {
				return "not taken: " + s.Diagnostic
			}
			return ""
		}
		kind, wrong := "", ""
		switch {
		case strings.Contains(m[1], `"mcpServers"`):
			kind = "host"
			wrong = hostMistake(m[1])
		case strings.Contains(m[1], `"action"`):
			kind = "envelope"
			if _, f := action.Decode([]byte(m[1])); f != nil {
				wrong = f.Error()
			}
		case strings.Contains(m[1], `"max_chars"`):
			kind = settings.OutputFile
			write(kind)
			wrong = taken(settings.ReadOutput(settings.In(dir)).Snapshot)
		case strings.Contains(m[1], `"engine":`) && !strings.Contains(m[1], "limits"):
			kind = settings.SearchFile
			write(kind)
			wrong = taken(settings.ReadSearch(settings.In(dir), func(name string) bool { return slices.Contains(engines.Names(), name) }).Snapshot)
		default:
			kind = "operator"
			if _, err := operator.Read(operator.Location{Path: write("operator.json"), Explicit: true}, keys); err != nil {
				wrong = err.Error()
			}
		}
		seen[kind]++
		if wrong != "" {
			t.Errorf("%s: %s\n%s", kind, wrong, m[1])
		}
	}
	if seen["operator"] < 4 || seen["host"] < 1 || seen["envelope"] < 1 || seen[settings.OutputFile] < 1 || seen[settings.SearchFile] < 1 {
		t.Errorf("found only %v", seen)
	}
}

// hostMistake says what is wrong with a host's configuration that starts the program.
func hostMistake(text string) string {
	var host struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
		}
	}
	if err := json.Unmarshal([]byte(text), &host); err != nil {
		return err.Error()
	}
	server := host.MCPServers["web"]
	cmd, args, err := (&app{}).root().Find(server.Args)
	switch {
	case err != nil:
		return err.Error()
	case server.Command != "web" || cmd.Name() != "mcp":
		return "it does not start web mcp"
	}
	if err := cmd.ParseFlags(args); err != nil {
		return err.Error()
	}
	return ""
}

// TestReferenceThreatModel: every refusal of an address has its place in the threat model.
func TestReferenceThreatModel(t *testing.T) {
	page, _ := manual.Reference("threat-model")
	blocked := 0
	for _, c := range fault.Codes() {
		if strings.HasSuffix(string(c), "_BLOCKED") {
			blocked++
			if !named(page, string(c)) {
				t.Errorf("manual/reference/threat-model.md does not name %s", c)
			}
		}
	}
	if blocked < 8 {
		t.Errorf("found only %d refusals", blocked)
	}
}

// TestReferenceParts: every part can be had by its name, and no other name leads anywhere.
func TestReferenceParts(t *testing.T) {
	files, err := filepath.Glob("../../manual/reference/*")
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, f := range files {
		have = append(have, strings.TrimSuffix(filepath.Base(f), ".md"))
	}
	want := slices.Sorted(slices.Values(manual.References()))
	if diff := gocmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range want {
		text, ok := manual.Reference(name)
		if !ok || !strings.HasPrefix(text, "# ") || !strings.HasSuffix(text, "\n") || len(text) < 1000 {
			t.Errorf("%s is no page", name)
		}
		if !strings.Contains(manual.Skill(), "references/"+name+".md") {
			t.Errorf("the skill does not lead to %s", name)
		}
		if !strings.Contains(string(readme), "manual/reference/"+name+".md") {
			t.Errorf("README does not lead to %s", name)
		}
	}
	for _, name := range []string{"", "nope", "../SKILL", "errors.md", `..\words`, "Errors"} {
		if _, ok := manual.Reference(name); ok {
			t.Errorf("%q leads somewhere", name)
		}
	}
	if last := manual.Folder()[len(manual.Folder())-1]; path.Join(last.Dir, last.Name) != "SKILL.md" {
		t.Errorf("the folder's last file is %s", cmp.Or(last.Dir, last.Name))
	}
}
