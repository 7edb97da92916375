"""An app in a module of its own, with nothing beside it: what its worker weighs is the worker's own weight."""

from detent import App

app = App()


@app.job
async def rest() -> None: ...
