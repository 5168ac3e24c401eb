package cmd

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "web"

// rooms says which rooms a room may import beside its own; anything below a room belongs to it. An import
// that is not here is wrong even where it compiles.
var rooms = map[string][]string{
	".":        {"cmd"},
	"cmd":      {"action", "engines", "browse", "spill", "settings", "manual"},
	"action":   {"engines", "browse", "spill", "settings", "manual"},
	"engines":  {},
	"browse":   {"spill/confined"}, // refs and snapshots are written below the working directory by its one writer
	"spill":    {},
	"settings": {"spill/confined"}, // `web init` writes below the working directory
	"manual":   {},
}

// testOnly lists what only tests may import, and packages for tests: those whose name ends in "test". What
// imports any of it is itself only for tests.
var testOnly = []string{"github.com/google/go-cmp", "github.com/rogpeppe/go-internal", "testing", "net/http/httptest"}

// reserved are modules that one package alone may import, tests aside: the rest of the program must not know what
// they speak.
var reserved = map[string]string{"github.com/modelcontextprotocol/go-sdk": "cmd/mcp"}

// goFiles visits the module's Go files; folders with a go.mod of their own are other modules.
func goFiles(t *testing.T, visit func(rel string)) {
	t.Helper()
	top := ".."
	if _, err := os.Stat(filepath.Join(top, "go.mod")); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(p, top+string(filepath.Separator)))
		if d.IsDir() {
			_, nested := os.Stat(filepath.Join(p, "go.mod"))
			if p != top && (nested == nil || strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "tmpdeps") {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(rel, ".go") {
			visit(rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func roomOf(dir string) string {
	room, _, _ := strings.Cut(dir, "/")
	return room
}

func TestImportsFlowOneWay(t *testing.T) {
	seen := map[string]bool{}
	forTests := map[string]bool{} // packages of ours
	importers := map[string][]string{}
	goFiles(t, func(rel string) {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", rel), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		room := roomOf(path.Dir(rel))
		may, known := rooms[room]
		if !known {
			t.Errorf("%s lies in no known room", rel)
			return
		}
		seen[room] = true
		for _, imp := range file.Imports {
			target := strings.Trim(imp.Path.Value, `"`)
			if !strings.HasSuffix(rel, "_test.go") {
				importers[target] = append(importers[target], rel)
				for p, owner := range reserved {
					if strings.HasPrefix(target+"/", p+"/") && path.Dir(rel) != owner {
						t.Errorf("%s imports %s, which is %s's alone", rel, target, owner)
					}
				}
				if slices.ContainsFunc(testOnly, func(p string) bool { return target == p || strings.HasPrefix(target, p+"/") }) {
					if !strings.HasSuffix(path.Dir(rel), "test") {
						t.Errorf("%s imports %s, which is for tests", rel, target)
					}
					forTests[module+"/"+path.Dir(rel)] = true
				}
			}
			inside, ours := strings.CutPrefix(target, module+"/")
			if !ours || roomOf(inside) == room || slices.Contains(may, roomOf(inside)) || slices.Contains(may, inside) {
				continue
			}
			t.Errorf("%s imports %s; %s may import only %v", rel, target, room, may)
		}
	})
	for pkg := range forTests {
		if len(importers[pkg]) > 0 {
			t.Errorf("%v import %s, which is for tests", importers[pkg], pkg)
		}
	}
	for room := range rooms {
		if !seen[room] {
			t.Errorf("room %s holds no Go file", room)
		}
	}
}

func TestOnePackageCommentPerDirectory(t *testing.T) {
	comments, dirs := map[string]int{}, map[string]bool{}
	goFiles(t, func(rel string) {
		if strings.HasSuffix(rel, "_test.go") {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", rel), nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		dirs[path.Dir(rel)] = true
		if file.Doc != nil {
			comments[path.Dir(rel)]++
		}
	})
	for dir := range dirs {
		if comments[dir] != 1 {
			t.Errorf("%s has %d package comments, want 1", dir, comments[dir])
		}
	}
}

func TestTopLevel(t *testing.T) {
	want := []string{"CONTRIBUTING.md", "LICENSE", "README.md", "action", "browse", "cmd", "engines", "go.mod", "go.sum", "main.go", "manual", "settings", "spill", "testdata"}
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && e.Name() != "tmp" && e.Name() != "capabilities" && e.Name() != "tmpdeps" && !slices.Contains(want, e.Name()) {
			t.Errorf("%s does not belong to the top level", e.Name())
		}
	}
	for _, name := range want {
		if _, err := os.Stat(filepath.Join("..", name)); err != nil {
			t.Errorf("%s is missing", name)
		}
	}
}
