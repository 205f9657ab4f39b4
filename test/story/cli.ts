import { spawn } from "node:child_process";

export interface StoryRun {
  readonly code: number | null;
  readonly lines: readonly Record<string, unknown>[];
  readonly result: { readonly ok: boolean; readonly failed: readonly string[] } | null;
  readonly stderr: string;
}

/** Runs `npm start -s -- --once --json` as a person's script would, with the embedded peers. */
export function runStory(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<StoryRun> {
  const child = spawn("npm", ["start", "-s", "--", "--once", "--json", ...args], {
    env: { ...process.env, FLEETD_LAB_WITHOUT: "redis,swtpm", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      const lines = Buffer.concat(out)
        .toString()
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      const last = lines.at(-1);
      const result = last?.source === "result" ? (last as unknown as StoryRun["result"]) : null;
      resolve({ code, lines, result, stderr: Buffer.concat(err).toString() });
    });
  });
}
