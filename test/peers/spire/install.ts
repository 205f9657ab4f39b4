import { buildGoProgram } from "../_common/go.ts";

const MODULE = "test/peers/spire/spirepeer";

export interface SpirePrograms {
  readonly server: string;
  readonly agent: string;
}

/** Builds SPIRE's server and agent v1.13.3, and gives their files. @throws Error where Go or a C compiler is missing */
export async function installSpire(): Promise<SpirePrograms> {
  const build = (name: string) =>
    buildGoProgram({ name, module: MODULE, target: `github.com/spiffe/spire/cmd/${name}` });
  return { agent: await build("spire-agent"), server: await build("spire-server") };
}
