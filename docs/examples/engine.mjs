// An engine in Node: npm install socket.io-client; DETENT_URL=… DETENT_TOKEN=… node engine.mjs NAME
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { io } from "socket.io-client";

const handlers = {
  BUILD_SCENE: async ({ steps = 3 }, progress) => {
    for (let step = 1; step <= steps; step++) await sleep(50), await progress((100 * step) / steps);
    return { steps };
  },
};
// Not now, or not yet: after a reconnect others may be heard before `register` is.
const again = new Set(["not_registered", "too_many_requests", "store_locked", "store_unavailable", "outcome_unknown", "closing"]);
const [engineId, instanceId] = [process.argv[2] ?? "engine-1", randomUUID()];
const held = new Map(); // jobs, with their attempts; null: acknowledged, and no answer yet
const running = new Set();
const socket = io(`${process.env.DETENT_URL}/engine`, { auth: { token: process.env.DETENT_TOKEN } });

// Until there is an answer: what is said twice counts once.
async function ask(event, said = {}) {
  for (;; await sleep(500)) {
    try {
      const answer = await socket.timeout(10_000).emitWithAck(event, said);
      if (answer.accepted || !again.has(answer.code)) return answer;
    } catch { /* the connection is lost, and comes back */ }
  }
}
async function run({ jobId, jobType, payload, status }, attempt) {
  if (running.has(jobId)) return;
  running.add(jobId);
  held.set(jobId, attempt);
  const say = (event, more) => ask(event, { jobId, attempt, ...more });
  if (status === "dispatched") await say("job_started");
  await handlers[jobType](payload, (progress) => say("job_progress", { progress }))
    .then((result) => say("job_complete", { result }), ({ message }) => say("job_failed", { error: `BUILD_ERROR: ${message}` }));
  held.delete(jobId);
  running.delete(jobId);
}
socket.on("connect", async () => { // the first time, and whenever it was cut off
  const jobs = [...held].map(([jobId, attempt]) => ({ jobId, attempt }));
  const answer = await ask("register", { engineId, instanceId, jobTypes: Object.keys(handlers), capacity: 4, jobs });
  if (!answer.accepted) throw new Error(answer.detail);
  for (const { jobId } of answer.lost) held.delete(jobId);
  for (const { job, attempt } of answer.jobs) run(job, attempt);
});
socket.on("connect_error", ({ message }) => console.error(message));
socket.on("job_lost", ({ jobId }) => held.delete(jobId));
socket.on("job_offer", async ({ job: { jobId } }) => {
  if (held.has(jobId)) return;
  held.set(jobId, null);
  const { accepted, job, attempt } = await ask("job_ack", { jobId });
  if (accepted) await run(job, attempt);
  else if (held.get(jobId) === null) held.delete(jobId); // another engine was first
});
setInterval(() => socket.connected && socket.timeout(3_000).emitWithAck("heartbeat").catch(() => {}), 3_000);
process.once("SIGTERM", () => process.exit(0));
