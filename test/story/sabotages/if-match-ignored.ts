import { serveSpoiled } from "../sabotage.ts";

await serveSpoiled([{ file: "shared/adapters/netbox/patch.ts", find: "body, etag(lastUpdated));", replace: "body);" }]);
