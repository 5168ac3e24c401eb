package charset

import "unicode/utf8"

// doubleByteModel is a language in an encoding of two bytes a character.
type doubleByteModel struct {
	encoding string
	// size is the length of the valid sequence that b, which begins outside ASCII, begins with; 0 for none.
	size func(b []byte) int
	// area prices a character by the block of the set that it stands in.
	area func(lead, trail byte) int
	// common characters and marks, which cost less than their area.
	common, marks         string
	commonCost, marksCost uint16
}

// Characters that make up most of any text in the language. Sets, not rankings.
const (
	simplified  = "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经十三之进着等部度家电力里如水化高自二理起小物现实加量都两体制机当使点从业本去把性好应开它合还因由其些然前外天政四日那社义事平形相全表间样与关各重新线内数正心反你明看原又么利比或但质气第向道命此变条只没结解问意建月公无系军很情者最立代想已通并提直题党程展五果料象员革位入常文总次品式活设及管特件长求老头基资边流路级少图山统接知较将组见计别她手角期根论运农指几九区强放决西被干做必战先回则任取据处队南给色光门即保治北造百规热领七海口东导器压志世金增争济阶油思术极交受联什认六共权收证改清己美再采转更单风切打白教速花带安场身车例真务具万每目至达走积示议声报完类八离华名确才科张信马节话米整空元况今集温传土许步群广石记需段研界拉林律叫且究观越织装影算低持音众书布复容儿须际商非验连断深难近世界您请网站首页"
	traditional = "的一是在不了有和人這中大為上個國我以要他時來用們生到作地於出就分對成會可主發年動同工也能下過子說產種面而方後多定行學法所民得經十三之進著等部度家電力裡如水化高自二理起小物現實加量都兩體制機當使點從業本去把性好應開它合還因由其些然前外天政四日那社義事平形相全表間樣與關各重新線內數正心反你明看原又麼利比或但質氣第向道命此變條只沒結解問意建月公無系軍很情者最立代想已通並提直題黨程展五果料象員革位入常文總次品式活設及管特件長求老頭基資邊流路級少圖山統接知較將組見計別她手角期根論運農指幾九區強放決西被做必戰先回則任取據處隊南給色光門即保治北造百規熱領七海口東導器壓志世金增爭濟油思術極交受聯什認六共權收證改清己美再轉更單風切打白教速花帶安場身車例真務具萬每目至達走議聲報完類八離華名確才科張信馬節話米整空元況今集溫傳土許步群廣石記需段研界拉林律叫且究觀越影算低持音眾書布復容兒須際商非驗連斷深難近臺台灣您請網站首頁"
	kanji       = "日一国人年大十二本中長出三時行見月後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百書先名川千水男西電校語土木聞食車何南万毎白天母火右読友左休父雨会同事自社発者地業方新場員立開手力問代明動京目通言理体田主題意不作用度強公持野以思家世多正安院心界教文元重近考画海売知道集別物使品計死特私始朝運終台広住真有口少町料工建空急止送切転研足究楽起着店病質待試族銀早映親験英医仕去味写字答夜音注帰古歌買悪図週室歩風紙花春赤青館屋色走部合政議民連対定回選実全法性的表関市利制最化内当相村機第期取都和平成経加保治変決区情物組引進受戦権要原投報面設求"
	hangul      = "이다는의에가을를은로고하지한기도사리어자들서인대나그시만라해아있정스수일것과부전게상원주장니조여국보면마구경제으비공오우생중세동소안신관거문용선적성단분위요진방때학유모업행연내회무영금개화음할치드운실까었했습입합되된될없않같더와며계데물미각출저반심차통체민당간결종식양건또트레임산재불명날말람권품강하발약래록축타르야네두먼복법본배석최표항현피"
)

