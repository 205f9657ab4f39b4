import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { install } from "../../../infra/lab/story/chapters/install.ts";
import { refusals } from "../../../infra/lab/story/chapters/refusals.ts";
import { requests } from "../../../infra/lab/story/chapters/requests.ts";
import { retire } from "../../../infra/lab/story/chapters/retire.ts";
import { StoryEnds } from "../../../infra/lab/story/stage.ts";
import { type RealStage, realStage } from "./stage.ts";

const CHAPTER_MS = 900_000;

describe("the story among real peers", () => {
  let real: RealStage | undefined;
  beforeAll(async () => {
    real = await realStage();
  }, CHAPTER_MS);
  afterAll(() => real?.stop(), 60_000);

  it.each([
    ["a worker is planned, attests, is installed and joins", install],
    ["what must not begin does not", refusals],
    ["an owner asks: attest, then wipe", requests],
    ["a node is retired", retire],
  ])(
    "%s",
    async (_title, chapter) => {
      if (real === undefined) throw new Error("the stage did not start");
      const { stage } = real;
      const before = stage.failed.length;
      await chapter(stage).catch((error: unknown) => {
        if (!(error instanceof StoryEnds)) throw error;
      });
      expect(stage.failed.slice(before), real.tail()).toEqual([]);
    },
    CHAPTER_MS,
  );
});
