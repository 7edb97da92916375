"""A worker of a pool: pip install cap-sdk-python; NATS_URL=… python pool_worker.py TOPIC NAME [KEY.pem]"""

import asyncio
import os
import sys
from pathlib import Path

import nats
from cap.heartbeat import emit_heartbeat, heartbeat_payload
from cap.pb.cordum.agent.v1 import job_pb2
from cap.progress import emit_progress, progress_payload
from cap.worker import run_worker
from cryptography.hazmat.primitives.serialization import load_pem_private_key

URL = os.environ.get("NATS_URL", "nats://127.0.0.1:4222")
TOPIC, NAME = sys.argv[1], sys.argv[2]
KEY = load_pem_private_key(Path(sys.argv[3]).read_bytes(), password=None) if len(sys.argv) > 3 else None
busy: set[str] = set()


async def connect(**asked: object) -> nats.NATS:
    """However long the bus is away: without this the library gives up after two minutes."""
    return await nats.connect(**{"servers": URL, "max_reconnect_attempts": -1, **asked})


async def beat(bus: nats.NATS) -> None:
    """Who says how busy they are is listed, and gets no more jobs than they have room for."""
    while True:
        await emit_heartbeat(bus, heartbeat_payload(NAME, TOPIC, len(busy), 1, 0.0), KEY)
        await asyncio.sleep(1)


async def main() -> None:
    bus = await connect()

    async def work(job: job_pb2.JobRequest) -> job_pb2.JobResult:
        busy.add(job.job_id)
        try:
            for page in range(2):
                # The first one says that the job has been started.
                told = progress_payload(NAME, job.job_id, "read", 50 * page, f"{page} of 2 pages read")
                await emit_progress(bus, told, KEY)
                await asyncio.sleep(0.05)
            result = f"s3://answers/{job.job_id}"
            return job_pb2.JobResult(status=job_pb2.JOB_STATUS_SUCCEEDED, result_ptr=result)
        finally:
            busy.discard(job.job_id)

    beating = asyncio.create_task(beat(bus))
    try:
        await run_worker(URL, TOPIC, work, private_key=KEY, sender_id=NAME, connect_fn=connect)
    finally:
        beating.cancel()
        await bus.close()


asyncio.run(main())
