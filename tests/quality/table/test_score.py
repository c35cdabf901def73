"""Every case has room for a deal, and the shares of a package add up to it."""

from tests.quality.table.score import table_cases


def test_every_case_has_room_and_a_package_that_leaves_none_on_the_table() -> None:
    cases = table_cases()
    assert len(cases) == 20
    assert all(case.room > 0 for case in cases.values())


def test_a_package_is_worth_what_both_pages_say() -> None:
    rent = table_cases()["row_house_rent"]
    assert rent.surplus({"rent": 1275, "from": "february", "upkeep": "tenant"}) == (50, 60)
    assert rent.room == 110
