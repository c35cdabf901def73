"""`/negotiations/new`: five questions on one page, from nothing to a negotiation with its plan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import Refusal, ValidationFailed
from negotiator.base.values import MINOR_UNITS
from negotiator.console.browser_sessions import AnySession, SignedInSession
from negotiator.console.negotiation_words import NegotiationWords, limit_title, object_member
from negotiator.console.page_calls import Members, PageCalls
from negotiator.console.page_router import FormFields, FormSize, PageRouter
from negotiator.console.talk.preparation_body import BELOW_ALTERNATIVE, THEIR_WEIGHTS, PreparedBody, prepared_body
from negotiator.console.talk.preparation_form import (
    COMPARISONS,
    MAX_ROWS,
    TRUTHS,
    IssueRow,
    Preparation,
    change_preparation,
    entered_weight,
    new_preparation,
    preparation_kinds,
    read_preparation,
)
from negotiator.console.talk.workspace_fields import ARGUMENT_FIELDS, form_key, package_of
from negotiator.negotiations.schemas_advice import NegotiationCheck
from negotiator.terms.issues import UNORDERED_TYPES, Scalar
from negotiator.terms.terms import BUYING_ROLES, SELLING_ROLES

STEPS: Final = {
    "about": ("About", "What is it about, and with whom?"),
    "matters": ("What matters", "What matters to you?"),
    "figures": ("Figures", "What would be good, and what is the least?"),
    "alternative": ("Without a deal", "What happens without a deal?"),
    "them": ("Their side", "What do you think they need?"),
}
"""The questions in order, by the id of the section: its name and the question."""
_STEP_OF: Final = {
    "target": "figures",
    "walk_away": "figures",
    "range": "figures",
    "batna": "alternative",
    "their_estimate": "them",
    "their_weights": "them",
    "their_weight": "them",
    "weights": "matters",
    "weight": "matters",
    "direction": "matters",
    "currency": "about",
    "deadline": "about",
}
"""The section that answers what advice lacks, by the last part of its name."""
_JOINED: Final = {"their_weight": "their_weights", "weight": "weights"}
"""What is asked once for all points."""
_ADVICE: Final[tuple[tuple[str, frozenset[str]], ...]] = (
    ("A plan to print: questions to ask, answers to what they will say, words to open with", frozenset()),
    ("Your first figure, and each step after it", frozenset({"target", "walk_away", "range"})),
    ("A warning before anything below your limit", frozenset({"walk_away"})),
    ("Whether there is room for a deal, and how likely", frozenset({"walk_away", "range", "their_estimate"})),
    ("When it is better to leave", frozenset({"batna"})),
    ("What to give for what: trades that cost you little and bring them much", frozenset({"their_weights"})),
    ("How fast to move", frozenset({"deadline"})),
)  # fmt: skip
"""Advice, and what it cannot do without."""


@dataclass(frozen=True, slots=True)
class RowView:
    """One point, with the words around its fields. `swing` is the way from its limit to its target, in words."""

    place: int
    row: IssueRow
    name: str
    unit: str
    choices: Sequence[tuple[str, str]]
    limit_title: str
    range_words: str
    best_hint: str
    worst_hint: str
    swing: str
    is_price: bool

    @property
    def prefix(self) -> str:
        """What the names of its fields begin with."""
        return f"i{self.place}"


@dataclass(frozen=True, slots=True)
class PreparationView:
    """The page beside what was typed: what is said under fields, what is wrong, by field, and what comes next.

    `states` says of each section by its id whether it is `done` or `next`. `advice` are what advice can say, whether it
    is `ready`, comes with the `next` answer or `later`, and the number of the question that it needs.
    """

    rows: Sequence[RowView]
    notes: Mapping[str, str]
    faults: Mapping[str, str]
    states: Mapping[str, str]
    advice: Sequence[tuple[str, str, int]]
    question: str
    why: str
    low_hint: str
    high_hint: str
    asks_reason: bool

    @property
    def next_step(self) -> str:
        """The id of the section to go on with; empty for none."""
        return next((step for step, state in self.states.items() if state == "next"), "")


def field_id(name: str) -> str:
    """The id of a field by its name."""
    return name.replace(".", "-")


def preparation_view(
    form: Preparation, prepared: PreparedBody, checked: NegotiationCheck | None, refused: Mapping[str, str]
) -> PreparationView:
    """The view of a form; `checked` is the answer of the check, None where it was refused at the `refused` fields."""
    words = _words(prepared)
    missing = _missing(checked, prepared)
    states = _states(form, missing, has_faults=checked is None)
    question, why = _next(states, checked)
    low, high = (words.money(end) if words else "" for end in prepared.spread) if prepared.spread else ("", "")
    return PreparationView(
        rows=[_row(form, prepared, words, n) for n in range(len(form.rows))],
        notes=_notes(form, prepared, words),
        faults={**refused, **prepared.errors},
        states=states,
        advice=_advice(states, missing, several=len(prepared.places) > 1),
        question=question,
        why=why,
        low_hint=low,
        high_hint=high,
        asks_reason=bool(form.override_reason) or BELOW_ALTERNATIVE in refused.values(),
    )


def _words(prepared: PreparedBody) -> NegotiationWords | None:
    """The words of the body, unless it has no form that could be said."""
    try:
        return NegotiationWords.of_body({**prepared.body, "deadline": None})
    except (ValidationError, ValidationFailed):
        return None


def _notes(form: Preparation, prepared: PreparedBody, words: NegotiationWords | None) -> dict[str, str]:
    """The line under each field that has one: how its figure is understood."""
    found = {f"i{n}.weight": _weight_words(row) for n, row in enumerate(form.rows)}
    packages = {"target": _package(prepared, "target"), "limit": _package(prepared, "walk_away")}
    for n, row in enumerate(form.rows):
        name = prepared.names[n]
        for field, package in packages.items():
            if words and row.type == "money" and name in package:
                total = words.total(package) if n == form.price_place else ""
                found[f"i{n}.{field}"] = total or words.value(name, package[name])
    for n in prepared.swapped:
        text = "Better for you than what would be good. Leave it if you mean it so."
        found[f"i{n}.limit"] = " · ".join(filter(None, (found.get(f"i{n}.limit"), text)))
    kept = {one.kind: one.fact for one in (words.terms.arguments if words else ()) if not one.shareable}
    text = "Never said to them, since it tells your limit, your target or your alternative: "
    found |= {of.name: text + kept[of.kind] for of in ARGUMENT_FIELDS if of.kind in kept}
    if words and form.price_place in prepared.places:
        rest = packages["target"] or packages["limit"]
        found |= _price_notes(prepared, words, prepared.names[form.price_place or 0], rest)
    return found


def _weight_words(row: IssueRow) -> str:
    weight = entered_weight(row)
    said = ((0, "does not matter"), (2, "a little"), (4, "somewhat"), (6, "a good deal"), (8, "very much"))
    text = next((text for most, text in said if weight <= most), "more than anything")
    return f"{weight.normalize():f} of 10: {text}"


def _package(prepared: PreparedBody, member: str) -> Members:
    return package_of(prepared.body.get(member))


def _price_notes(prepared: PreparedBody, words: NegotiationWords, name: str, rest: Members) -> dict[str, str]:
    """The lines under the amounts that stand for a price: what it is today, the alternative's, theirs."""
    body = prepared.body
    alternative = package_of(object_member(body, "batna").get("value")).get(name)
    named = {"baseline": object_member(body, "baseline").get("value"), "alternative_price": alternative}
    found = {
        field: words.total({**rest, name: value}) or words.value(name, value)
        for field, value in named.items()
        if value is not None
    }
    if guess := object_member(object_member(body, "their_estimate"), "walk_away"):
        low, likely, high = (words.amount(guess[end]) for end in ("low", "likely", "high"))
        total = words.total({**rest, name: guess["likely"]})
        found["their_guess"] = f"{total or likely}. Counted as {low} to {high}."
    return found


