import { workerData } from "node:worker_threads";

// A thread of the token's process: its main thread may hang in a call of the module when fleetd is killed, and hears
// nothing then. The kernel gives an orphan another parent.
const LOOK_EVERY_MS = 500;
setInterval(() => {
  if (process.ppid !== workerData) process.kill(process.pid, "SIGKILL");
}, LOOK_EVERY_MS);