// doubleByteModels are functions of nothing, as singleByteModels are.
func doubleByteModels() []doubleByteModel {
	const (
		unusual = 22 * bit // assigned, or for private use, and hardly ever written
		mark    = 6 * bit
	)
	return []doubleByteModel{
		{
			encoding: "gb18030",
			size: func(b []byte) int {
				if n := pair(b, 0x81, 0xFE, 0x40, 0xFE); n > 0 && b[1] != 0x7F {
					return n
				}
				if len(b) >= 4 && 0x81 <= b[0] && b[0] <= 0xFE && isDigit(b[1]) && 0x81 <= b[2] && b[2] <= 0xFE && isDigit(b[3]) {
					return 4
				}
				return 0
			},
			area: func(lead, trail byte) int {
				switch {
				case trail < 0xA1: // the part that GBK added
					return 19 * bit
				case lead <= 0xA3:
					return 11 * bit // signs and wide ASCII
				case 0xB0 <= lead && lead <= 0xD7:
					return 13 * bit // first level
				case 0xD8 <= lead && lead <= 0xF7:
					return 17 * bit // second level
				case 0xA4 <= lead && lead <= 0xA9:
					return 16 * bit // kana and other alphabets
				}
				return unusual
			},
			common: simplified, commonCost: 9 * bit, marks: "，。、：；（）“”《》！？　", marksCost: mark,
		},
		{
			encoding: "big5",
			size: func(b []byte) int {
				if n := pair(b, 0x81, 0xFE, 0x40, 0xFE); n > 0 && (b[1] < 0x7F || b[1] > 0xA0) {
					return n
				}
				return 0
			},
			area: func(lead, _ byte) int {
				switch {
				case 0xA4 <= lead && lead <= 0xC6:
					return 13 * bit
				case 0xC9 <= lead && lead <= 0xF9:
					return 18 * bit
				case 0xA1 <= lead && lead <= 0xA3:
					return 12 * bit
				}
				return unusual
			},
			common: traditional, commonCost: 9 * bit, marks: "，。、：；（）「」《》！？　", marksCost: mark,
		},
		{
			encoding: "shift_jis",
			size: func(b []byte) int {
				if 0xA1 <= b[0] && b[0] <= 0xDF {
					return 1 // half-width katakana
				}
				if n := pair(b, 0x81, 0xFC, 0x40, 0xFC); n > 0 && b[1] != 0x7F {
					return n
				}
				return 0
			},
			area: func(lead, trail byte) int {
				switch {
				case trail == 0:
					return 11 * bit
				case lead == 0x81:
					return 10 * bit
				case lead == 0x82 && trail >= 0x9F:
					return 7 * bit // hiragana
				case lead == 0x82:
					return 12 * bit // wide ASCII
				case lead == 0x83 && trail <= 0x96:
					return 9 * bit // katakana
				case 0x88 <= lead && lead <= 0x97:
					return 13 * bit // first level
				case 0x98 <= lead && lead <= 0x9F, 0xE0 <= lead && lead <= 0xEA:
					return 18 * bit // second level
				}
				return unusual
			},
			common: kanji, commonCost: 10 * bit, marks: "、。ー「」・（）　", marksCost: mark,
		},
		{
			encoding: "euc-jp",
			size: func(b []byte) int {
				if n := pair(b, 0xA1, 0xFE, 0xA1, 0xFE); n > 0 {
					return n
				}
				if n := pair(b, 0x8E, 0x8E, 0xA1, 0xDF); n > 0 {
					return n
				}
				if b[0] == 0x8F && len(b) >= 3 && b[1] >= 0xA1 && b[2] >= 0xA1 {
					return 3
				}
				return 0
			},
			area: func(lead, _ byte) int {
				switch {
				case lead == 0xA4:
					return 7 * bit // hiragana
				case lead == 0xA5:
					return 9 * bit // katakana
				case lead == 0xA1:
					return 10 * bit
				case lead == 0xA3:
					return 12 * bit // wide ASCII
				case 0xB0 <= lead && lead <= 0xCF:
					return 13 * bit // first level
				case 0xD0 <= lead && lead <= 0xF4:
					return 18 * bit // second level
				}
				return unusual
			},
			common: kanji, commonCost: 10 * bit, marks: "、。ー「」・（）　", marksCost: mark,
		},
		{
			encoding: "euc-kr",
			size: func(b []byte) int {
				n := pair(b, 0x81, 0xFD, 0x41, 0xFE)
				if n > 0 && b[1] < 0xA1 && (b[0] > 0xC6 || 'Z' < b[1] && b[1] < 'a' || 'z' < b[1] && b[1] < 0x81) {
					return 0
				}
				return n
			},
			area: func(lead, trail byte) int {
				switch {
				case trail < 0xA1: // syllables that code page 949 added
					return 17 * bit
				case 0xB0 <= lead && lead <= 0xC8:
					return 12 * bit
				case 0xCA <= lead:
					return 18 * bit // hanja
				case lead == 0xA1 || lead == 0xA3:
					return 13 * bit
				}
				return unusual
			},
			common: hangul, commonCost: 8 * bit, marks: "·“”‘’…　", marksCost: 8 * bit,
		},
	}
}

// pair is 2 if b begins with two bytes in these ranges, 0 otherwise.
func pair(b []byte, lead0, lead1, trail0, trail1 byte) int {
	if len(b) < 2 || b[0] < lead0 || lead1 < b[0] || b[1] < trail0 || trail1 < b[1] {
		return 0
	}
	return 2
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// cost prices a sample, and stops when it is beyond limit.
func (m doubleByteModel) cost(sample []byte, limit int) int {
	const (
		prior   = 10 * bit
		invalid = 30 * bit
		longer  = 25 * bit // three or four bytes: what two cannot write
	)
	listed := m.listed()
	total := prior
	for i := 0; i < len(sample) && total < limit; {
		if sample[i] < utf8.RuneSelf {
			i++
			continue
		}
		n := m.size(sample[i:])
		switch n {
		case 0:
			total += invalid
			n = 1
		case 1:
			total += m.area(sample[i], 0)
		case 2:
			if cost := listed[sample[i]][sample[i+1]]; cost > 0 {
				total += int(cost)
			} else {
				total += m.area(sample[i], sample[i+1])
			}
		default:
			total += longer
		}
		i += n
	}
	return total
}

// listed prices the common characters and the marks under the bytes that write them.
func (m doubleByteModel) listed() *[256][256]uint16 {
	var costs [256][256]uint16
	for _, list := range []struct {
		chars string
		cost  uint16
	}{{m.common, m.commonCost}, {m.marks, m.marksCost}} {
		// A test holds that each of these characters has two bytes in this encoding.
		b, _ := mustCodec(m.encoding).enc.NewEncoder().Bytes([]byte(list.chars))
		for ; len(b) >= 2; b = b[2:] {
			costs[b[0]][b[1]] = list.cost
		}
	}
	return &costs
}
