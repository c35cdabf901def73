"""What one learns of those one deals with: the structure behind the corpus. Names and figures are invented."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Aspect:
    """One thing to know of a party: two ways it was noted, how it is asked with its words, and how without.

    `{n}` is the name, `{v}` a figure that differs from party to party, `{t}` the party without its name.
    """

    kind: str
    noted: tuple[str, str]
    asked: str
    meant: tuple[str, str]
    figures: tuple[str, ...]


DAYS: Final = ("12", "18", "21", "27", "33", "38", "44")
SHARES: Final = ("4", "6", "7.5", "9", "11", "13", "16")
SUMS: Final = ("5,000", "12,500", "20,000", "35,000", "60,000", "90,000")
MONTHS: Final = ("January", "March", "May", "June", "September", "November")
NUMBERS: Final = range(2101, 3200, 137)
CONTRACTS: Final = tuple(f"{letters}-{number}" for letters in ("FC", "KV", "MX", "TR", "QL") for number in NUMBERS)
PARTS: Final = tuple(f"{letters}{number}" for letters in ("PA", "SD", "WN", "EH", "JU") for number in NUMBERS)
PEOPLE: Final = ("Ms Okafor", "Mr Lindqvist", "Ms Duarte", "Mr Tanaka", "Ms Novak", "Mr Haddad")

ASPECTS: Final = (
    Aspect(
        "counterparty",
        (
            "{n} settles invoices about {v} days after they fall due.",
            "Expect payment from {n} roughly {v} days past the due date.",
        ),
        "how late are payments and invoices of {n}",
        ("is {t} slow with money it owes us", "does {t} keep us waiting for cash"),
        DAYS,
    ),
    Aspect(
        "counterparty",
        (
            "{n} lowers its price by up to {v} percent in the final week of a quarter.",
            "Quarter end is when {n} discounts: as much as {v} percent off.",
        ),
        "{n} quarter end discount percent",
        ("best moment to get {t} cheaper", "at what time of year does {t} become more generous"),
        SHARES,
    ),
    Aspect(
        "fact",
        ("At {n} only {v} can sign a contract.", "The signature on any contract with {n} has to come from {v}."),
        "who signs a contract at {n}",
        ("which person has the final say over at {t}", "who is the real decision maker of {t}"),
        PEOPLE,
    ),
    Aspect(
        "counterparty",
        (
            "{n} opens with an offer about {v} percent above what it finally accepts.",
            "First offers from {n} sit {v} percent over the final figure.",
        ),
        "how far is the first offer of {n} above the final one",
        ("how inflated is the initial ask from {t}", "does {t} start with an exaggerated anchor"),
        SHARES,
    ),
    Aspect(
        "lesson",
        (
            "With {n} a long silence after their offer brought a better one within minutes.",
            "Saying nothing after {n} names a number makes them improve it.",
        ),
        "silence after an offer of {n}",
        ("does keeping quiet work on {t}", "should I just wait without replying to {t}"),
        ("",),
    ),
    Aspect(
        "fact",
        (
            "{n} pays a penalty of {v} percent of the order for each week of late delivery.",
            "Late delivery costs {n} a penalty: {v} percent per week.",
        ),
        "penalty for late delivery {n}",
        ("what do we get when {t} misses the schedule", "damages if {t} is behind time"),
        SHARES,
    ),
    Aspect(
        "fact",
        ("{n} grants a warranty of {v} months on everything it sells.", "The warranty from {n} runs for {v} months."),
        "warranty months of {n}",
        ("how long will {t} repair faults for free", "who fixes it if something from {t} breaks"),
        ("12", "18", "24", "30", "36", "48"),
    ),
    Aspect(
        "counterparty",
        (
            "{n} gives volume rebates from {v} EUR of yearly orders.",
            "Yearly orders above {v} EUR earn a rebate at {n}.",
        ),
        "volume rebate yearly orders {n}",
        ("how much must we buy before {t} rewards us", "is there money back from {t} for bulk"),
        SUMS,
    ),
    Aspect(
        "fact",
        (
            "Our contract with {n} renews itself unless cancelled {v} days before its end.",
            "Cancel the {n} contract {v} days ahead or it renews by itself.",
        ),
        "when must the contract with {n} be cancelled before it renews",
        ("how do we get out of the deal with {t}", "last chance to leave {t}"),
        ("30", "45", "60", "90", "120"),
    ),
    Aspect(
        "preference",
        (
            "{n} wants to talk by video call and dislikes email haggling.",
            "Email haggling annoys {n}; a video call works.",
        ),
        "does {n} prefer email or a video call",
        ("how should I reach {t} to bargain", "which channel suits {t} for discussions"),
        ("",),
    ),
    Aspect(
        "lesson",
        (
            "{n} walked away once when we set a deadline of {v} hours.",
            "A deadline of {v} hours made {n} leave the table.",
        ),
        "deadline that made {n} leave",
        ("does time pressure backfire with {t}", "is it risky to hurry {t}"),
        ("12", "24", "36", "48", "72"),
    ),
    Aspect(
        "fact",
        (
            "{n} asks for a deposit of {v} percent before it starts.",
            "Nothing starts at {n} without a {v} percent deposit.",
        ),
        "deposit percent {n} before it starts",
        ("how much up front does {t} require", "must we advance funds to {t}"),
        ("10", "15", "20", "25", "30", "40"),
    ),
    Aspect(
        "counterparty",
        (
            "The strongest rival bid to {n} came from Arbor & Sons, {v} percent lower.",
            "Arbor & Sons bid {v} percent below {n}.",
        ),
        "rival bid of Arbor against {n}",
        ("what alternative do we have to {t}", "who else could replace {t} for less"),
        SHARES,
    ),
    Aspect(
        "win",
        ("We saved {v} EUR with {n} by bundling two orders into one.", "Bundling orders saved {v} EUR at {n}."),
        "how much did bundling orders save with {n}",
        ("did combining purchases pay off with {t}", "benefit of joining demand at {t}"),
        SUMS,
    ),
    Aspect(
        "counterparty",
        (
            "{n} never moves on price but gives free training instead.",
            "Free training is what {n} gives instead of a lower price.",
        ),
        "{n} free training instead of price",
        ("what else can we obtain when {t} refuses a rebate", "non monetary extras from {t}"),
        ("",),
    ),
    Aspect(
        "fact",
        (
            "{n} must finish its budget in {v} and buys or sells quickly then.",
            "The budget year of {n} ends in {v}; decisions are quick before it.",
        ),
        "when does the budget year of {n} end",
        ("in which season is {t} in a rush", "when does fiscal pressure hit {t}"),
        MONTHS,
    ),
    Aspect(
        "lesson",
        (
            "The good cop and bad cop of {n} are {v} and their boss; address the boss directly.",
            "{v} plays the hard one for {n} while the boss plays friend.",
        ),
        "good cop bad cop boss {n}",
        ("which manipulation trick does {t} use on us", "does {t} stage a tough and a kind person"),
        PEOPLE,
    ),
    Aspect(
        "counterparty",
        (
            "{n} complained about quality twice to get {v} percent off an agreed price.",
            "After signing, {n} claims quality problems to shave off {v} percent.",
        ),
        "quality complaints of {n} after signing",
        ("does {t} reopen settled terms with excuses", "is {t} nibbling once we have a deal"),
        SHARES,
    ),
    Aspect(
        "fact",
        (
            "{n} insists on exclusivity for its region for {v} months.",
            "Regional exclusivity over {v} months is a must for {n}.",
        ),
        "exclusivity region months {n}",
        ("may we work with competitors of {t}", "does {t} want to be our sole partner"),
        ("6", "9", "12", "18", "24"),
    ),
    Aspect(
        "fact",
        ("Prices at {n} follow an index and rise each {v}.", "Each {v} the prices of {n} are adjusted by an index."),
        "index and price rise of {n}",
        ("is inflation passed on by {t}", "when do charges of {t} go up automatically"),
        MONTHS,
    ),
    Aspect(
        "preference",
        (
            "{n} values a public reference and trades {v} percent for it.",
            "A public reference from us is worth {v} percent to {n}.",
        ),
        "public reference worth to {n}",
        ("would {t} like being named as a success story", "can publicity buy something from {t}"),
        SHARES,
    ),
    Aspect(
        "counterparty",
        (
            "{n} has spare capacity in {v} and takes small margins to fill it.",
            "To fill capacity in {v}, {n} accepts small margins.",
        ),
        "spare capacity {n} month",
        ("when is {t} short of work", "slack period of {t} to exploit"),
        MONTHS,
    ),
    Aspect(
        "lesson",
        (
            "Giving {n} three equal packages to choose from ended a deadlock in {v}.",
            "Three equal packages broke the deadlock with {n} in {v}.",
        ),
        "three packages deadlock {n}",
        ("how did we get {t} unstuck", "does offering {t} several options help"),
        MONTHS,
    ),
    Aspect(
        "fact",
        ("Liability of {n} is capped at {v} EUR per claim.", "{n} caps its liability: {v} EUR for each claim."),
        "liability cap {n} per claim",
        ("what is the most {t} would owe us for harm", "how far does {t} answer for mistakes"),
        SUMS,
    ),
    Aspect(
        "fact",
        ("The frame contract with {n} is {v}; quote it on every order.", "Orders to {n} go under frame contract {v}."),
        "what is {v}",
        ("agreement identifier to put on purchases from {t}", "paperwork reference for {t}"),
        CONTRACTS,
    ),
    Aspect(
        "fact",
        (
            "Spare part {v} from {n} is sold by nobody else, so there is no leverage on it.",
            "{n} is the single source of part {v}.",
        ),
        "who sells {v}",
        ("where are we locked in with {t}", "on what does {t} hold a monopoly over us"),
        PARTS,
    ),
)
