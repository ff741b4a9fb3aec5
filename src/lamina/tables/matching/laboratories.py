"""The numbers that radiocarbon laboratories give to their dates, such as Beta-123456."""

import re
from collections.abc import Iterable

#: Codes of two letters and more from the list of laboratories that the journal Radiocarbon keeps. Codes of one letter
#: are left out: samples and cores are often called so.
_LIST = """
    AA AAR ANL ANSTO ANU ANUA ARC AtoMKI AURIS BA Ba Beta BGS Birm Bln BM BONN Brux BS CAMS CAR CEDAD CIRAM CNA CNL
    CSIC CURL D-AMS DAMS DeA DEM DSA DSH ECHo EH ENEA Erl ETH Fi Fra FTMC FZ Gd GdA Gdj GdS Gif GifA GIN GrA GrM GrN
    Gro GrO GSC GU GV GX Ha HAM HAR Hd Hel Hela HNS Hv IAA ICA ICEN IEMAE IFAO IGAN IHME INAH IRPA ISGS ISOTRACE IVAN
    IVIC JAT JGS KCP KI KIA KIK KN KR KSU KUNW LAC Laval LE Leu LIH LJ LTL Lu LuA LuS Lv LZ MAMS MAG METU MGU MKL NIST
    Nancy NOSAMS NPL NSRL NSTF NTU NUTA NWU NZ NZA OBDY Obl ODT ORAU ORINS Orsay OS OxA OZ OZA OZB OZC OZD OZE OZF OZG
    OZH OZI OZJ OZK OZL OZM OZN OZO OZP OZQ OZR OZS OZT OZU OZV OZW PIC Pi PITT PKU PKUAMS PL PLD Poz PRI PRL Pta PUC
    QU QL RCD RCMOS Ri RICH RIDDL Ro Roma RoAMS RT RTD RTK RTT SANU SacA SFU SI SMU SNU SPb SR SRR Su SUA SUERC Sv
    Swan TA TAM TBNC Tbil Tallinn TEM TERRA TIGK TKA TKU TK Tln TKa TO Tr TRa TUa TUNC Ua UB UBA UBAR UBAMS UCD UCI
    UCIAMS UCL UCLA UCR UGa UGAMS UIC ULA ULAMS Ulm UM UNAM UOC UQ URCRM USGS Utc UtC UW UZ Ven VERA Vib VKI VRI Wk
    WAT WHAMS WIS WSU XA XLLQ Ya YAMS Yd YU
"""
CODES = tuple(_LIST.split())
#: Code, hyphen or blank or nothing, three digits or more, and letters for repetitions. Short codes need the hyphen.
_LONG = "|".join(sorted({re.escape(code) for code in CODES if len(code) > 2}, key=len, reverse=True))
_SHORT = "|".join(re.escape(code) for code in CODES if len(code) == 2)
_NUMBER = re.compile(
    rf"(?:(?:{_LONG})[-‐–— #]{{0,2}}\d{{2,7}}|(?:{_SHORT})[-‐–—]\s?\d{{3,6}})(?:[.-]\d)*(?:[-.]?[A-Za-z]{{1,2}})?"
)
#: Words beside a number, in the names of samples.
_LONGEST = 30


def laboratory_numbers(cells: Iterable[str]) -> list[str]:
    """Those of the cells that are numbers of radiocarbon laboratories."""
    return [cell for cell in cells if 3 < len(cell) <= _LONGEST and _NUMBER.fullmatch(cell)]
