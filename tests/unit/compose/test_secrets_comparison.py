"""A running process notices that its secrets are no longer those of the other machines."""

import pytest

from negotiator.base.values import keyed_digest
from negotiator.compose.shared_secrets import PEPPER, SecretsComparison
from negotiator.config.settings import Settings
from negotiator.keys.keyring import FolderKeyring
from negotiator.store import fingerprints
from negotiator.store.store import make_store


@pytest.mark.asyncio
async def test_health_says_that_another_machine_has_other_secrets_and_names_no_file(settings: Settings) -> None:
    store, keyring = make_store(settings.database_url), FolderKeyring(settings.keys_dir)
    await store.start()
    try:
        secrets = SecretsComparison(settings, store, b"one", keyring)
        await secrets.compare()
        assert secrets.state() == "ok"
        await store.write(lambda tx: fingerprints.record(tx, PEPPER, "another"))
        await secrets.compare()
        assert secrets.state() == "lesser: not those of the other machines"
        await store.write(lambda tx: fingerprints.record(tx, PEPPER, keyed_digest(b"one", "fingerprint")[:16]))
        await secrets.compare()
        assert secrets.state() == "ok"
    finally:
        await store.close()
