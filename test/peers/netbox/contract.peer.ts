import { afterAll, describe } from "vitest";
import { netboxContract } from "../../contracts/netbox.ts";
import { netboxMovedContract } from "../../contracts/netbox-moved.ts";
import { netboxPagesContract } from "../../contracts/netbox-pages.ts";
import { netboxPermissionsContract } from "../../contracts/netbox-permissions.ts";
import { netboxPrefixesContract } from "../../contracts/netbox-prefixes.ts";
import { netboxRequestsContract } from "../../contracts/netbox-requests.ts";
import { netboxTroubleContract } from "../../contracts/netbox-trouble.ts";
import { netboxWebhooksContract } from "../../contracts/netbox-webhooks.ts";
import { netboxWritersContract } from "../../contracts/netbox-writers.ts";
import { realFixture } from "./fixture.ts";

describe("a real NetBox", () => {
  const real = realFixture();
  afterAll(() => real.stop());
  netboxContract(real.make);
  netboxMovedContract(real.make);
  netboxPrefixesContract(real.make);
  netboxRequestsContract(real.make);
  netboxWritersContract(real.make);
  netboxWebhooksContract(real.make);
  netboxPermissionsContract(real.make);
  netboxPagesContract(real.make);
  // The last: its worker may not outlive its Redis.
  netboxTroubleContract(real.make);
});
