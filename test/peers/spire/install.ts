import { buildGoProgram } from "../_common/go.ts";

const MODULE = "test/peers/spire/spirepeer";

export interface SpirePrograms {
  readonly server: string;
  readonly agent: string;
}

/** Builds SPIRE's server and agent v1.13.3, and gives their files. @throws Error where Go or a C compiler is missing */
export async function installSpire(): Promise<SpirePrograms> {
  // The server's SQLite is C; built alike, the agent shares most of what is compiled.
  const build = (name: string) =>
    buildGoProgram({ name, module: MODULE, target: `github.com/spiffe/spire/cmd/${name}`, cgo: true });
  return { agent: await build("spire-agent"), server: await build("spire-server") };
}
