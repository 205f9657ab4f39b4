import { afterAll, describe } from "vitest";
import { netboxContract } from "../../contracts/netbox.ts";
import { netboxMovedContract } from "../../contracts/netbox-moved.ts";
import { netboxPrefixesContract } from "../../contracts/netbox-prefixes.ts";
import { realFixture } from "./fixture.ts";

describe("a real NetBox", () => {
  const real = realFixture();
  afterAll(() => real.stop());
  netboxContract(real.make);
  netboxMovedContract(real.make);
  netboxPrefixesContract(real.make);
});
