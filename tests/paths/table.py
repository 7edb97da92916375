"""Every failure path of the five lifecycles, and the declared moves that none of them can take."""

from typing import Final

from tests.paths.path import Edge, Path
from tests.paths.rows.contract import CONTRACT
from tests.paths.rows.dispatch import DISPATCH
from tests.paths.rows.dispatch_stopping import DISPATCH_JUDGED, DISPATCH_STOPPING
from tests.paths.rows.document import DOCUMENT
from tests.paths.rows.document_stopping import DOCUMENT_STOPPING
from tests.paths.rows.engine import ENGINE
from tests.paths.rows.engine_stopping import ENGINE_STOPPING
from tests.paths.rows.standard import STANDARD_FAILING
from tests.paths.rows.standard_losing import STANDARD_LOSING
from tests.paths.rows.standard_stopping import STANDARD_STOPPING

PATHS: Final[dict[str, tuple[Path, ...]]] = {
    "standard": (*STANDARD_FAILING, *STANDARD_LOSING, *STANDARD_STOPPING),
    "dispatch": (*DISPATCH_JUDGED, *DISPATCH, *DISPATCH_STOPPING),
    "engine": (*ENGINE, *ENGINE_STOPPING),
    "contract": CONTRACT,
    "document": (*DOCUMENT, *DOCUMENT_STOPPING),
}

# By lifecycle: a declared move that no worker, operator or passing of time can bring about, and why that is so.
UNTAKEN: Final[dict[str, dict[Edge, str]]] = {}


def job_id_of(lifecycle: str, path: Path) -> str:
    return f"{lifecycle}.{path.name.replace(',', '').replace(' ', '-')}"
