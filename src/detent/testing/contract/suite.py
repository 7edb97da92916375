"""The whole contract, put together from its themes."""

from detent.testing.contract.ages import Ages
from detent.testing.contract.artifacts import Artifacts
from detent.testing.contract.batches import Batches
from detent.testing.contract.claims import Claims
from detent.testing.contract.compensation import Compensations
from detent.testing.contract.counting import Counting
from detent.testing.contract.failing import Failing
from detent.testing.contract.fences import Fences
from detent.testing.contract.judging import Judging
from detent.testing.contract.limiting import Limiting
from detent.testing.contract.listings import Listings
from detent.testing.contract.lives import Lives
from detent.testing.contract.log import Log
from detent.testing.contract.looking import Looking
from detent.testing.contract.looking_back import LookingBack
from detent.testing.contract.pausing import Pausing
from detent.testing.contract.purging import Purging
from detent.testing.contract.reconciling import Reconciling
from detent.testing.contract.refusals import Refusals
from detent.testing.contract.repeats import Repeats
from detent.testing.contract.retention import Removal
from detent.testing.contract.schedules import Schedules
from detent.testing.contract.tailing import Tailing
from detent.testing.contract.tallies import Tallies
from detent.testing.contract.tenants import Tenants
from detent.testing.contract.tokens import TokensKept
from detent.testing.contract.twins import Twins
from detent.testing.contract.verdicts import Verdicts
from detent.testing.contract.versions import Versions
from detent.testing.contract.wires import Wires
from detent.testing.contract.workers import Workers


class StoreContract(
    Lives,
    Log,
    Refusals,
    Fences,
    Repeats,
    Twins,
    Claims,
    Looking,
    Batches,
    Reconciling,
    Counting,
    Failing,
    Compensations,
    Artifacts,
    Verdicts,
    Judging,
    Versions,
    Tenants,
    Listings,
    Tallies,
    Tailing,
    LookingBack,
    Removal,
    Purging,
    Pausing,
    Ages,
    Limiting,
    Workers,
    Schedules,
    TokensKept,
    Wires,
):
    """What a store must do. Say in `make_store` which one; `receipts_s`, `verbose_s` and `notes_max` what it keeps."""
