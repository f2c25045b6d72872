"""Word lists that name anatomy and mention finding consult. Data only, folded (see names.fold)."""

from __future__ import annotations

__all__ = [
    "ABBREVIATIONS",
    "BASED",
    "CLUBS",
    "COMMON",
    "CORPORATE",
    "DESCRIBED_OF",
    "FAMILY_FIRST",
    "FUNCTION",
    "GENERATION",
    "GENERIC",
    "HONORIFICS",
    "KIN",
    "MONTHS",
    "NAMED_OF",
    "NICKNAMES",
    "PARTICLES",
    "PREFIXES",
    "PREPOSITIONS",
    "REGIONS",
    "ROLES",
    "ROMAN",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PREPOSITIONS = _words(
    "in at on during after before with near from by around since until of to within through "
    "throughout for under over between into toward towards against"
)

# Words that a sentence may begin with and that no name consists of. A capitalized one of these
# before a name does not lengthen the name.
FUNCTION = PREPOSITIONS | _words(
    "a an the and or but nor so yet as if when while where who whom whose which what why how "
    "that this these those there here then thus hence he she it they we i you his her its their "
    "our my your him them us me both either neither each every all any some many most more much "
    "few several such other another one two three four five six seven eight nine ten first "
    "second third last next not no yes also only even just still again once twice ever never "
    "often although though because unless whereas whether despite unlike like than per via "
    "about above across along amid among behind below beneath beside besides beyond concerning "
    "down except following inside minus off onto opposite out outside past plus regarding up "
    "upon without is are was were be been being am do does did has have had can could shall "
    "should will would may might must today now later earlier soon recently currently formerly "
    "originally initially eventually finally ultimately subsequently previously additionally "
    "furthermore moreover however nevertheless nonetheless meanwhile instead otherwise "
    "therefore accordingly consequently similarly likewise elsewhere perhaps maybe indeed "
    "namely notably especially particularly specifically according apart aside based born died "
    "given known named called titled written directed produced starring featuring including "
    "during s t d ll ve re m"
)

# Titles that stand before a person's name and leave it whole.
HONORIFICS = _words(
    "mr mrs ms miss dr doctor prof professor sir dame lord lady king queen prince princess "
    "emperor empress tsar czar tsarina sultan shah pope saint st president senator governor "
    "congressman congresswoman representative mayor minister premier chancellor secretary "
    "general colonel major captain lieutenant sergeant corporal admiral commander marshal "
    "brigadier judge justice rabbi reverend rev father sister brother bishop archbishop "
    "cardinal count countess duke duchess earl baron baroness viscount marquis archduke "
    "archduchess imam sheikh caliph chairman director ambassador detective inspector agent "
    "officer coach sheikha sheik blessed grandmaster laureate gen col maj capt lt sgt adm gov "
    "sen rep hon pres chief"
)

# Common nouns that name a trade or a relation and may stand, capitalized at the start of a
# sentence or not, before a person's name.
ROLES = _words(
    "actor actors actress actresses singer singers musician songwriter composer author writer "
    "poet novelist playwright painter artist sculptor architect photographer director producer "
    "filmmaker screenwriter comedian host player footballer guitarist drummer bassist pianist "
    "rapper vocalist model dancer philosopher scientist physicist chemist mathematician "
    "historian economist politician leader founder co-founder founders inventor engineer "
    "explorer businessman businesswoman entrepreneur critic journalist editor lawyer star stars "
    "winner champion wrestler boxer quarterback driver character wife husband son daughter "
    "mother friend colleague rival city town village river county state province country "
    "capital company band group team club film song album novel book play"
)

KIN = _words(
    "son sons daughter daughters brother brothers sister sisters father mother wife husband "
    "child children uncle aunt nephew niece cousin grandson granddaughter grandfather "
    "grandmother twin twins spouse parents sibling siblings ex-wife ex-husband widow widower "
    "stepson stepdaughter heir namesake"
)

GENERATION = _words(
    "jr sr junior senior elder younger 1st 2nd 3rd 4th 5th 6th 7th 8th 9th 10th 11th 12th 13th "
    "14th 15th 16th 17th 18th 19th 20th 21st 22nd 23rd 24th"
)

ROMAN = _words(
    "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx xxi xxii xxiii"
)

# What a sports club's name may begin with.
CLUBS = _words("fc afc ac as sc cf cd ud rcd us ssc ss sv vfb vfl fk nk sk bk if")

CORPORATE = _words(
    "inc incorporated ltd limited corp corporation co company llc plc gmbh ag sa fc afc cf sc "
    "group holdings"
)

# Words that belong to many names and tell none of them apart.
GENERIC = _words(
    "university college school academy institute institution foundation society association "
    "organization organisation committee commission council board bureau agency department "
    "ministry office court parliament congress senate party union federation league club team "
    "company corporation group bank trust fund museum gallery library theatre theater hall "
    "house palace castle tower bridge park garden gardens square street road avenue station "
    "airport church cathedral abbey temple mosque hospital prison center centre county province "
    "state states district region territory city town village township municipality borough "
    "parish prefecture oblast voivodeship gmina republic kingdom empire commonwealth dominion "
    "island islands isle river lake sea ocean bay gulf strait canal creek falls mountain "
    "mountains mount mt hill hills valley forest desert coast peninsula cape beach port fort "
    "war wars battle revolution rebellion treaty act award awards prize medal cup championship "
    "championships tournament festival games series season show film movie album song book "
    "novel story band orchestra choir records music studio studios pictures entertainment "
    "network channel radio television news times post journal magazine press international "
    "national federal royal imperial united general central north south east west northern "
    "southern eastern western northeast northwest southeast southwest new old great greater "
    "lower upper grand big little saint st san santa los las la le el al de del di da du der "
    "den van von of the and or in on at for to with by from an a is as it its world american "
    "british english french german european asian african civil first second third democratic "
    "republican communist socialist liberal conservative labour labor people peoples army navy "
    "force forces air police security public social political free high supreme king queen "
    "prince princess sir lord lady duke duchess earl count countess baron baronet emperor "
    "empress president minister prime chief jr sr junior senior ii iii iv vi vii viii ix xi xii "
    "one two three me my you your he she his her we our they their no not all be young life "
    "love man woman men women girl boy day night time year years game home system science "
    "technology computer software language line service services research development"
)

COMPASS = _words(
    "north south east west northern southern eastern western northeast northwest southeast "
    "southwest northeastern northwestern southeastern southwestern central upper lower inner "
    "outer greater metropolitan downtown"
)

# What is described, not named, by "<word> of <name>": offices, divisions, events of a life.
DESCRIBED_OF = _words(
    "president presidents king kings queen queens emperor emperors empress minister ministers "
    "governor governors mayor mayors bishop bishops archbishop justice parliament government "
    "constitution history geography economy culture politics demographics people peoples city "
    "town village state province republic kingdom municipality county district region territory "
    "commonwealth north south east west part parts area areas most half rest republics "
    "federation list capital map ruler rulers leader leaders prince princes princess lord "
    "university-town border borders coast residents citizens natives native flag invasion "
    "independence dominion earl earls duke dukes duchess count counts countess baron barons "
    "commissioner commissioners viceroy principality duchy emirate sultanate caliph sultan shah "
    "chancellor death murder birth life impeachment assassination trial execution funeral "
    "wedding marriage discography filmography bibliography awards performances reign"
)

# What is named, not described, by "<word> of <name>": institutions, works, events, places.
NAMED_OF = _words(
    "university college school institute academy house church order society association ballad "
    "legend story tale tales song songs adventures book books gospel epistle acts temple "
    "cathedral hospital museum battle treaty siege bay isle island islands cape gulf mount bank "
    "friends sons daughters knights isles theatre theater library foundation award prize medal "
    "statue tomb bridge tower port fort abbey council bishop saint our lady lord god curse "
    "return revenge rise fall bride ghost memoirs diary confessions trials importance"
)

PARTICLES = _words(
    "de del della di da dos das du des van von der den ten ter zu zum zur af av la le al el bin "
    "ibn ben bint abu san santa st mac o y e"
)

FAMILY_FIRST = _words(
    "chiang yang wang li zhang liu chen huang zhao wu zhou xu sun ma zhu hu guo he gao lin luo "
    "zheng liang xie song tang deng feng han cao peng zeng xiao tian dong yuan pan cai jiang yu "
    "du ye cheng wei su lu ding ren shen yao mao xi hua nguyen tran pham hoang vu dang bui park "
    "choi jung kang cho yoon jang lim shin kwon hwang ahn hong jeon moon ryu"
)

PREFIXES = _words("non anti pro post pre ex then mid")

BASED = _words(
    "based born bred trained educated area led style era raised owned sponsored like native "
    "wide inspired backed centered centred focused themed related"
)

ABBREVIATIONS = _words(
    "st mt ft dr mr mrs ms jr sr no vs co inc ltd corp gen col maj capt lt sgt rev prof hon gov "
    "sen rep"
)

MONTHS = _words(
    "january february march april may june july august september october november december"
)

# Words of ordinary English that are also names: in lower case they name nobody.
COMMON = _words(
    "wood park hill hills field fields stone king knight bishop baker cook smith miller carter "
    "brown white black green gray grey young long short rich may will mark bill grant rose "
    "grace hope faith joy dawn summer winter autumn spring rain snow frost waters water rivers "
    "brook banks bank day night morrow love loving savage swift sharp strong wise good best "
    "bright light moon star stars sun sky ford page paige reed reid read bush rice bean beans "
    "berry cherry lemon lime olive ivy lily violet daisy iris ruby pearl amber crystal jade gem "
    "penny cash price case chase hunt hunter fisher fox wolf lamb bird crane crow drake swan "
    "finch robin martin jay nightingale hawk hawks bull bear lion lyons stag buck pike bass "
    "salmon fish chip pat rob nick jack dick peter harry tom sue art ray dean dale glen cliff "
    "clay heath marsh moss reef shore lane street church chapel temple abbey parish pope monk "
    "prior abbot major sergeant marshal marshall constable sheriff earl duke baron noble gentry "
    "squire butler cooper carver mason potter turner weaver taylor tailor tanner porter parker "
    "archer bowman shepherd carpenter wright fuller gardener gardner farmer forester ranger "
    "warden wagner thatcher slater sawyer glover draper barber spicer chandler singer piper "
    "harper horn fiddler player china turkey jersey reading bath nice orange cork bounty split "
    "essen worms sandwich victoria paramount universal apple target gap shell visa sprint "
    "oracle amazon lean king's prince queen lord law laws lay lee ley bond book books box boxer "
    "bow bowl bolt boot bone born bound brand brave bridge bridges brush burns burn bus button "
    "camp can candy cannon card care castle chance chair champion change charge charm cloud "
    "coal coast coin cold coleman comb combs cotton court cove cox craft creed cross cruise "
    "cruz cue cup curry curtis cut dance dark darling dash date dove down dream drew drum dry "
    "dust early east edge england eve ever face fair fall farm fast father fine fire first fist "
    "flag flint flood flower flowers foot force forest fort foster free french friend gale "
    "gates garden garland gay gibson gift glass glory goat gold golden gore grave graves ground "
    "guest guy hall ham hand hands hardy hare hart harvest harvey hay head heart heard herd "
    "high hobby holiday hood hook house howl hurt jet job jewel jolly judge key kid kind kirk "
    "kiss lad lake land large laughter leaf leigh lent line little lock lodge loft lovely low "
    "luck mack maid main male man marble mars mercy mild mill mint mobile money moody moore "
    "moor more morning mount nail neal new newton nix noon north nurse oaks ocean old oliver "
    "orchard owl pace pack paint palm parent parsons part party paul pepper perry pitt pit "
    "place plain plant pool poor pop post pound powder power powers pride pritchard quick "
    "rainbow rambo ram rand rank raven rector ridge ring rise rivera road rock rod roman root "
    "rope rough round rowe royal rule rush rust sage sail sands sea seal self shade shark shaw "
    "ship shoemaker silver simple small snipe south sparks speed spear square stair stamp stand "
    "staples steel stein stern still stock storm story stout stream sugar sweet tall tate tax "
    "teller tiller tip toll tower towers town train tree trout true trump tuck twain valentine "
    "vale van vane vase vernon view vine wade wait wake walk walker wall walls ward ware warm "
    "warner warren wash wave way wayne wealth webb weeks well wells west wheeler while whip "
    "wild wilder wine wing winner winters wire wit witt wolfe woods word words worth yard york "
    "battery union mercury mach watt watts volt prime pilot mission liberty freedom victory "
    "independence harmony concord census"
)

NICKNAMES: tuple[frozenset[str], ...] = tuple(
    _words(line)
    for line in (
        "william bill billy will willy willie liam",
        "robert bob bobby rob robbie bert",
        "richard dick rick ricky rich richie",
        "edward ed eddie ted teddy ned",
        "james jim jimmy jamie jem",
        "john jack johnny jon jonathan",
        "henry harry hank hal",
        "charles charlie chuck charley carl karl",
        "margaret maggie meg peggy peg greta marge",
        "elizabeth liz lizzie beth betty bess eliza lisa elisabeth libby",
        "katherine catherine kate katie kathy cathy kitty kathryn katharine",
        "thomas tom tommy",
        "michael mike mick mickey michel",
        "david dave davy davey",
        "daniel dan danny",
        "joseph joe joey jo",
        "anthony tony antony",
        "andrew andy drew",
        "alexander alex alec sandy sasha",
        "samuel sam sammy",
        "benjamin ben benny benji",
        "matthew matt matty",
        "christopher chris kit topher",
        "nicholas nick nicky nicolas",
        "stephen steve steven stevie",
        "ronald ron ronnie",
        "donald don donnie",
        "kenneth ken kenny",
        "lawrence larry laurence",
        "frederick fred freddie freddy",
        "albert al bert",
        "patrick pat paddy",
        "patricia pat patty tricia",
        "susan sue susie suzanne",
        "deborah debbie deb",
        "jennifer jen jenny",
        "jessica jess jessie",
        "natalie natalia natasha nat",
        "theodore ted teddy theo",
        "gerald gerry jerry",
        "eugene gene",
        "raymond ray",
        "walter walt wally",
        "francis frank fran francois franz francisco",
        "timothy tim timmy",
        "gregory greg",
        "jeffrey jeff geoffrey",
        "peter pete",
        "philip phil phillip",
        "victoria vicky tori",
        "dorothy dot dottie",
        "rebecca becky",
        "rosemary rose rosie",
        "louis lou lewis louie",
        "leonard leo len lenny",
        "arnold arnie",
        "amelia amy",
        "audrey edda",
    )
)

# First-level divisions, for telling two towns of one name apart ("Paris, Texas").
_REGION_NAMES = """
alabama alaska arizona arkansas california colorado connecticut delaware florida georgia hawaii
idaho illinois indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan
minnesota mississippi missouri montana nebraska nevada new_hampshire new_jersey new_mexico
new_york north_carolina north_dakota ohio oklahoma oregon pennsylvania rhode_island
south_carolina south_dakota tennessee texas utah vermont virginia washington west_virginia
wisconsin wyoming ontario quebec alberta manitoba saskatchewan nova_scotia new_brunswick
british_columbia new_south_wales queensland victoria tasmania south_australia western_australia
"""

# First-level divisions, for telling two towns of one name apart ("Paris, Texas").
REGIONS = frozenset(name.replace("_", " ") for name in _REGION_NAMES.split())
