import type { SetupState } from "./setup-state.ts";
import { changesTo, idOf, type SetupPlanner } from "./setup-step.ts";

export interface WantedWebhook {
  /** Also the beginning of the event rule's name. */
  readonly name: string;
  readonly url: string;
  /** PEM on NetBox's own host, for a receiver with a private CA. */
  readonly caFile: string | null;
  readonly role: string;
  readonly secret: string;
  /** Where a secret that nobody has yet will be written. */
  readonly newSecretPath: string | null;
}

/** The webhook, and the rule that sends it for devices of the fleet's role alone. */
export function planWebhook(plan: SetupPlanner, { webhooks, rules }: SetupState, wanted: WantedWebhook): void {
  const { name, url, caFile, role, secret, newSecretPath } = wanted;
  const body = {
    payload_url: url,
    http_method: "POST",
    http_content_type: "application/json",
    additional_headers: "",
    body_template: "",
    secret,
    ssl_verification: true,
    ca_file_path: caFile,
  };
  const row = webhooks.find((one) => one.name === name);
  const whence = newSecretPath === null ? [] : [`signed by a new secret, in ${newSecretPath}, mode 0600`];
  if (row === undefined) plan.create("webhook", name, [`POST ${url}`, ...whence], () => ({ name, ...body }));
  else {
    plan.ids.set(`webhook ${name}`, row.id);
    plan.change("webhook", name, row.id, [...changesTo(row, body, ["secret"])]);
  }
  const ruleName = `${name}: devices`;
  const fixed = {
    enabled: true,
    object_types: ["dcim.device"],
    event_types: ["object_created", "object_updated", "object_deleted"],
    conditions: { and: [{ attr: "role.slug", value: role }] },
    action_type: "webhook",
    action_object_type: "extras.webhook",
  };
  const rule = rules.find((one) => one.name === ruleName);
  if (rule === undefined) {
    plan.create("event rule", ruleName, [`devices of role ${role}, made, changed or deleted`], (ids) => ({
      name: ruleName,
      ...fixed,
      action_object_id: idOf(ids, "webhook", name),
    }));
    return;
  }
  const changes = changesTo(rule, fixed);
  if (row === undefined || rule.action_object_id !== row.id)
    changes.push({
      key: "action_object_id",
      value: (ids: ReadonlyMap<string, number>) => idOf(ids, "webhook", name),
      text: `sends webhook ${name}`,
    });
  plan.change("event rule", ruleName, rule.id, changes);
}
