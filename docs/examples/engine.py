"""An engine: pip install 'python-socketio[asyncio_client]'; DETENT_URL=… DETENT_TOKEN=… python engine.py NAME"""

import asyncio
import os
import sys
import uuid
from typing import Any

import socketio

NAME = sys.argv[1] if len(sys.argv) > 1 else "engine-1"
INSTANCE = uuid.uuid4().hex
# Not now, or not yet: after a reconnect others may be heard before `register` is.
AGAIN = {"not_registered", "too_many_requests", "store_locked", "store_unavailable", "outcome_unknown", "closing"}
LOST = (socketio.exceptions.SocketIOError, OSError)  # the connection, and it comes back
held: dict[str, int | None] = {}  # jobs, with their attempts; None: acknowledged, and no answer yet
running: dict[str, "asyncio.Task[None]"] = {}
sio = socketio.AsyncClient()


async def build_scene(payload: dict[str, Any], job: "Job") -> dict[str, Any]:
    steps = payload.get("steps", 3)
    for step in range(1, steps + 1):
        await asyncio.sleep(0.05)
        await job.say("job_progress", progress=100 * step / steps)
    return {"steps": steps}


HANDLERS = {"BUILD_SCENE": build_scene}


async def ask(event: str, **said: Any) -> dict[str, Any]:
    """Until there is an answer: what is said twice counts once."""
    while True:
        try:
            answer: dict[str, Any] = await sio.call(event, said, namespace="/engine", timeout=10)
        except LOST:
            await asyncio.sleep(0.5)
            continue
        if answer["accepted"] or answer["code"] not in AGAIN:
            return answer
        await asyncio.sleep(0.5)


class Job:
    def __init__(self, job_id: str, attempt: int) -> None:
        self.id, self.attempt = job_id, attempt

    async def say(self, event: str, **more: Any) -> dict[str, Any]:
        return await ask(event, jobId=self.id, attempt=self.attempt, **more)

    async def run(self, job: dict[str, Any]) -> None:
        if job["status"] == "dispatched":
            await self.say("job_started")
        try:
            result = await HANDLERS[job["jobType"]](job["payload"], self)
        except Exception as error:
            await self.say("job_failed", error=f"BUILD_ERROR: {error}")
        else:
            await self.say("job_complete", result=result)
        held.pop(self.id, None)
        running.pop(self.id, None)


def begin(job: dict[str, Any], attempt: int) -> None:
    if job["jobId"] not in running:
        held[job["jobId"]] = attempt
        running[job["jobId"]] = asyncio.create_task(Job(job["jobId"], attempt).run(job))


async def register() -> None:
    jobs = [{"jobId": job_id, "attempt": attempt} for job_id, attempt in held.items()]
    answer = await ask("register", engineId=NAME, instanceId=INSTANCE, jobTypes=list(HANDLERS), capacity=4, jobs=jobs)
    if not answer["accepted"]:
        sys.exit(answer["detail"])
    for lost in answer.get("lost", ()):
        held.pop(lost["jobId"], None)
    for granted in answer.get("jobs", ()):
        begin(granted["job"], granted["attempt"])


@sio.on("connect", namespace="/engine")
async def connected() -> None:
    """The first time, and whenever it was cut off."""
    sio.start_background_task(register)  # calls cannot be awaited in here


@sio.on("job_lost", namespace="/engine")
async def job_lost(said: dict[str, Any]) -> None:
    held.pop(said["jobId"], None)


@sio.on("job_offer", namespace="/engine")
async def job_offer(said: dict[str, Any]) -> None:
    job_id = said["job"]["jobId"]
    if job_id in held:
        return
    held[job_id] = None
    taken = await ask("job_ack", jobId=job_id)
    if taken["accepted"]:
        begin(taken["job"], taken["attempt"])
    elif held.get(job_id) is None:  # another engine was first
        held.pop(job_id, None)


async def main() -> None:
    auth = {"token": os.environ["DETENT_TOKEN"]}
    await sio.connect(os.environ["DETENT_URL"], auth=auth, namespaces=["/engine"], retry=True)
    while True:
        await asyncio.sleep(3)
        if sio.connected:
            await ask("heartbeat")


if __name__ == "__main__":
    asyncio.run(main())
