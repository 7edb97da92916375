// What becomes of jobs, printed as it comes: npm install socket.io-client;
// DETENT_URL=… DETENT_TOKEN=… node watcher.mjs [KIND]
import { setTimeout as sleep } from "node:timers/promises";
import { io } from "socket.io-client";

const jobType = process.argv[2]; // without one: of all kinds
// Not now: the same again has another answer, soon.
const again = new Set(["too_many_requests", "too_many_streams", "store_locked", "store_unavailable", "outcome_unknown", "closing"]);
const socket = io(`${process.env.DETENT_URL}/engine`, { auth: { token: process.env.DETENT_TOKEN } });
let after; // the place of the last that was printed: whoever goes on from there has neither gap nor double

function end(why) {
  console.error(why);
  process.exit(1);
}
async function watch() {
  while (socket.connected) {
    try {
      const answer = await socket.timeout(10_000).emitWithAck("watch", { jobType, after });
      if (!answer.accepted && !again.has(answer.code)) end(answer.detail);
      after ??= answer.cursor; // what came before the answer is further on
      if (answer.accepted) return;
    } catch { /* no answer: the connection is lost, or slow */ }
    await sleep(500);
  }
}

socket.on("connect", watch); // the first time, and whenever it was cut off
socket.on("connect_error", async ({ message, data }) => {
  if (data?.code && !again.has(data.code)) end(data.detail); // it is not let in
  console.error(`not connected: ${message}`);
  if (!socket.active) await sleep(500), socket.connect(); // else it tries again by itself
});
socket.onAny((event, data, cursor) => {
  if (!event.startsWith("JOB_")) return;
  console.log(event, JSON.stringify(data));
  after = cursor ?? after; // the progress of an engine has no place in the log
});
socket.on("watch_ended", ({ reason, cursor }) => {
  after = cursor;
  if (reason === "revoked") end("the token is good no more");
  if (reason !== "closing") watch(); // a service that stops hangs up, and another connection begins
});
socket.on("unauthorized", ({ code }) => end(`the token is good no more: ${code}`));
