"""Who holds a limit key, for whoever asks why a job waits. What claims count is in `session.py`."""

from detent.store.limits import HOLDERS_MAX, KeyReport
from detent.store.postgres.script import Script, ask
from detent.store.postgres.statements import SQL
from detent.store.postgres.values import texts
from detent.store.rows import use_of


def key_report(tenant: str, limit_key: str) -> Script[KeyReport]:
    ((_, *used, _),) = yield ask(SQL["key_uses"], {"tenant": tenant, "keys": texts([limit_key])})
    asked = {"tenant": tenant, "limit_key": limit_key, "limit": HOLDERS_MAX}
    holders = yield ask(SQL["key_holders"], asked)
    return KeyReport(use_of(*used), [(job_id, owner) for job_id, owner in holders])
