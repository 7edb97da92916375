// An engine that does what it is told, line by line: it is played by a test, with the real client.
import { createInterface } from "node:readline";
import { io } from "socket.io-client";

let socket;
const tell = (said) => process.stdout.write(`${JSON.stringify(said)}\n`);

const acts = {
  connect({ url, auth, transports, headers }) {
    socket = io(`${url}/engine`, { auth, transports, extraHeaders: headers, forceNew: true, reconnection: false });
    socket.on("connect", () => tell({ event: "connect", data: [] }));
    socket.on("connect_error", (error) => tell({ event: "connect_error", data: [error.message, error.data] }));
    socket.on("disconnect", (reason) => tell({ event: "disconnect", data: [reason] }));
    socket.onAny((event, ...data) => tell({ event, data }));
  },
  emit({ event, data, id }) {
    socket.emit(event, ...data, (answer) => tell({ event: "answer", id, data: [answer] }));
  },
  disconnect() {
    socket.disconnect();
  },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const asked = JSON.parse(line);
  acts[asked.act](asked);
}).on("close", () => process.exit(0));
