"""An app whose jobs are run by a real worker; $DETENT_URL says where."""

from dataclasses import dataclass

from detent import App, Context, PermanentError, Retry
from detent.app import current

app = App(defaults={"retry": Retry(max_attempts=3, base_s=0)})


@dataclass
class Order:
    number: int
    goods: list[str]


class SoldOut(PermanentError):
    """No attempt will bring it back."""


@app.job
async def price(order: Order) -> dict[str, int]:
    handle = await weigh.aenqueue(order)
    return {"eur": len(order.goods), "grams": await handle.aresult(timeout_s=30)}


@app.job
def weigh(order: Order) -> int:
    return 100 * len(order.goods)


@app.job(isolation="process")
def pack(ctx: Context, order: Order) -> Order:
    weigh.enqueue(Order(order.number, [*order.goods, "box"]))
    return Order(ctx.attempt, sorted(order.goods))


@app.job
def refund(number: int) -> str:
    parent = current()
    return "" if parent is None else parent.parent_job_id or ""


@app.job(compensate=refund)
def deliver(number: int) -> None:
    raise SoldOut("nothing left", code="sold_out", stage="fetch")


@app.job(errors={ConnectionError: Retry.never(), LookupError: PermanentError})
async def call(fault: str) -> int:
    raise {"reset": ConnectionResetError("gone"), "key": KeyError("a"), "other": OSError("odd")}[fault]
