import { readFileSync } from "node:fs";
import { join } from "node:path";
import { cached } from "./cache.ts";
import { run } from "./process.ts";
import { needProgram } from "./tools.ts";

/** A program of a Go module that stands in this repository. */
export interface GoProgram {
  readonly name: string;
  /** Folder of go.mod and go.sum. */
  readonly module: string;
  /** What is built: "." or a tool's import path. */
  readonly target: string;
  /** Sources of the module beside go.mod and go.sum. */
  readonly sources?: readonly string[];
  /** Variables that the linker sets. */
  readonly variables?: Readonly<Record<string, string>>;
}

const FIRST_WITH_TOOLCHAINS = 21;
const FOLDERS = ["/usr/local/go/bin", "/usr/lib/go/bin"];

/**
 * Builds the program once, and gives its file.
 * @throws Error where Go or a C compiler is missing
 */
export async function buildGoProgram(program: GoProgram): Promise<string> {
  const { name, module, target, sources = [], variables = {} } = program;
  const files = ["go.mod", "go.sum", ...sources].map((file) => join(module, file));
  const set = Object.entries(variables).map(([key, value]) => `-X ${key}=${value}`);
  const flags = ["-s", "-w", ...set].join(" ");
  const recipe = { name, words: [target, flags, "cgo"], files };
  const folder = await cached(
    recipe,
    async (at) => {
      const asked = /^go (\S+)$/m.exec(readFileSync(join(module, "go.mod"), "utf8"))?.[1] ?? "";
      const go = needProgram("go", `Go ${asked} or later builds ${name}: https://go.dev/dl`, FOLDERS);
      await checkVersion(go, asked, name);
      needProgram("gcc", `${name} is partly C: apt install gcc libc6-dev`);
      const build = [go, "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", join(at, name), target];
      await run("nice", build, { cwd: module, env: { CGO_ENABLED: "1", GOFLAGS: "-mod=readonly" } });
    },
    name,
  );
  return join(folder, name);
}

/** Go before 1.21 fetches no later one, and does not even read its version. @throws Error that says so */
async function checkVersion(go: string, asked: string, name: string): Promise<void> {
  const version = await run(go, ["version"]);
  const minor = Number(/go1\.(\d+)/.exec(version)?.[1] ?? Number.NaN);
  if (minor < FIRST_WITH_TOOLCHAINS)
    throw new Error(`${go} is too old (${version.trim()}): Go ${asked} or later builds ${name}: https://go.dev/dl`);
}