def _row(form: Preparation, prepared: PreparedBody, words: NegotiationWords | None, n: int) -> RowView:
    row, name = form.rows[n], prepared.names[n]

    def said(value: Scalar | None) -> str:
        return "" if words is None or value is None else words.value(name, value)

    ends: Members = {}
    if n in prepared.places:
        ends = object_member(prepared.body["issues"][prepared.places.index(n)], "range")
    low, high = said(ends.get("min")), said(ends.get("max"))
    best, worst = prepared.ranges.get(n, (None, None))
    target, limit = (_package(prepared, member).get(name) for member in ("target", "walk_away"))
    units = {"money": form.currency, "percent": "%", "duration_days": "days", "date": ""}
    return RowView(
        place=n,
        row=row,
        name=row.label or f"Point {n + 1}",
        unit="" if row.choice_values else units.get(row.type, row.unit),
        choices=[(value, TRUTHS.get(value, value)) for value in row.choice_values],
        limit_title=limit_title(row.type, row.direction),
        range_words=f"Between {low} and {high} anything seems possible" if low else "",
        best_hint=said(best),
        worst_hint=said(worst),
        swing=f"from {said(limit)} to {said(target)}" if said(target) and said(limit) and target != limit else "",
        is_price=n == form.price_place,
    )


def _missing(checked: NegotiationCheck | None, prepared: PreparedBody) -> frozenset[str]:
    """What advice lacks, by the last part of its name. Where the check was refused, what was not typed counts."""
    if checked is None:
        return _untyped(prepared.body)
    names = [*(one["missing"] for one in checked["ask"]), *checked["missing"]]
    kinds = (name.rpartition("/")[2] for name in names)
    return frozenset(_JOINED.get(kind, kind) for kind in kinds)


