// Many engines at once, which lose their connections again and again, and now and then their memory as well.
// Prints one line for each job that it has seen to its end; goes on until it is stopped.
import { io } from "socket.io-client";

const { url, token, engines, seed } = JSON.parse(process.argv[2]);
let state = seed;
const chance = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648;
const pause = (ms) => new Promise((go) => setTimeout(go, ms));

class Engine {
  constructor(name) {
    this.name = name;
    this.held = new Map();
    this.born();
  }

  born() {
    this.instance = `${this.name}.${Math.floor(chance() * 1e9)}`;
    this.held.clear();
  }

  connect() {
    this.socket = io(`${url}/engine`, { auth: { token }, transports: ["websocket"], forceNew: true, reconnection: false });
    this.socket.on("connect", () => this.register());
    this.socket.on("connect_error", () => this.again());
    this.socket.on("disconnect", () => this.again());
    this.socket.on("job_offer", ({ job }) => this.run(job).catch(() => {}));
    this.socket.on("job_lost", ({ jobId }) => this.held.delete(jobId));
  }

  async again() {
    if (this.waiting) return;
    this.waiting = true;
    if (chance() < 0.1) this.born(); // it was started anew, and knows of nothing
    await pause(50 + chance() * 300);
    this.waiting = false;
    this.connect();
  }

  ask(event, data = {}) {
    return this.socket.timeout(5000).emitWithAck(event, data);
  }

  async register() {
    const jobs = [...this.held].map(([jobId, attempt]) => ({ jobId, attempt }));
    const answer = await this.ask("register", {
      engineId: this.name, jobTypes: ["BUILD_SCENE"], capacity: 2, instanceId: this.instance, jobs,
    }).catch(() => null);
    for (const { jobId } of answer?.lost ?? []) this.held.delete(jobId);
    for (const { job, attempt } of answer?.jobs ?? []) this.finish(job, attempt).catch(() => {});
  }

  async run(job) {
    this.held.set(job.jobId, null);
    const taken = await this.ask("job_ack", { jobId: job.jobId });
    if (!taken.accepted) return this.held.delete(job.jobId);
    this.held.set(job.jobId, taken.attempt);
    await this.finish(taken.job, taken.attempt);
  }

  async finish(job, attempt) {
    const { jobId } = job;
    this.held.set(jobId, attempt);
    if (job.status === "dispatched") await this.ask("job_started", { jobId, attempt });
    await this.ask("job_progress", { jobId, attempt, progress: 50 });
    await pause(chance() * 40);
    const fails = chance() < 0.2;
    const answer = fails
      ? await this.ask("job_failed", { jobId, attempt, error: "BAD_ASSET: torn.png", category: "engine" })
      : await this.ask("job_complete", { jobId, attempt, result: { ok: true } });
    if (answer.accepted) console.log(JSON.stringify({ jobId, engine: this.name, fails }));
    this.held.delete(jobId);
  }
}

const fleet = Array.from({ length: engines }, (_, number) => new Engine(`engine-${number}`));
for (const engine of fleet) engine.connect();
setInterval(() => fleet.forEach((each) => each.socket?.connected && each.ask("heartbeat").catch(() => {})), 400);
setInterval(() => {
  const victim = fleet[Math.floor(chance() * fleet.length)];
  if (victim.socket?.connected) victim.socket.io.engine.close(); // as a network would
}, 40);
process.on("SIGTERM", () => process.exit(0));
