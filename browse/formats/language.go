package formats

import "strings"

// Language names the language of a text of kind KindCode, for the fence of its code block; "" when unknown.
func Language(mediaType, text string) string {
	if lang := languageOf(mediaType); lang != "" {
		return lang
	}
	if isHTMLPage(asciiHead([]byte(text[:min(len(text), sniffBytes)]))) {
		return "html"
	}
	return ""
}

// languageOf is the language a media type of source code states. "" means that the type is prose or unknown.
func languageOf(mediaType string) string {
	switch mediaType {
	case "application/javascript", "text/javascript", "application/x-javascript", "text/x-javascript", "application/ecmascript",
		"text/ecmascript", "text/jscript", "text/livescript", "text/jsx":
		return "javascript"
	case "application/typescript", "text/typescript", "application/x-typescript", "text/x-typescript":
		return "typescript"
	case "text/css", "text/x-css":
		return "css"
	case "application/yaml", "text/yaml", "application/x-yaml", "text/x-yaml", "text/vnd.yaml", "application/openapi+yaml":
		return "yaml"
	case "application/toml", "text/x-toml", "text/toml":
		return "toml"
	case "application/x-sh", "text/x-sh", "text/x-shellscript", "application/x-shellscript", "application/x-bash", "application/x-csh":
		return "bash"
	case "application/x-python", "text/x-python", "application/x-python-code", "text/x-script.python", "text/x-python3":
		return "python"
	case "application/x-ruby", "text/x-ruby", "text/x-ruby-script":
		return "ruby"
	case "application/x-perl", "text/x-perl", "text/x-perl-script":
		return "perl"
	case "application/x-php", "application/x-httpd-php", "text/x-php", "application/x-httpd-php-source", "text/php":
		return "php"
	case "text/x-c", "text/x-csrc", "text/x-chdr":
		return "c"
	case "text/x-c++", "text/x-c++src", "text/x-c++hdr":
		return "cpp"
	case "text/x-csharp":
		return "csharp"
	case "text/x-java", "text/x-java-source", "text/x-java-source,java":
		return "java"
	case "text/x-golang", "text/x-go":
		return "go"
	case "text/x-rust", "text/rust", "text/x-rustsrc":
		return "rust"
	case "text/x-diff", "text/x-patch", "application/x-patch":
		return "diff"
	case "application/sql", "text/x-sql", "application/x-sql":
		return "sql"
	case "application/graphql":
		return "graphql"
	case "application/x-tex", "text/x-tex", "application/x-latex", "text/x-latex":
		return "latex"
	case "application/json5", "application/jsonc":
		return "json5"
	case "text/x-asm":
		return "asm"
	case "text/x-makefile":
		return "makefile"
	case "text/x-fortran":
		return "fortran"
	case "text/x-haskell":
		return "haskell"
	case "text/x-scala":
		return "scala"
	case "text/x-kotlin":
		return "kotlin"
	case "text/x-swift":
		return "swift"
	case "text/x-lua", "application/x-lua":
		return "lua"
	case "text/x-pascal":
		return "pascal"
	case "text/x-log", "text/x-rst", "text/x-org", "text/x-readme", "text/x-markdown", "text/x-vcard", "text/x-vcalendar", "text/x-troff",
		"text/x-setext", "text/x-web-textile", "text/x-mail":
		// Prose, or records of one line each.
		return ""
	}
	if lang, ok := strings.CutPrefix(mediaType, "text/x-"); ok && isLanguageName(lang) {
		return strings.TrimSuffix(strings.TrimSuffix(lang, "-source"), "src")
	}
	if strings.HasSuffix(mediaType, "+yaml") {
		return "yaml"
	}
	return ""
}

// maxLanguage is the longest language name in bytes that is believed to be one.
const maxLanguage = 32

// isLanguageName reports whether s can stand behind a code fence without changing what the fence means.
func isLanguageName(s string) bool {
	if s == "" || len(s) > maxLanguage {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("+-#._/", c) >= 0:
		default:
			return false
		}
	}
	return true
}
