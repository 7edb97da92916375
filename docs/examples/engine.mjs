// An engine in Node: npm install socket.io-client; DETENT_URL=… DETENT_TOKEN=… node engine.mjs NAME
// NAME is that of its token, or begins with it: `forge`, `forge/7`.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { io } from "socket.io-client";

const handlers = {
  BUILD_SCENE: async ({ steps = 3 }, { progress, signal }) => {
    for (let step = 1; step <= steps; step++) {
      await sleep(50, null, { signal }); // told to stop, it throws here
      await progress((100 * step) / steps);
    }
    return { steps };
  },
};
// Not now, or not yet: after a reconnect others may be heard before `register` is.
const again = new Set(["not_registered", "too_many_requests", "store_locked", "store_unavailable", "outcome_unknown", "closing"]);
const [engineId, instanceId] = [process.argv[2] ?? "engine-1", randomUUID()];
const held = new Map(); // jobs, with their attempts; null: acknowledged, and no answer yet
const running = new Map(); // jobs, with what stops their handlers
const socket = io(`${process.env.DETENT_URL}/engine`, { auth: { token: process.env.DETENT_TOKEN } });

function end(why) {
  console.error(why);
  process.exit(1);
}

// Until there is an answer: what is said twice counts once.
async function ask(event, said = {}) {
  for (;; await sleep(500)) {
    try {
      const answer = await socket.timeout(10_000).emitWithAck(event, said);
      if (answer.accepted || !again.has(answer.code)) return answer;
    } catch { /* the connection is lost, and comes back */ }
  }
}

// What its work comes to, and how that is said.
async function outcome({ jobType, payload, status }, say, signal) {
  try {
    if (status === "dispatched" && !(await say("job_started")).accepted) return ["lost"];
    const progress = (percent) => say("job_progress", { progress: percent });
    return ["done", "job_complete", { result: await handlers[jobType](payload, { progress, signal }) }];
  } catch ({ message }) {
    return signal.aborted ? ["cancelled", "job_cancelled"] : ["failed", "job_failed", { error: `BUILD_ERROR: ${message}` }];
  }
}
// From its start to its end. Of a job that is this engine's no more there is nothing left to say.
async function run(job, attempt, stopping) {
  const { jobId } = job;
  const say = (event, more) => ask(event, { jobId, attempt, ...more });
  const [cameTo, event, more] = await outcome(job, say, stopping.signal);
  const isOurs = event !== undefined && held.has(jobId);
  if (isOurs) await say(event, more);
  console.log(`${jobId}: ${isOurs ? cameTo : "lost"}`);
  held.delete(jobId);
  running.delete(jobId);
}
function begin({ job, attempt, isCancelled }) {
  if (!running.has(job.jobId)) {
    const stopping = new AbortController();
    held.set(job.jobId, attempt);
    running.set(job.jobId, stopping);
    run(job, attempt, stopping);
  }
  if (isCancelled) stop(job);
}
const stop = ({ jobId }) => running.get(jobId)?.abort();
// Somebody else decides about it now: go on with nothing that it asked for.
function forget({ jobId }) {
  held.delete(jobId);
  stop({ jobId });
}

socket.on("connect", async () => { // the first time, and whenever it was cut off
  const jobs = [...held].map(([jobId, attempt]) => ({ jobId, attempt }));
  const answer = await ask("register", { engineId, instanceId, jobTypes: Object.keys(handlers), capacity: 4, jobs });
  if (!answer.accepted) end(answer.detail);
  answer.lost.forEach(forget);
  answer.jobs.forEach(begin);
});
socket.on("connect_error", async ({ message, data }) => {
  if (data?.code && !again.has(data.code)) end(data.detail); // it is not let in
  console.error(`not connected: ${message}`);
  if (!socket.active) await sleep(500), socket.connect(); // else it tries again by itself
});
socket.on("superseded", () => end(`engine ${engineId} is superseded: it has registered on another connection`));
socket.on("unauthorized", ({ code }) => end(`the token is good no more: ${code}`));
socket.on("job_offer", async ({ job: { jobId } }) => {
  if (held.has(jobId)) return;
  held.set(jobId, null);
  const taken = await ask("job_ack", { jobId });
  if (taken.accepted) begin(taken);
  else if (held.get(jobId) === null) held.delete(jobId); // another engine was first
});
socket.on("job_cancel", stop);
socket.on("job_lost", forget);
process.once("SIGTERM", () => process.exit(0));
// Heartbeats, and what is answered: some jobs are lost, or are to stop.
for (;;) {
  await sleep(3_000);
  const alive = await ask("heartbeat");
  alive.lost?.forEach(forget);
  alive.cancelled?.forEach(stop);
}
