"""One column header taken apart: which quantity, value or error, which side, how many sigma, unit and scale."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from ..support.calendars import spelled
from .matching import Repeated
from .messages import quote

#: The name of a column that stands for an output, and is taken out again, where there is none to read.
NO_OUTPUT = "(no output)"
#: What each role may be called, without case, spaces, underscores, hyphens and units; better names first.
ALIASES: dict[str, tuple[tuple[str, ...], ...]] = {
    "t": (
        ("age", "ages", "year", "years", "yr", "yearbp", "yearsbp", "yrbp", "calbp", "calyrbp", "calabp"),
        ("date", "time", "chroncontrolage"),
        ("x", "t"),
    ),
    "y": (
        ("rsl", "relativesealevel", "rslrelativesealevel"),
        (
            *("sealevel", "sl", "msl", "gmsl", "value", "values", "proxy", "signal", "output", "response", "y"),
            *("d18o", "d13c", "d2h", "dd", "sst", "sat", "temperature", "temp", "mgca", "uk37", "tex86"),
            *("salinity", "precipitation", "measurement", "observation", "level", "waterlevel"),
        ),
    ),
    "depth": (
        (
            "depth",
            "depths",
            "depthincore",
            "coredepth",
            "sampledepth",
            "compositedepth",
            "mbsf",
            "mcd",
            "rmcd",
            "depthcorr",
        ),
        (
            *("depthbelowsurface", "depthbelowseafloor", "depthbelowsedimentsurface", "depthbsf", "cmbsf"),
            *("centerdepth", "centredepth", "depthcenter", "depthcentre", "depthsample"),
            *("depthcomposite", "depthmcd", "mcddepth", "depthcore", "depthinthecore", "depthdown", "downcoredepth"),
        ),
    ),
    "height": (
        ("height", "heightabovebase", "heightincore", "stratigraphicheight", "stratheight", "positionabovebase"),
        ("elevationincore", "coreelevation", "distancefrombase"),
    ),
    "position": (("position", "stratigraphicposition", "stratposition"),),
    "core": (("core", "corename", "coreid", "corecode", "section", "sectionname", "hole", "profile", "sequence"),),
    "site": (("site", "sitename", "siteid", "location", "locality", "station"),),
    "label": (
        ("sampleid", "samplename", "samplecode", "sample", "uniquesampleid", "labid", "labcode", "labnumber", "labno"),
        ("id", "name", "code"),
    ),
    # Marked rows are left out; marked rows are used; the cells say which.
    "reject": (
        ("reject", "rejected", "exclude", "excluded", "omit", "omitted", "discard", "discarded", "outlier", "outliers"),
        ("include", "included", "use", "used", "accept", "accepted", "keep", "kept", "valid"),
        ("status", "quality", "dataquality", "qualityflag", "flag", "flags", "qc", "qcflag", "agestatus"),
    ),
    "age type": (
        ("agetype", "datetype", "typeofage", "typeofdate"),
        ("datingmethod", "datingtechnique", "datingtype", "datemethod", "agemethod", "datedby", "method"),
        ("chroncontroltype", "geochrontype", "controltype", "agecontroltype"),
    ),
    "thickness": (("thickness", "thicknesses", "samplethickness", "slicethickness", "positionthicknesses"),),
    "tie": (("tie", "tied"), ("layer", "layerid", "layername")),
    "hiatus": (("hiatus", "hiatusbelow"),),
    "curve": (("curve", "curves", "calibrationcurve", "calcurve", "calcurves"),),
    # Offsets from the curve, and whole reservoir ages, which are offsets from the atmosphere.
    "delta r": (("deltar", "dr", "localreservoiroffset", "reservoiroffset"), ("reservoirage", "reservoir")),
    "limiting": (("limiting", "limitingtype", "limitingpoint", "limitingdate"), ("type", "indicatortype", "pointtype")),
}

_DEVIATIONS = r"standarddeviations?|standarderrors?|sigmas?|sig|stdevs?|stddevs?|stds?|sds?|ses?|s"
#: How many standard deviations a level of confidence is, by its digits. Limits of 95 % usually mean two.
_LEVELS = {
    **dict.fromkeys(("68", "682", "683", "6827"), 1),
    **dict.fromkeys(("95", "954", "9545"), 2),
    **dict.fromkeys(("997", "9973"), 3),
    **{"50": 0.6745, "90": 1.6449, "99": 2.5758},
}
_FACTORS = {"one": 1, "two": 2, "three": 3, "196": 1.96, "1645": 1.6449}
_SIGMA = (
    rf"(?:[123]|one|two|three|196|1645)x?(?:{_DEVIATIONS})|sigma[123]|k[123]"
    rf"|(?:{'|'.join(_LEVELS)})(?:%|pct|percent)|[12](?=er|unc)|(?:(?<=err)|(?<=error)|(?<=unc)|(?<=ci))(?:68|95)(?!\d)"
)
#: Words for an error of which nobody knows how many standard deviations it is.
_UNCLEAR = (
    r"variance|halfwidth|width|fwhm|hwhm|iqr|interquartilerange|quartile|percentile|quantile|coverage|factor"
    r"|probable|relative|\d{1,3}(?:%|pct|percent)"
)
_ERROR = (
    r"uncertainties|uncertainty|uncert|unc|errors|error|err|er|standarddeviation|standarderror"
    r"|stdev|stddev|std|sd|sem|se|sigma|plusminus|pm|fehler|unsicherheit|erreur|incertitude|incertidumbre|errore"
)
_UP = r"upper|up|plus|positive|pos|maximum|max|high|older|oldest|old|bottom"
_LOW = r"lower|low|minus|negative|neg|minimum|min|younger|youngest|young|top"
_SCALE = r"(?:cal)?(?:kyrs?|ka|yrs?|years?|a)?(?:bp|b2k|beforepresent)|bcece|bcead|bcad|bce|bc|ce|ad"
_UNIT = r"kyrs?|ka|yrs?|years?|mm|cm"
_CENTRE = r"median|mean|calibrated|calendar|cal"
_FILL = (
    r"midpoint|mid|average|avg|best|estimate|range|interval|limit|bound|ci|hpd|corrected|total|modelled|modeled"
    r"|confidence|conf|credible|level"
)
_MODIFIER = "|".join((_SIGMA, _UNCLEAR, _ERROR, _UP, _LOW, _SCALE, _UNIT, _CENTRE, _FILL))
_MODIFIERS = Repeated(_MODIFIER)
#: What may stand in brackets beside a unit.
_NO_UNIT = Repeated("|".join((_SIGMA, _UNCLEAR, _ERROR, _UP, _LOW, _FILL)))
_ROLES = {word: (role, rank) for role, ranks in ALIASES.items() for rank, words in enumerate(ranks) for word in words}
#: Limiting dates; as a part of a header, the word means the limit of a range.
LIMIT = ("limit", "limits")
#: The longest alias first.
_WORDS = tuple(sorted(_ROLES, key=len, reverse=True))
_BRACKETS = re.compile(r"[(\[{]([^)\]}]*)[)\]}]")
_NESTED = re.compile(r"\(([^()]*)\(([^()]*)\)([^()]*)\)")
_LAST_UNIT = re.compile(r"(?<=[^\s_])[\s_]+(m|a|c|°c|degc|‰|permil|psu)$", re.IGNORECASE)
#: Longer headers, and longer parts of them without spaces, are prose.
_LONGEST_TEXT, _LONGEST = 250, 60
_SINGLE = re.compile(r"[xyt](?![a-z0-9])")
_RADIOCARBON = re.compile(
    r"(?:(?<![^\W_])|(?<=age))14\s*c(?=age|date|yr|err|unc|sd|[^a-z]|$)|(?<![a-z])c-?\s?14(?!\d)|radio-?carbon|carbon-?\s?14|conventional|libby|rcy(?=\s?bp|r|$)"
    r"|(?:un|not?n?[\s-]*)cal(?:ibrated)?(?![a-z])",
    re.IGNORECASE,
)
_CALIBRATED = re.compile(r"(?<![a-z])cal(?:ibrated|endar|bp|yr|ka|a)?(?![a-z])", re.IGNORECASE)
#: Accelerator mass spectrometry, which dates by radiocarbon, but also by other isotopes.
_SPECTROMETRY = re.compile(r"(?<![a-z])ams(?![a-z])", re.IGNORECASE)
#: Numbers that are no number of sigmas: years, powers of units, isotopes and names of curves.
_OTHER_NUMBERS = re.compile(
    r"(?<!\d)\d{4}(?!\d)|(?<![a-z])(?:[kcm]?m|[kmµu]?g|yr|ka|a|s|l|ml)\s?\^?[-−]?[1-4](?!\d)|10\s?\^"
    r"|(?:14|13|18|17|2|15|210|137|241)\s?[a-z]{1,2}(?![a-z])|(?:int|sh|marine|bomb)(?:cal)?\s?\d\d|[a-z]\d*(?=[-+])"
    r"|(?<![a-z])tex\s?86|uk\W?37",
    re.IGNORECASE,
)
#: What remains in brackets, and may say how many sigmas: a number, a per cent sign, or a letter that is lost.
_NUMBERED = re.compile(r"\d|%|\?|\ufffd")
#: A number of sigmas as a word of its own, in a header that the user names as an error.
_ANY_SIGMA = re.compile(
    r"(?<![a-z0-9.])(?P<two>2|two|95(?:\.\d+)?|)(?P<one>1|one|68(?:\.\d+)?|)[\s_-]*"
    r"(?:standard[\s_-]*(?:deviation|error)s?|σ|sigmas?|sig|stdevs?|stds?|sds?|ses?|s|%)(?P<after>[12]?)(?![a-z0-9])",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Header:
    """A header and what it says. `role` is None for a column that is not used.

    word: the alias found, "" for an error column that names no quantity and belongs to the one at its left.
    rank: 0 for the best names of a role. error: whether it holds an error or a limit instead of the value itself.
    scale: "BP", "CE", or "BC" for years that count back from the year 1.
    side: "up" or "low" for one-sided errors and limits. says_error: the header says that it is not a limit.
    sigma: how many standard deviations an error is, None if unknown. unclear: what may say so, but is not understood.
    label: the name for axes; "" for the header without its unit.
    """

    index: int
    text: str
    role: str | None = None
    word: str = ""
    rank: int = 0
    error: bool = False
    side: str | None = None
    says_error: bool = False
    sigma: float | None = None
    unclear: str = ""
    scale: str | None = None
    unit: str = ""
    modelled: bool = False
    label: str = ""

    def __str__(self) -> str:
        """The header in quotes, as messages name it."""
        return quote(self.text)

    def called(self, name: str | None, unit: str | None) -> "Header":
        """The header with another name for axes, or another unit, which may name the scale; None leaves them."""
        scale = None if unit is None else _scale(unit)
        return replace(self, label=name or self.name, unit=unit or self.unit, scale=scale or self.scale)

    @property
    def name(self) -> str:
        """The name for axes."""
        if self.label:
            return self.label
        body = _BRACKETS.sub(" ", _flat(self.text))
        if self.unit and not _BRACKETS.search(self.text):
            body = re.sub(rf"(?:[\s_]+[^\s_]+){{{len(self.unit.split())}}}\s*$", "", body)
        return " ".join(body.split()) or self.text.strip()


@lru_cache(maxsize=4096)
def squash(text: str) -> str:
    """A header without case, brackets, spaces and punctuation; Greek letters and signs in words."""
    body = unicodedata.normalize("NFKC", _BRACKETS.sub(" ", text).replace("²", " squared ")).lower()
    # "ïƒ" is a sigma in UTF-8 that was read as Latin-1.
    body = re.sub("[−–—]", "-", body).replace("σ", "sigma").replace("ïƒ", "sigma").replace("δ", "d")
    body = re.sub(r"\+\s*/?\s*-|±", " pm ", body).replace("+", " plus ")
    # A hyphen is a sign before a number of sigmas and at either end, otherwise it only joins words.
    body = re.sub(r"(?<![a-z])-(?=\s*(?:[123]\s*s|95|68))|^\s*-|-\s*$", " minus ", body)
    return re.sub(r"[^a-z0-9%]+", "", body)


def parse(index: int, text: str, named: Mapping[str, str] | None = None) -> Header:
    """Take a header apart. `named` gives roles to columns that the user named: squashed header to role.

    Radiocarbon ages and their errors, which are not calendar ages, have roles of their own.
    """
    named = named or {}
    if len(text) > _LONGEST_TEXT:
        return Header(index, text)
    header = _parse(index, text, text, named)
    if header.word in named:
        return header
    if not _RADIOCARBON.search(text):
        return _parse(index, text, _SPECTROMETRY.sub(" ", text), named) if _SPECTROMETRY.search(text) else header
    # Without the words for radiocarbon the header says whether it is about an age or its error.
    plain = _parse(index, text, _RADIOCARBON.sub(" ", text), named)
    if plain.role not in ("t", "error"):
        return header
    if is_radiocarbon(text):
        return replace(plain, role="radiocarbon error" if plain.error else "radiocarbon age")
    return plain


def is_radiocarbon(text: str) -> bool:
    """Whether a text names radiocarbon ages that are not calibrated."""
    return bool(_RADIOCARBON.search(text)) and not is_calibrated(text)


def is_calibrated(text: str) -> bool:
    """Whether a text names calibrated ages, or of calendar ages."""
    return bool(_CALIBRATED.search(_RADIOCARBON.sub(" ", text)))


def _flat(text: str) -> str:
    """A header without brackets inside brackets."""
    return _NESTED.sub(r"(\1\2\3)", text)


def any_sigma(text: str) -> int | None:
    """1 or 2 if a header that the user names as an error says so anywhere, None if it does not."""
    found = {
        2 if match["two"] or match["after"] == "2" else 1
        for match in _ANY_SIGMA.finditer(text)
        if match["two"] or match["one"] or match["after"]
    }
    return found.pop() if len(found) == 1 else None


def _parse(index: int, text: str, part: str, named: Mapping[str, str]) -> Header:
    """The header `text`, of which only `part` is read."""
    part = _flat(part)
    body = _LAST_UNIT.sub("", re.sub(r"\.\d+$", "", _BRACKETS.sub(" ", part).strip()))
    squashed = squash(body)
    header = Header(index, text, unit=_unit(part))
    if len(squashed) > _LONGEST:
        return header
    if squashed in LIMIT and squashed not in named:
        return replace(header, role="limiting", word=squashed, rank=1)
    found = _MODIFIERS.around(squashed, (*named, *_WORDS))
    if found and (len(found[1]) > 1 or found[1] in named or _SINGLE.match(body.lower())):
        head, word, tail = found
        role, rank = (named[word], 0) if word in named else _ROLES[word]
        header = replace(header, role=role, word=word, rank=rank)
        modifiers = head, tail
    elif _MODIFIERS.covers(squashed):
        modifiers = squashed, ""
    else:
        return header
    if "publ" in part.lower() and header.word in ("year", "years", "date") and header.word not in named:
        return Header(index, text)  # a year of publication
    return _with_modifiers(header, modifiers, _bracketed(part))


def _bracketed(text: str) -> list[str]:
    """The text in brackets, separated at commas."""
    return [part for inside in _BRACKETS.findall(text) for part in re.split("[,;]", inside)]


def _with_modifiers(header: Header, modifiers: tuple[str, str], inside: list[str]) -> Header:
    brackets = [squash(part) for part in inside]
    text = " ".join((*modifiers, *filter(_MODIFIERS.covers, brackets)))
    tokens = re.findall(_MODIFIER, text)

    def have(pattern: str) -> bool:
        return any(re.fullmatch(pattern, token) for token in tokens)

    side = "up" if have(_UP) else "low" if have(_LOW) else None
    sigmas = {_sigma(token) for token in tokens if re.fullmatch(_SIGMA, token) or token in ("1", "2", "68", "95")}
    strange = [part for part in inside if not _MODIFIERS.covers(squash(part)) and _NUMBERED.search(_numberless(part))]
    unclear = [token for token in tokens if re.fullmatch(_UNCLEAR, token) and not re.fullmatch(_SIGMA, token)]
    if side is None and sigmas:
        unclear += [token for token in tokens if token == "range"]  # may be all of it, or half
    signed = "plus" in tokens or "minus" in tokens
    error = bool(sigmas) or side is not None or have(_ERROR) or bool(unclear)
    if not header.word and not error:
        return replace(header, role=None)
    centred = have(_CENTRE) and not error and header.role == "t"
    scale = _scale(header.text)
    return replace(
        header,
        role=header.role or "error",
        rank=header.rank - centred + (scale == "BC"),
        error=error,
        side=side,
        says_error=signed or have(_ERROR),
        sigma=next(iter(sigmas)) if len(sigmas) == 1 and not unclear else None,
        unclear=", ".join([*unclear, *strange, *(map(str, sorted(sigmas)) if len(sigmas) > 1 else ())]),
        scale=scale,
        modelled="modelled" in tokens or "modeled" in tokens,
    )


def _sigma(token: str) -> float:
    """How many standard deviations a modifier says."""
    digits = re.match(r"\d+", token.removeprefix("sigma").removeprefix("k"))
    if digits is None:
        return _FACTORS[next(word for word in _FACTORS if token.startswith(word))]
    if re.search("%|pct|percent", token) or token in ("68", "95"):
        return _LEVELS[digits[0]]
    return _FACTORS.get(digits[0]) or int(digits[0])


def _numberless(part: str) -> str:
    """The text in brackets, without the numbers that cannot be about sigmas."""
    return _OTHER_NUMBERS.sub(" ", part)


def _scale(text: str) -> str | None:
    """BP, CE or BC, if a header names it as a word of its own or inside a joined name."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", spelled(text.replace("_", " ")))
    words = re.sub(r"[\s_()\[\]{}.,/\-]+", " ", words).lower()
    bp = re.search(r"(?:\b|cal|yr|years|ka|age)(?:bp|b2k)\b", words)
    ce = re.search(r"(?:\b|age|year|yr)(?:ce|ad)\b", words)
    bc = re.search(r"(?:\b|age|year|yr|cal)bce?\b", words)
    if bp:
        return None if ce or bc else "BP"
    return "CE" if ce else "BC" if bc else None


def _unit(text: str) -> str:
    """The unit in brackets, or as the last word; "" for none."""
    for inside in _bracketed(text):
        rest = re.sub(r"[±+]?\s*[12]\s*(?:σ|sigma|sd|s)\b|95\s*%|68\s*%|[±+]|^\s*-\s*$", "", inside).strip()
        if rest and not _NO_UNIT.covers(squash(rest)):
            return rest
    words = re.split(r"[\s_]+", _BRACKETS.sub(" ", text).strip())
    tail: list[str] = []
    known = r"m|dm|cm|mm|ft|a|c|ka|kyrs?|yrs?|years?|cal|bp|ce|ad|bce|b2k|°c|degc|‰|permil|psu"
    while len(words) > 1 and re.fullmatch(known, words[-1], flags=re.IGNORECASE):
        tail.insert(0, words.pop())
    return " ".join(word.upper() if word.lower() in ("bp", "ce", "ad", "bce") else word for word in tail)