def _untyped(body: Members) -> frozenset[str]:
    issues = body.get("issues", [])
    members = {
        "target": "target" in body,
        "walk_away": "walk_away" in body,
        "deadline": "deadline" in body,
        "batna": "value" in object_member(body, "batna"),
        "their_estimate": "walk_away" in object_member(body, "their_estimate"),
        "range": all("range" in one for one in issues if one["type"] not in UNORDERED_TYPES),
        "their_weights": all("their_weight" in one for one in issues),
    }
    return frozenset(name for name, is_there in members.items() if not is_there)


def _states(form: Preparation, missing: frozenset[str], *, has_faults: bool) -> dict[str, str]:
    begun = bool(form.kind and (form.title or form.counterparty))
    done = {
        "about": begun,
        "matters": begun,
        "figures": not missing & {"target", "walk_away", "range"},
        "alternative": "batna" not in missing,
        "them": "their_estimate" not in missing,
    }
    following = next((step for step in STEPS if not done[step]), "")
    return {step: "next" if step == following else "done" if done[step] and not has_faults else "" for step in STEPS}


def _next(states: Mapping[str, str], checked: NegotiationCheck | None) -> tuple[str, str]:
    """The next question and what its answer changes."""
    step = next((step for step, state in states.items() if state == "next"), "")
    if not step or checked is None:
        return "", ""
    if step == "about":
        return ("What is it about, and with whom?", "It decides which points, questions and words fit.")
    asked = (one for one in checked["ask"] if _STEP_OF.get(one["missing"].rpartition("/")[2]) == step)
    found = next(asked, None)
    return (found["ask"], found["why"]) if found else (STEPS[step][1], "")


def _advice(states: Mapping[str, str], missing: frozenset[str], *, several: bool) -> list[tuple[str, str, int]]:
    numbers = {step: number for number, step in enumerate(STEPS, 1)}
    found: list[tuple[str, str, int]] = []
    for text, needs in _ADVICE:
        if "their_weights" in needs and not several:
            continue
        at = [_STEP_OF[name] for name in needs & missing]
        state = "later" if any(states[step] != "next" for step in at) else "next" if at else "ready"
        found.append((text, state, max((numbers[step] for step in at), default=0)))
    return found


PREPARE_PATH: Final = "/negotiations/new"
USUAL_CURRENCIES: Final = ("EUR", "USD", "GBP", "CHF", "CAD", "AUD", "SEK", "NOK", "DKK", "PLN", "CZK", "JPY", "INR")
"""They stand first in the list; the first one is taken where the browser names no country."""
_CURRENCY_OF: Final = {
    "US": "USD", "GB": "GBP", "CH": "CHF", "CA": "CAD", "AU": "AUD", "SE": "SEK", "NO": "NOK", "DK": "DKK",
    "PL": "PLN", "CZ": "CZK", "JP": "JPY", "IN": "INR",
}  # fmt: skip
_SIZE: Final = FormSize(64 * 1024, 400)


