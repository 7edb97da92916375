// A worker in plain Node, without packages: DETENT_URL=… DETENT_TOKEN=… node worker.mjs QUEUE…
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

const handlers = {
  greet: async ({ name }) => ({ greeting: `Hello, ${name}!` }),
  nap: async ({ seconds }, signal) => ({ slept: await sleep(seconds * 1000, seconds, { signal }) }),
};
const { DETENT_URL: url, DETENT_TOKEN: token } = process.env;
const stop = new AbortController(); // a second signal is Node's own, and ends it at once
for (const name of ["SIGTERM", "SIGINT"]) process.once(name, () => stop.abort());

// Asks until there is an answer. A repeat has the same key, so what was done already is not done again.
async function ask(path, said, key = randomUUID(), signal) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", "idempotency-key": key };
  for (let pause = 100; !signal?.aborted; pause = Math.min(2 * pause, 5000)) {
    try {
      const answer = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(said), signal });
      if (answer.status < 500 && ![408, 429].includes(answer.status)) return [answer.ok, await answer.json()];
    } catch (lost) { signal?.aborted || console.error(`${url}: ${lost.cause?.message ?? lost.message}`); } // again soon
    await sleep(pause);
  }
}
async function run({ id, kind, payload, attempt, policy }) {
  const say = (verb, more) => ask(`/v1/jobs/${encodeURIComponent(id)}/${verb}`, { attempt, ...more });
  const over = new AbortController(); // the job is to be cancelled, or is ours no more
  const renew = () => say("renew").then(([ok, job]) => (ok && !job.cancel_by) || over.abort());
  const renewing = setInterval(renew, policy.heartbeat_s * 1000);
  const end = await handlers[kind](payload, over.signal).then((result) => ["complete", { result }])
    .catch(({ name: type, message }) => (over.signal.aborted ? ["cancel"] : ["fail", { error: { type, message } }]));
  clearInterval(renewing);
  await say(...end); // refused, if the job is another's by now: then there is nothing left to say
}
while (!stop.signal.aborted) {
  const [key, claim] = [randomUUID(), { queues: process.argv.slice(2), kinds: Object.keys(handlers), start: true }];
  const waited = await ask("/v1/claims", { ...claim, wait_s: 30 }, key, stop.signal); // cut short, it may have a job
  const [ok, found] = waited ?? (await ask("/v1/claims", claim, key, AbortSignal.timeout(5e3))) ?? [true, { jobs: [] }];
  if (!ok) throw new Error(found.detail);
  await Promise.all(found.jobs.map(run));
}
