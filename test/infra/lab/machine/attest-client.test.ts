import { runAttestClient } from "../../../../infra/lab/machine/attest-client.ts";
import { SoftTpm } from "../../../../infra/lab/tpm/soft-tpm.ts";
import { attestSuite } from "../../hookos/attest-suite.ts";

attestSuite("attest-client on the software TPM", async (folder) => {
  const tpm = new SoftTpm(folder);
  return {
    tpm,
    certificates: 0,
    run: (options) => runAttestClient(tpm, options),
    close: () => tpm.powerOff(),
  };
});