@dataclass(frozen=True, slots=True)
class PreparePage:
    """The page on which a user prepares a negotiation. What is typed stays in the form until it is saved."""

    router: PageRouter
    calls: PageCalls

    def routes(self) -> list[Route]:
        return [
            self.router.page(PREPARE_PATH, self.show),
            self.router.open_form(
                PREPARE_PATH, self.receive, anonymous_needs_token=False, user_needs_token=False, size=_SIZE
            ),
        ]

    async def receive(self, request: Request, session: AnySession, fields: FormFields) -> Response:
        """The form. Where the session has ended meanwhile, what was typed is shown again and nothing is saved."""
        if isinstance(session, SignedInSession):
            if self.router.has_token(session, fields):
                return await self.act(request, session, fields)
            return await self._page(session, read_preparation(fields), is_kept=True)
        if "hx-request" in request.headers:
            return self.router.ask_to_sign_in(PREPARE_PATH)
        typed = {name: value for name, value in fields.items() if name not in {"csrf", "do"}}
        return self.router.render("form_kept.html", session, action=PREPARE_PATH, fields=typed)

    async def show(self, request: Request, session: SignedInSession) -> Response:
        """An empty form, or one that begins with the `kind` of the query."""
        language = request.headers.get("accept-language", "")
        form = new_preparation(request.query_params.get("kind", ""), usual_currency(language))
        return await self._page(session, form)

    async def act(self, request: Request, session: SignedInSession, fields: FormFields) -> Response:
        """Save, or show the form again after one of its other buttons."""
        form, do = read_preparation(fields), fields.get("do", "")
        if do == "save":
            return await self._save(session, form)
        changed = change_preparation(form, do)
        in_place = "hx-request" in request.headers
        return await self._page(session, changed, focus=_focus(do, changed), in_place=in_place)

    async def _save(self, session: SignedInSession, form: Preparation) -> Response:
        """Open the negotiation, make its plan and show it; the form again where something is refused.

        The same form sent twice opens one negotiation.
        """
        prepared = prepared_body(form)
        if prepared.errors:
            return await self._page(session, form, status=422)
        key = form_key(form.key, prepared.body)
        try:
            opened = await self.calls.run(session, "open_negotiation", prepared.body, key=key)
        except Refusal as refusal:
            return await self._page(session, form, status=refusal.status, refused=prepared.faults_of(refusal))
        path = f"/negotiations/{opened['id']}"
        try:
            members = {"id": opened["id"]}
            await self.calls.run(session, "make_battle_plan", members, key=f"{key}:plan")
        except Refusal:  # the negotiation is there, and its page offers to make the plan
            return self.router.pages.see(path)
        return self.router.pages.see(f"{path}#plan")

    async def _page(
        self,
        session: SignedInSession,
        form: Preparation,
        *,
        status: int = 200,
        refused: Mapping[str, str] | None = None,
        focus: str = "",
        in_place: bool = False,
        is_kept: bool = False,
    ) -> Response:
        """The page; `focus` is the id of the field to go on with, which a script finds in a page that is replaced."""
        prepared = prepared_body(form)
        checked, found = await self._check(session, prepared)
        faults = {**found, **(refused or {})}
        kind = form.kind_template
        return self.router.render(
            "prepare.html",
            session,
            status,
            form=form,
            view=preparation_view(form, prepared, None if faults else checked, faults),
            kind=kind,
            kinds=preparation_kinds().values(),
            currencies=[code for code in sorted(MINOR_UNITS) if code not in USUAL_CURRENCIES],
            usual_currencies=USUAL_CURRENCIES,
            comparisons=COMPARISONS,
            their_weights=THEIR_WEIGHTS,
            argument_fields=ARGUMENT_FIELDS,
            is_paying=form.role in BUYING_ROLES,
            is_paid=form.role in SELLING_ROLES,
            is_full=len(form.rows) >= MAX_ROWS,
            is_kept=is_kept,
            is_refused=status != 200,
            focus=focus,
            focus_by="data-focus" if in_place else "autofocus",
            steps=STEPS,
            numbers={step: number for number, step in enumerate(STEPS, 1)},
            live_ids=[],
            field_id=field_id,
            here="negotiations",
        )

    async def _check(
        self, session: SignedInSession, prepared: PreparedBody
    ) -> tuple[NegotiationCheck | None, dict[str, str]]:
        """What the operation says of the body: its answer, or the sentences of its refusal by field."""
        try:
            return cast("NegotiationCheck", await self.calls.run(session, "check_negotiation", prepared.body)), {}
        except Refusal as refusal:  # the page keeps what was typed
            return None, prepared.faults_of(refusal)


def usual_currency(language: str) -> str:
    """The currency of the first country that `Accept-Language` names."""
    for part in language.split(","):
        _, _, country = part.split(";")[0].strip().partition("-")
        if country:
            return _CURRENCY_OF.get(country.upper(), USUAL_CURRENCIES[0])
    return USUAL_CURRENCIES[0]


def _focus(do: str, form: Preparation) -> str:
    """The id of the field to go on with after a button."""
    if do == "add":
        return f"i{len(form.rows) - 1}-label"
    return {"compare": "i0-weight"}.get(do, "add" if do.startswith("remove.") else "")
