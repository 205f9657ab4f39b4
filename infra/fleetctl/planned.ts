import type { Arguments, Io } from "./_command.ts";
import { REFUSED } from "./answer.ts";
import { netboxFault, PLANNED } from "./owner-netbox.ts";
import { plain } from "./text.ts";

/** What a command would do to NetBox, and how it does it. */
export interface Planned {
  /** What --json says of it beside what is common. */
  readonly shown: Readonly<Record<string, unknown>>;
  /** A title for each step. */
  readonly steps: readonly string[];
  readonly refused: readonly string[];
  readonly notes: readonly string[];
  /** What people read of it; `act`: the steps follow one by one. */
  lines(act: boolean): readonly string[];
  apply(done: (title: string) => void): Promise<void>;
}

export interface PlannedCommand {
  readonly name: string;
  /** `shown` while nothing was read yet. */
  readonly unread: Readonly<Record<string, unknown>>;
  readonly done: (title: string) => string;
  readonly look: () => Promise<Planned>;
  /** @throws whatever is no answer of NetBox's */
  readonly faultOf?: typeof netboxFault;
}

/** Shows a plan, carries it out with --apply, and looks again whether it held. @returns the exit code; --json is written however it ended */
export async function runPlanned(command: PlannedCommand, args: Arguments, io: Io): Promise<number> {
  const json = args.flag("json");
  const say = (line: string) => (json ? undefined : io.out(plain(line)));
  const answer: Told = { ...command.unread, refused: [], notes: [], done: [], applied: false, fault: null };
  let code: number;
  try {
    code = await carriedOut(command, args.flag("apply"), answer, say, io);
  } catch (error) {
    const { words, exitCode } = (command.faultOf ?? netboxFault)(error);
    io.err(plain(`fleetctl ${command.name}: ${words}`));
    answer.fault = words;
    code = exitCode;
  }
  if (json) io.out(JSON.stringify(answer));
  return code;
}

interface Told {
  refused: readonly string[];
  notes: readonly string[];
  readonly done: string[];
  applied: boolean;
  fault: string | null;
}

async function carriedOut(
  { name, done, look }: PlannedCommand,
  apply: boolean,
  told: Told,
  say: (line: string) => void,
  io: Io,
): Promise<number> {
  const plan = await look();
  const { shown, refused, notes } = plan;
  Object.assign(told, shown, { refused, notes });
  for (const line of plan.lines(apply && refused.length === 0)) say(line);
  for (const one of notes) say(`  note: ${one}`);
  for (const one of refused) say(`  refused: ${one}`);
  if (refused.length > 0) {
    say("Nothing was done.");
    return REFUSED;
  }
  if (plan.steps.length === 0) {
    say("Nothing to do.");
    told.applied = apply;
    return 0;
  }
  if (!apply) {
    say("Nothing was done: --apply does it.");
    return PLANNED;
  }
  await plan.apply((title) => {
    told.done.push(title);
    say(done(title));
  });
  const after = await look();
  const left = [...after.steps, ...after.refused];
  for (const one of left) io.err(plain(`fleetctl ${name}: did not hold: ${one}`));
  told.applied = left.length === 0;
  return left.length === 0 ? 0 : REFUSED;
}
