"""Adjectives and inhabitants' names of countries, continents and major places, as data.

Facts of ordinary English usage; folded (no accents, lower case). They serve the detector of
residual mentions: a text that says "Canadian" has not forgotten Canada.
"""

from __future__ import annotations

from functools import lru_cache

__all__ = ["demonyms", "is_place_word"]

_TABLE = """
afghanistan: afghan afghans
africa: african africans afro
alabama: alabamian alabaman
alaska: alaskan alaskans
albania: albanian albanians
alberta: albertan albertans
algeria: algerian algerians
amsterdam: amsterdammer amsterdammers
andalusia: andalusian andalusians
angola: angolan angolans
aragon: aragonese
argentina: argentine argentines argentinian argentinians argentinean
arizona: arizonan arizonans
arkansas: arkansan arkansans
armenia: armenian armenians
asia: asian asians asiatic
athens: athenian athenians
atlanta: atlantan atlantans
australia: australian australians aussie aussies
austria: austrian austrians
azerbaijan: azerbaijani azerbaijanis azeri azeris
babylon: babylonian babylonians
bahamas: bahamian bahamians
bahrain: bahraini bahrainis
bangladesh: bangladeshi bangladeshis
barbados: barbadian barbadians bajan
barcelona: barcelonan catalan barca
basel: basler
bavaria: bavarian bavarians
belarus: belarusian belarusians belarussian
belgium: belgian belgians
bengal: bengali bengalis
berlin: berliner berliners
bermuda: bermudian bermudians
bhutan: bhutanese
bohemia: bohemian bohemians
bolivia: bolivian bolivians
bosnia: bosnian bosnians bosniak
boston: bostonian bostonians
botswana: motswana batswana
brazil: brazilian brazilians brasil
britain: british briton britons brit brits
great britain: british briton britons brit brits britain
brittany: breton bretons
bulgaria: bulgarian bulgarians
burgundy: burgundian burgundians
burma: burmese
byzantium: byzantine byzantines
california: californian californians
cambodia: cambodian cambodians khmer
cameroon: cameroonian cameroonians
canada: canadian canadians canuck
castile: castilian castilians
catalonia: catalan catalans
chicago: chicagoan chicagoans
chile: chilean chileans
china: chinese sino
colombia: colombian colombians
colorado: coloradan coloradans
congo: congolese
connecticut: connecticuter
cornwall: cornish
corsica: corsican corsicans
costa rica: costa-rican rican
crete: cretan cretans
crimea: crimean crimeans
croatia: croatian croatians croat croats
cuba: cuban cubans
cyprus: cypriot cypriots
czech republic: czech czechs
czechoslovakia: czechoslovak czechoslovakian czech
dallas: dallasite
delhi: delhiite delhiites
denmark: danish dane danes
detroit: detroiter detroiters
dublin: dubliner dubliners
ecuador: ecuadorian ecuadorians ecuadorean
edinburgh: edinburgher
egypt: egyptian egyptians
el salvador: salvadoran salvadorans salvadorean
england: english englishman englishmen anglo
eritrea: eritrean eritreans
estonia: estonian estonians
ethiopia: ethiopian ethiopians
europe: european europeans euro
fiji: fijian fijians
finland: finnish finn finns
flanders: flemish fleming
florence: florentine florentines
florida: floridian floridians
france: french frenchman frenchmen franco
frankfurt: frankfurter
fujian: fujianese fukien fukienese
gabon: gabonese
galicia: galician galicians
gambia: gambian gambians
gascony: gascon gascons
genoa: genoese
georgia: georgian georgians
germany: german germans germanic deutsch
ghana: ghanaian ghanaians
glasgow: glaswegian glaswegians
goa: goan goans
great poland: polish
greece: greek greeks hellenic greco
greenland: greenlandic greenlander greenlanders
guatemala: guatemalan guatemalans
guinea: guinean guineans
guyana: guyanese
haiti: haitian haitians
hamburg: hamburger
hawaii: hawaiian hawaiians
hesse: hessian hessians
holland: dutch hollander hollanders
honduras: honduran hondurans
hong kong: hongkonger hongkongers
houston: houstonian houstonians
hungary: hungarian hungarians magyar
iceland: icelandic icelander icelanders
idaho: idahoan idahoans
illinois: illinoisan
india: indian indians indo
indiana: hoosier hoosiers
indonesia: indonesian indonesians
iowa: iowan iowans
iran: iranian iranians persian
iraq: iraqi iraqis
ireland: irish irishman irishmen
israel: israeli israelis
istanbul: istanbulite constantinople
italy: italian italians italo
ivory coast: ivorian ivorians
jamaica: jamaican jamaicans
japan: japanese nippon
java: javanese
jerusalem: jerusalemite
jordan: jordanian jordanians
kansas: kansan kansans
kashmir: kashmiri kashmiris
kazakhstan: kazakh kazakhs kazakhstani
kent: kentish
kentucky: kentuckian kentuckians
kenya: kenyan kenyans
korea: korean koreans
kosovo: kosovar kosovan
kuwait: kuwaiti kuwaitis
kyrgyzstan: kyrgyz
laos: lao laotian laotians
lancashire: lancastrian lancastrians
latvia: latvian latvians
lebanon: lebanese
leeds: loiner
liberia: liberian liberians
libya: libyan libyans
liechtenstein: liechtensteiner
lisbon: lisboan
lithuania: lithuanian lithuanians
liverpool: liverpudlian liverpudlians scouse scouser
lombardy: lombard lombards
london: londoner londoners
lorraine: lorrainer
los angeles: angeleno angelenos
louisiana: louisianan louisianian
luxembourg: luxembourgish luxembourger luxembourgers
lyon: lyonnais
macau: macanese
macedon: macedonian macedonians
macedonia: macedonian macedonians
madagascar: malagasy
madrid: madrilenian madrileno
maine: mainer mainers
malawi: malawian malawians
malaysia: malaysian malaysians malay
maldives: maldivian maldivians
mali: malian malians
malta: maltese
manchester: mancunian mancunians
manchuria: manchurian manchu manchus
maryland: marylander marylanders
massachusetts: bay-stater
mauritania: mauritanian
mauritius: mauritian mauritians
melbourne: melburnian melburnians
mercia: mercian mercians
mexico: mexican mexicans
mexico city: chilango
miami: miamian miamians
michigan: michigander michiganders michiganian
milan: milanese
minnesota: minnesotan minnesotans
mississippi: mississippian mississippians
missouri: missourian missourians
moldova: moldovan moldovans
monaco: monegasque monacan
mongolia: mongolian mongolians mongol mongols
montana: montanan montanans
montenegro: montenegrin montenegrins
montreal: montrealer montrealers
moravia: moravian moravians
morocco: moroccan moroccans
moscow: muscovite muscovites
mozambique: mozambican mozambicans
mughal empire: mughal mughals mogul
munich: munchner
myanmar: burmese
namibia: namibian namibians
naples: neapolitan neapolitans
navarre: navarrese
nebraska: nebraskan nebraskans
nepal: nepali nepalis nepalese
netherlands: dutch dutchman dutchmen netherlandish
nevada: nevadan nevadans
new england: new-englander englander englanders
new hampshire: granite-stater
new jersey: new-jerseyan
new mexico: new-mexican
new orleans: orleanian
new york: yorker yorkers
new york city: yorker yorkers
new zealand: zealander zealanders kiwi kiwis
newcastle: geordie geordies novocastrian
newfoundland: newfoundlander newfoundlanders
nicaragua: nicaraguan nicaraguans
niger: nigerien nigeriens
nigeria: nigerian nigerians
normandy: norman normans
north america: american americans
north holland: hollander dutch
north korea: korean koreans
north pole: arctic polar
northumbria: northumbrian northumbrians
norway: norwegian norwegians norse
ohio: ohioan ohioans
oklahoma: oklahoman oklahomans
oman: omani omanis
ontario: ontarian ontarians
oregon: oregonian oregonians
ottoman empire: ottoman ottomans turkish
oxford: oxonian
pakistan: pakistani pakistanis
palestine: palestinian palestinians
panama: panamanian panamanians
papua new guinea: papuan
paraguay: paraguayan paraguayans
paris: parisian parisians parisienne
parma: parmesan
pennsylvania: pennsylvanian pennsylvanians
persia: persian persians
peru: peruvian peruvians
philadelphia: philadelphian philadelphians philly
philippines: filipino filipinos philippine filipina
phoenicia: phoenician phoenicians
pisa: pisan pisans
poland: polish pole poles
pomerania: pomeranian pomeranians
portugal: portuguese
prague: praguer
provence: provencal
prussia: prussian prussians
puerto rico: rican ricans boricua
punjab: punjabi punjabis
qatar: qatari qataris
quebec: quebecois quebecer quebecers
rhine: rhenish
rhineland: rhenish
rio de janeiro: carioca cariocas
roman empire: roman romans
roman republic: roman romans
romania: romanian romanians rumanian
rome: roman romans
rotterdam: rotterdammer
russia: russian russians russo
russian federation: russia russian russians
rwanda: rwandan rwandans
salzburg: salzburger
samoa: samoan samoans
san diego: diegan diegans
san francisco: franciscan franciscans
sao paulo: paulista
sardinia: sardinian sardinians
saudi arabia: saudi saudis arabian
savoy: savoyard
saxony: saxon saxons
scandinavia: scandinavian scandinavians
scotland: scottish scot scots scotsman
seattle: seattleite seattleites
senegal: senegalese
serbia: serbian serbians serb serbs
siberia: siberian siberians
sicily: sicilian sicilians
sierra leone: leonean leoneans
silesia: silesian silesians
sindh: sindhi sindhis
singapore: singaporean singaporeans
slovakia: slovak slovaks slovakian
slovenia: slovenian slovenians slovene slovenes
somalia: somali somalis somalian
south africa: african africans
south america: american americans
south carolina: carolinian carolinians
north carolina: carolinian carolinians
south korea: korean koreans
soviet union: soviet soviets ussr
spain: spanish spaniard spaniards hispanic
sparta: spartan spartans
sri lanka: lankan lankans sinhalese
stockholm: stockholmer
sudan: sudanese
suriname: surinamese
sweden: swedish swede swedes
switzerland: swiss helvetic
sydney: sydneysider sydneysiders
syria: syrian syrians
taiwan: taiwanese formosa
tajikistan: tajik tajiks
tanzania: tanzanian tanzanians
tasmania: tasmanian tasmanians
tennessee: tennessean tennesseans
texas: texan texans tejano
thailand: thai thais
thrace: thracian thracians
tibet: tibetan tibetans
tokyo: tokyoite
toronto: torontonian torontonians
troy: trojan trojans
tunisia: tunisian tunisians
turin: turinese
turkey: turkish turk turks
turkmenistan: turkmen
tuscany: tuscan tuscans
tyrol: tyrolean tyrolese
uganda: ugandan ugandans
ukraine: ukrainian ukrainians
ulster: ulsterman
united arab emirates: emirati emiratis uae
united kingdom: british briton britons brit brits uk britain
united states: american americans us usa america
united states of america: american americans us usa america
america: american americans us usa
uruguay: uruguayan uruguayans
utah: utahn utahns utahan
uzbekistan: uzbek uzbeks
vatican: vatican
venezuela: venezuelan venezuelans
venice: venetian venetians
vermont: vermonter vermonters
vienna: viennese
vietnam: vietnamese
virginia: virginian virginians
vojvodina: vojvodinian
wales: welsh welshman welshmen
warsaw: varsovian
washington: washingtonian
weimar republic: weimar german germany germans
west virginia: virginian
wisconsin: wisconsinite wisconsinites
wyoming: wyomingite
yemen: yemeni yemenis
yorkshire: yorkshireman tyke
yugoslavia: yugoslav yugoslavs yugoslavian
zambia: zambian zambians
zimbabwe: zimbabwean zimbabweans
zurich: zuricher
"""


@lru_cache(maxsize=1)
def _table() -> dict[str, frozenset[str]]:
    table: dict[str, frozenset[str]] = {}
    for line in _TABLE.strip().splitlines():
        place, forms = line.split(": ")
        table[place] = frozenset(forms.split())
    return table


@lru_cache(maxsize=1)
def _place_words() -> frozenset[str]:
    return frozenset(_table()).union(*_table().values())


def demonyms(place: str) -> frozenset[str]:
    """The adjectival and inhabitants' words of a place (folded), empty if the table lacks it."""
    return _table().get(place, frozenset())


def is_place_word(word: str) -> bool:
    """Whether a folded word (or phrase) is a place of the table or one of its adjectives."""
    return word in _place_words()
