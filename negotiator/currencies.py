"""The active currency codes of ISO 4217 with their minor units, and money written in them."""

from decimal import Context, Decimal
from typing import Final

_BY_MINOR_UNITS: Final[dict[int, str]] = {
    0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
    2: (
        "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF "
        "CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD "
        "GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL "
        "MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR "
        "PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP "
        "TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG"
    ),
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
}
_WIDE: Final = Context(prec=100)
MINOR_UNITS: Final[dict[str, int]] = {
    code: units for units, codes in _BY_MINOR_UNITS.items() for code in codes.split()
}
PATTERN: Final = f"^({'|'.join(sorted(MINOR_UNITS))})$"
"""A pattern that the active codes match and nothing else."""
"""Digits after the point of each active code; funds and precious metals without minor units are left out."""


def money(amount: Decimal, currency: str | None) -> str:
    """A decimal string with at least the currency's minor units, two when it is unknown; never an exponent."""
    places = MINOR_UNITS.get(currency or "", 2)
    plain = _WIDE.plus(amount.normalize(_WIDE))
    if -int(plain.as_tuple().exponent) <= places:
        plain = plain.quantize(Decimal(1).scaleb(-places), context=_WIDE)
    return format(plain, "f")
