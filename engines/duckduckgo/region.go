package duckduckgo

import "strings"

// regions holds the codes of the page's drop-down and of the help page. A wrong code is not refused by
// DuckDuckGo but ignored without a word, so it has to be found here.
const regions = " ar-es at-de au-en be-fr be-nl bg-bg br-pt ca-en ca-fr ch-de ch-fr ch-it cl-es cn-zh co-es ct-ca cz-cs" +
	" de-de dk-da ee-et es-ca es-es fi-fi fr-fr gr-el hk-tzh hr-hr hu-hu id-en id-id ie-en il-en il-he in-en is-is" +
	" it-it jp-jp kr-kr lt-lt lv-lv mx-es my-en my-ms nl-nl no-no nz-en pe-es ph-en ph-tl pk-en pl-pl pt-pt ro-ro" +
	" ru-ru se-sv sg-en sk-sk sl-sl th-en th-th tr-tr tw-tzh ua-uk ue-es uk-en us-en us-es ve-es vn-en vn-vi wt-wt" +
	" xa-ar xa-en xl-es za-en "

// ValidRegion says whether code is a region that DuckDuckGo knows: country, then language, in lower case.
func ValidRegion(code string) bool {
	return code != "" && !strings.Contains(code, " ") && strings.Contains(regions, " "+code+" ")
}

func validTimeRange(s string) bool {
	switch s {
	case "", "d", "w", "m", "y":
		return true
	}
	return false
}
